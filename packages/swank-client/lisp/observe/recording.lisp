;;;; A recording of calls, as a tree for each thread, with short texts of arguments and values.

(in-package #:swank-client/observe)

;;; Short texts of arguments and values. They are made in threads of the program, while its functions run, so they call no printing method,
;;; take no lock and look at few parts of an object.

(defconstant +call-text-limit+ 120 "Most characters of the text of a call or of its values.")

(defconstant +part-limit+ 60 "Most characters of one argument or value.")

(defconstant +elements-limit+ 6 "Elements shown of a list or vector.")

(defconstant +levels-limit+ 3 "Levels of nesting shown.")

(defun write-class (object stream &optional (detail nil))
  "Write the name of the class of OBJECT to STREAM, with DETAIL."
  (let ((name (class-name (class-of object))))
    (format stream "#<~a~@[ ~a~]>" (if (symbolp name) (symbol-name name) "object") detail)))

(defun write-elements (write list stream)
  "Call WRITE with the first elements of LIST, which may be circular or dotted, and write what is between them to STREAM."
  (loop for rest = list then (cdr rest)
        for count from 0
        until (null rest)
        do (unless (zerop count) (write-char #\Space stream))
           (cond ((not (consp rest)) (write-string ". " stream) (funcall write rest) (return))
                 ((>= count +elements-limit+) (write-string "..." stream) (return))
                 (t (funcall write (car rest))))))

(defun write-quoted (string stream)
  "Write the beginning of STRING in quotes to STREAM."
  (let ((shown (min (length string) +part-limit+)))
    (write-char #\" stream)
    (loop for index below shown
          for char = (char string index)
          do (case char
               ((#\" #\\) (write-char #\\ stream) (write-char char stream))
               (#\Newline (write-string "\\n" stream))
               (t (write-char char stream))))
    (when (< shown (length string)) (write-string "..." stream))
    (write-char #\" stream)))

(defun write-vector (vector level stream)
  "Write the first elements of VECTOR to STREAM."
  (write-string "#(" stream)
  (write-elements (lambda (element) (write-short element (1- level) stream))
                  (loop for index below (min (length vector) (1+ +elements-limit+)) collect (aref vector index))
                  stream)
  (write-char #\) stream))

(defun write-short (object level stream)
  "Write OBJECT to STREAM, with LEVEL levels of its parts."
  (typecase object
    ((or fixnum symbol character single-float double-float) (prin1 object stream))
    (integer (if (< (integer-length object) 200) (prin1 object stream) (write-class object stream)))
    (ratio (write-short (numerator object) level stream)
     (write-char #\/ stream)
     (write-short (denominator object) level stream))
    ((complex float) (prin1 object stream))
    (string (write-quoted object stream))
    (cons (cond ((zerop level) (write-char #\# stream))
                (t (write-char #\( stream)
                   (write-elements (lambda (element) (write-short element (1- level) stream)) object stream)
                   (write-char #\) stream))))
    (vector (if (zerop level) (write-class object stream) (write-vector object level stream)))
    (hash-table (write-class object stream (hash-table-count object)))
    (pathname (write-class object stream (nil-on file-error (sb-ext:native-namestring object))))
    (function (write-class object stream))
    (t (write-class object stream))))

(defun cut-text (text limit)
  "TEXT, or its beginning if it has more than LIMIT characters."
  (if (> (length text) limit) (concatenate 'string (subseq text 0 limit) "...") text))

(defmacro with-plain-printing ((stream) &body body)
  "The text that BODY writes to STREAM, in the current package."
  `(let ((*print-pretty* nil) (*print-circle* nil) (*print-readably* nil) (*print-escape* t) (*print-base* 10) (*print-radix* nil)
         (*print-case* :upcase) (*print-gensym* t) (*print-array* t))
     (with-output-to-string (,stream) ,@body)))

(defun short-text (object)
  "A short text of OBJECT. Never signals: that would stop the program where it makes the traced call."
  (let ((*break-on-signals* nil))
    (handler-case (cut-text (with-plain-printing (stream) (write-short object +levels-limit+ stream)) +part-limit+)
      (error () "#<cannot be shown>"))))

(defun text-of-call (name arguments)
  "A short text of a call of the function with the text NAME with ARGUMENTS."
  (cut-text (format nil "(~a~{ ~a~})" name (loop for argument in arguments repeat 20 collect (short-text argument))) +call-text-limit+))

(defun short-values-text (values)
  "A short text of VALUES."
  (if values
      (cut-text (format nil "~{~a~^, ~}" (loop for value in values repeat 10 collect (short-text value))) +call-text-limit+)
      "no value"))

;;; A recording of calls, as a tree for each thread. Each thread adds only to its own tree. Repeated calls of one function by the same
;;; call are folded while they are recorded, so that the tree stays small.

(declaim (ftype function condition-true-p))

(defconstant +distinct-siblings+ 20 "Calls of one function, with different arguments or values, that a call shows before the others are folded.")

(defstruct (recording (:include run))
  "A trace for a client. ARMED is what it has switched on."
  (armed (make-armed) :type armed)
  ;; those that it switches on when it begins
  (prepared '() :type list)
  ;; true if generic functions are among them
  (generic-p nil)
  (signal-tag (gensym "TRACE"))
  ;; the thread that runs its code
  (thread nil)
  (package *package*)
  (limit 1000 :type fixnum)
  ;; calls so far
  (count (list 0) :type cons)
  ;; nanoseconds that recording them has taken in their threads, and that switching on and off has taken
  (looking (list 0) :type cons)
  (switching 0)
  ;; T for all threads, a list of threads, or the evaluation whose threads are wanted
  (threads t)
  ;; (THREAD . ROOT) ... in a cell, latest first
  (roots (list '()) :type cons)
  (started (nanoseconds-now))
  (seconds nil)
  ;; the error of the condition, as text
  (failure nil)
  (values '() :type list))

(defstruct (point (:include breakpoint (wrapper 'make-recorder)))
  "A function or method whose calls RECORDING, a run, records. TEXT is its name."
  recording
  text
  ;; NIL, or how calls of a generic function are told apart
  dispatch)

(defstruct (dispatch (:constructor make-dispatch (function methods objects)))
  "What is needed to find out later which methods apply to a call of the generic FUNCTION, which has METHODS. OBJECTS has, for each required
argument, the objects that these are specialized on."
  function methods objects)

(defun dispatch-of (function)
  "The DISPATCH of the generic FUNCTION."
  (let ((methods (sb-mop:generic-function-methods function)))
    (make-dispatch function methods
                   (loop for position below (required-count function)
                         collect (loop for method in methods
                                       for specializer = (nth position (sb-mop:method-specializers method))
                                       when (typep specializer 'sb-mop:eql-specializer)
                                         collect (sb-mop:eql-specializer-object specializer))))))

(defun argument-kinds (point arguments)
  "What decides which methods a call of POINT with ARGUMENTS runs, as EFFECTIVE-METHODS takes it: of most arguments the class, so that they are
not kept alive. NIL if POINT is on no generic function, or there are too few ARGUMENTS."
  (let ((dispatch (point-dispatch point)))
    (when (and dispatch (nthcdr (1- (length (dispatch-objects dispatch))) arguments))
      (loop for objects in (dispatch-objects dispatch)
            for argument in arguments
            collect (if (member argument objects) (list :object argument) (list :class (class-of argument)))))))

(defstruct (traced-call (:constructor make-traced-call (point text begun &optional kinds)))
  "A recorded call, or COUNT calls that are folded. TEXT is NIL if these have different arguments. POINT is NIL for the root of a thread."
  point text begun
  ;; ARGUMENT-KINDS of a call of a generic function
  (kinds '() :type list)
  (count 1 :type fixnum)
  ;; nanoseconds from the beginning to the end of all COUNT calls, and of what they called
  (total 0) (below 0)
  ;; the values, as text; NIL if they differ
  (values nil)
  ;; :OPEN until it has returned, then :RETURNED, or :LEFT without a value
  (exit :open)
  ;; calls that were left without a value, of folded ones
  (left 0 :type fixnum)
  ;; calls and signals, latest first
  (children '() :type list))

(defvar *open-calls* '() "((RECORDING . CALL) ...) of the calls that this thread runs, innermost first.")

(defvar *inside* nil "True while this thread records: nothing that it calls then is recorded.")

(defun root-of-thread (recording)
  "The call at the root of this thread's tree in RECORDING."
  (let ((thread sb-thread:*current-thread*))
    (or (cdr (assoc thread (car (recording-roots recording))))
        (let ((root (make-traced-call nil nil 0)))
          (sb-ext:atomic-push (cons thread root) (car (recording-roots recording)))
          root))))

(defun fold-p (point parent)
  "True if the latest calls in PARENT are enough calls of POINT, so that the next ones are folded."
  (loop repeat +distinct-siblings+
        for children = (traced-call-children parent) then (rest children)
        always (and (traced-call-p (first children)) (eq point (traced-call-point (first children))))))

;; Only neighbours are folded, so that the tree shows the order of the calls.
(defun enter-call (recording parent point arguments)
  "Begin a call of POINT with ARGUMENTS in PARENT. => the call"
  (let ((before (first (traced-call-children parent))))
    (if (and (traced-call-p before) (eq point (traced-call-point before)) (null (traced-call-text before)))
        (progn (incf (traced-call-count before)) before)
        (let* ((*package* (recording-package recording))
               (text (if (fold-p point parent) nil (text-of-call (point-text point) arguments)))
               (call (make-traced-call point text (nanoseconds-now) (and text (argument-kinds point arguments)))))
          (push call (traced-call-children parent))
          call))))

(defun same-call-p (one other)
  "True if ONE and OTHER, finished calls without calls in them, look alike."
  (and (traced-call-p other)
       (eq (traced-call-point one) (traced-call-point other))
       (null (traced-call-children one)) (null (traced-call-children other))
       (eq (traced-call-exit one) (traced-call-exit other))
       (equal (traced-call-text one) (traced-call-text other))
       (equal (traced-call-kinds one) (traced-call-kinds other))
       (equal (traced-call-values one) (traced-call-values other))))

(defun fold-into-sibling (call parent)
  "Count CALL, the latest one in PARENT, as a repetition of the one before it, if that looks alike."
  (let ((before (second (traced-call-children parent))))
    (when (and (traced-call-text call)
               (eq call (first (traced-call-children parent)))
               (same-call-p call before))
      (incf (traced-call-count before))
      (incf (traced-call-total before) (traced-call-total call))
      (pop (traced-call-children parent)))))

(defun leave-call (recording call parent begun values returned)
  "End CALL in PARENT, which began at BEGUN, and has RETURNED the list VALUES, or was left."
  (let* ((*package* (recording-package recording))
         (now (nanoseconds-now))
         (time (- now begun)))
    (incf (traced-call-total call) time)
    (incf (traced-call-below parent) time)
    (unless returned (incf (traced-call-left call)))
    (setf (traced-call-exit call) (if returned :returned :left))
    (when (and returned (traced-call-text call)) (setf (traced-call-values call) (short-values-text values)))
    (fold-into-sibling call parent)))

;;; In the traced thread

(defun among-threads-p (threads)
  "True if this thread is one of THREADS: T for all, a list of threads, or the evaluation whose threads are meant."
  (typecase threads
    ((eql t) t)
    (list (member sb-thread:*current-thread* threads))
    (t (or (eq threads *evaluation*) (eq threads *starting-evaluation*)))))

(defun recorded-now-p (recording)
  "True if a call by this thread belongs into RECORDING. Code of the debugger never does."
  (and (eq :open (run-end recording))
       (not *inside*)
       (zerop *sldb-level*)
       (among-threads-p (recording-threads recording))))

(defun add-looking-time (recording start)
  "Add the time since START to what RECORDING has cost the threads."
  (sb-ext:atomic-update (car (recording-looking recording)) #'+ (- (nanoseconds-now) start)))

(defun counted-p (recording)
  "Count a call of RECORDING. => true if it is within the limit; otherwise RECORDING ends"
  (let ((number (sb-ext:atomic-update (car (recording-count recording)) #'1+)))
    (cond ((<= number (recording-limit recording)) t)
          (t (sb-ext:atomic-update (car (recording-count recording)) #'1-)
             (end-soon recording :limit)
             nil))))

(defun end-soon (recording reason)
  "End RECORDING for REASON. A thread of the runtime switches it off, because that can take longer than a call may."
  (when (eq :open (sb-ext:compare-and-swap (run-end recording) :open reason))
    (start-runtime-thread (lambda () (recording-faults (funcall (run-switch-off recording) recording))) "swank-client trace")))

(defun begin-recorded (recording point arguments)
  "Begin to record a call of POINT with ARGUMENTS. => the call and its parent, or NIL if it is not recorded"
  (let ((*inside* t)
        (start (nanoseconds-now)))
    (multiple-value-prog1
        (when (and (condition-true-p recording point arguments) (counted-p recording))
          (let ((parent (or (cdr (assoc recording *open-calls*)) (root-of-thread recording))))
            (values (enter-call recording parent point arguments) parent)))
      (add-looking-time recording start))))

(defun call-recorded (recording point arguments function)
  "Call FUNCTION, which makes the call of POINT with ARGUMENTS, and record it in RECORDING. => its values"
  (multiple-value-bind (call parent) (begin-recorded recording point arguments)
    (if (null call)
        (funcall function)
        (let ((begun (nanoseconds-now)) (values '()) (returned nil))
          (unwind-protect
               (let ((*open-calls* (acons recording call *open-calls*)))
                 (setf values (multiple-value-list (funcall function))
                       returned t))
            (let ((*inside* t) (start (nanoseconds-now)))
              (leave-call recording call parent begun values returned)
              (add-looking-time recording start)))
          (values-list values)))))

(defmacro recording-call ((recording point arguments) call)
  "Evaluate CALL, a call of POINT with ARGUMENTS, and record it if it belongs into RECORDING."
  `(if (recorded-now-p ,recording)
       (call-recorded ,recording ,point ,arguments (lambda () ,call))
       ,call))
