;;;; A recording of calls, as a tree for each thread. Each thread adds only to its own tree. Repeated calls of one function by the same
;;;; call are folded while they are recorded, so that the tree stays small.

(in-package #:swank-client/trace)

(declaim (ftype function condition-true-p))

(defconstant +distinct-siblings+ 20 "Calls of one function, with different arguments or values, that a call shows before the others are folded.")

(defstruct (recording (:include run))
  "A trace for a client. ARMED is what it has switched on."
  (armed (make-armed) :type armed)
  ;; those that it switches on when it begins
  (prepared '() :type list)
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
  text)

(defstruct (call (:constructor make-call (point text begun)))
  "A recorded call, or COUNT calls that are folded. TEXT is NIL if these have different arguments. POINT is NIL for the root of a thread."
  point text begun
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

(defvar *calls* '() "((RECORDING . CALL) ...) of the calls that this thread runs, innermost first.")

(defvar *inside* nil "True while this thread records: nothing that it calls then is recorded.")

(defun root-of-thread (recording)
  "The call at the root of this thread's tree in RECORDING."
  (let ((thread sb-thread:*current-thread*))
    (or (cdr (assoc thread (car (recording-roots recording))))
        (let ((root (make-call nil nil 0)))
          (sb-ext:atomic-push (cons thread root) (car (recording-roots recording)))
          root))))

(defun current-call (recording)
  "The innermost call of RECORDING that this thread runs, or its root."
  (or (cdr (assoc recording *calls*)) (root-of-thread recording)))

(defun fold-p (point parent)
  "True if the latest calls in PARENT are enough calls of POINT, so that the next ones are folded."
  (loop repeat +distinct-siblings+
        for children = (call-children parent) then (rest children)
        always (and (call-p (first children)) (eq point (call-point (first children))))))

;; Only neighbours are folded, so that the tree shows the order of the calls.
(defun enter-call (recording parent point arguments)
  "Begin a call of POINT with ARGUMENTS in PARENT. => the call"
  (let ((before (first (call-children parent))))
    (if (and (call-p before) (eq point (call-point before)) (null (call-text before)))
        (progn (incf (call-count before)) before)
        (let* ((*package* (recording-package recording))
               (text (if (fold-p point parent) nil (text-of-call (point-text point) arguments)))
               (call (make-call point text (nanoseconds-now))))
          (push call (call-children parent))
          call))))

(defun same-call-p (one other)
  "True if ONE and OTHER, finished calls without calls in them, look alike."
  (and (call-p other)
       (eq (call-point one) (call-point other))
       (null (call-children one)) (null (call-children other))
       (eq (call-exit one) (call-exit other))
       (equal (call-text one) (call-text other))
       (equal (call-values one) (call-values other))))

(defun fold-into-sibling (call parent)
  "Count CALL, the latest one in PARENT, as a repetition of the one before it, if that looks alike."
  (let ((before (second (call-children parent))))
    (when (and (call-text call)
               (eq call (first (call-children parent)))
               (same-call-p call before))
      (incf (call-count before))
      (incf (call-total before) (call-total call))
      (pop (call-children parent)))))

(defun leave-call (recording call parent begun values returned)
  "End CALL in PARENT, which began at BEGUN, and has RETURNED the list VALUES, or was left."
  (let* ((*package* (recording-package recording))
         (now (nanoseconds-now))
         (time (- now begun)))
    (incf (call-total call) time)
    (incf (call-below parent) time)
    (unless returned (incf (call-left call)))
    (setf (call-exit call) (if returned :returned :left))
    (when (and returned (call-text call)) (setf (call-values call) (values-text values)))
    (fold-into-sibling call parent)))

;;; In the traced thread

(defun wanted-thread-p (threads)
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
       (wanted-thread-p (recording-threads recording))))

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
    (start-runtime-thread (lambda () (ignore-errors (funcall (run-switch-off recording) recording))) "swank-client trace")))

(defun begin-recorded (recording point arguments)
  "Begin to record a call of POINT with ARGUMENTS. => the call and its parent, or NIL if it is not recorded"
  (let ((*inside* t)
        (start (nanoseconds-now)))
    (multiple-value-prog1
        (when (and (condition-true-p recording point arguments) (counted-p recording))
          (let ((parent (current-call recording)))
            (values (enter-call recording parent point arguments) parent)))
      (add-looking-time recording start))))

(defun call-recorded (recording point arguments function)
  "Call FUNCTION, which makes the call of POINT with ARGUMENTS, and record it in RECORDING. => its values"
  (multiple-value-bind (call parent) (begin-recorded recording point arguments)
    (if (null call)
        (funcall function)
        (let ((begun (nanoseconds-now)) (values '()) (returned nil))
          (unwind-protect
               (let ((*calls* (acons recording call *calls*)))
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
