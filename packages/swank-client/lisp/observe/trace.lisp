;;;; The functions and methods whose calls a recording records, and the conditions that are signalled inside these.

(in-package #:swank-client/observe)

(declaim (ftype function watch-signals unwatch-signals))

(defconstant +package-limit+ 2000 "Most functions of a package that are traced.")

(defconstant +own-condition-limit+ 50 "If there are more functions, the condition cannot use their parameters by name.")

(defun make-recorder (point kind &optional inner)
  "The function that records a call of POINT. WRAPPER-OF-KIND explains KIND and INNER."
  (let ((recording (point-recording point)))
    (wrapper-of-kind (kind inner arguments call)
      (recording-call (recording point arguments) call))))

;;; Names

(define-condition refused-point (error)
  ((reply :initarg :reply :reader refused-reply))
  (:documentation "A name of what to trace is refused. REPLY is (:refused NAME REASON KIND (SIMILAR ...))."))

(defun refuse (name reason kind &optional (similar '()))
  "Refuse NAME, a text, for REASON."
  (error 'refused-point :reply (list :refused name reason kind similar)))

(defun similar-functions (name package)
  "Names of functions accessible in PACKAGE that differ from NAME by a slip, and of functions with that NAME in other packages."
  (let ((found '()))
    (or-nil (do-symbols (symbol package)
              (when (and (fboundp symbol) (not (implementation-name-p symbol)) (slip-p name (symbol-name symbol)))
                (pushnew (readable-name symbol) found :test #'string=))))
    (let ((all (remove-duplicates (append (sort found #'string<) (symbols-elsewhere name name)) :test #'string= :from-end t)))
      (subseq all 0 (min +suggestions+ (length all))))))

(defun named-function (text)
  "The name of a function or method that TEXT is."
  (when (string= (trimmed text) "") (refuse text "It is empty." :name))
  (handler-case (read-name text)
    (no-such-package (problem)
      (refuse text (message-text problem) :undefined (similar-packages (missing-package-name problem))))
    (error (problem) (refuse text (message-text problem) :name))))

(defun similar-to (text)
  "Names of functions that are similar to TEXT, NAME or (setf NAME)."
  (multiple-value-bind (symbol status package name) (symbol-named text *package*)
    (similar-functions (if status (symbol-name symbol) name) (or package *package*))))

;;; Points

(defun new-point (recording name &optional method)
  "A point of RECORDING for the function NAME, or for METHOD of it."
  (let ((point (make-point :recording recording :session (run-session recording) :name name :method method)))
    (setf (point-text point) (line-text-in-time (if method (method-form name method) name) 200)
          (point-dispatch point) (and (null method)
                                      (generic-function-named name)
                                      (dispatch-of (generic-function-named name))))
    point))

(defun point-of-text (recording text)
  "The point of RECORDING that TEXT names."
  (let ((name (named-function text)))
    (if (method-name-p name)
        (let ((method (handler-case (named-method name)
                        (error (problem) (refuse text (message-text problem) :name)))))
          (multiple-value-bind (reason kind) (unbreakable-method-reason (second name) method)
            (when reason (refuse text reason kind)))
          (new-point recording (second name) method))
        (multiple-value-bind (reason kind) (unbreakable-reason name)
          (when reason (refuse text reason kind (and (eq kind :undefined) (similar-to text))))
          (new-point recording name)))))

(defun extended-functions (class)
  "The names of generic functions of the program that have methods for CLASS."
  (loop for method in (or-nil (sb-mop:specializer-direct-methods class))
        for function = (sb-mop:method-generic-function method)
        for name = (and function (sb-mop:generic-function-name function))
        for symbol = (if (consp name) (second name) name)
        when (and symbol (symbol-package symbol) (program-package-p (symbol-package symbol))) collect name))

(defun package-functions (package)
  "The names of the functions that PACKAGE defines, or that have methods for its classes, which can be traced."
  (let ((names '()))
    (do-symbols (symbol package names)
      (when (eq package (symbol-package symbol))
        (dolist (name (list* symbol (list 'setf symbol) (and (find-class symbol nil) (extended-functions (find-class symbol)))))
          (when (and (fboundp name) (null (unbreakable-reason name)) (not (compiler-info :function :source-transform name)))
            (pushnew name names :test #'equal)))))))

(defun points-of-package (recording text)
  "The points of RECORDING for all functions of the package that TEXT names."
  (let ((package (find-designated-package text)))
    (cond ((null package) (refuse text (format nil "There is no such package.~@[ ~a~]" (odd-character-text text)) :package (similar-packages (parsed-package text))))
          ((or (implementation-package-p package) (eq package (find-package "COMMON-LISP")))
           (refuse text "Lisp or Swank uses its functions all the time." :package))
          (t (let ((names (package-functions package)))
               (cond ((null names) (refuse text "It has no functions to trace." :package))
                     ((> (length names) +package-limit+)
                      (refuse text (format nil "It has ~d functions." (length names)) :package)))
               (loop for name in names collect (new-point recording name)))))))

(defun give-condition (points source)
  "Give POINTS the condition SOURCE."
  (handler-case
      (if (rest (nthcdr (1- +own-condition-limit+) points))
          (let ((code (read-code source '() "condition")))
            (dolist (point points) (setf (point-condition point) code)))
          (dolist (point points)
            (setf (point-condition point) (read-code source (parameters-of point) "condition"))))
    (refused-code (problem) (refuse source (message-text problem) :code))))

(defun find-points (recording names package condition)
  "The points of RECORDING, a run, for NAMES and for all functions of PACKAGE, with CONDITION."
  (let ((points (remove-duplicates (append (loop for name in names collect (point-of-text recording name))
                                           (and package (points-of-package recording package)))
                                   :test #'same-target-p :from-end t)))
    (when condition (give-condition points condition))
    points))

(defconstant +missed-names+ 5 "Functions named of those whose calls are missed for one reason.")

(defun missed-text (reason names)
  "The sentence that calls of the functions NAMES, texts, are not recorded for REASON."
  (format nil "~{~a~^, ~}~@[ and ~d more~]: ~a"
          (subseq names 0 (min +missed-names+ (length names)))
          (and (> (length names) +missed-names+) (- (length names) +missed-names+))
          (missed-calls-sentence reason "are not recorded" (and (rest names) t))))

(defun missed-texts (points)
  "Sentences that say which calls of POINTS are not recorded, one for each reason."
  (let ((groups '()))
    (dolist (point points)
      (let ((reason (and (null (point-method point)) (missed-calls-reason (point-name point)))))
        (when reason
          (let ((group (or (assoc reason groups :test #'string=) (first (push (list reason) groups)))))
            (push (point-text point) (rest group))))))
    (loop for (reason . names) in (reverse groups)
          collect (missed-text reason (reverse names)))))

;;; On and off

(defun condition-true-p (recording point arguments)
  "True if the condition of POINT holds for ARGUMENTS. An error in it ends RECORDING."
  (or (null (point-condition point))
      (handler-case (value-at-call (point-condition point) point arguments)
        (error (problem)
          (setf (recording-failure recording) (report-text problem 500))
          (end-soon recording :failed)
          nil))))

(defun arm-points (points armed run)
  "Arm POINTS, and note them in ARMED, unless RUN ends before."
  (dolist (point points)
    (unless (eq :open (run-end run)) (return))
    ;; first noted, so that it is switched off whatever happens
    (sb-ext:atomic-push point (armed-points armed))
    (connect point)))

(defun disarm-points (armed)
  "Disarm the points of ARMED. Any thread may call this, any number of times."
  (sb-thread:with-recursive-lock ((armed-lock armed))
    (loop for point = (first (armed-points armed))
          while point
          do (recording-faults (disconnect point))
             (sb-ext:atomic-update (armed-points armed) (lambda (points) (remove point points))))))

(defun switch-on-recording (recording points)
  "Record the calls of POINTS, and the conditions signalled in them, in RECORDING."
  (let ((start (nanoseconds-now)))
    (setf (recording-started recording) start)
    (arm-points points (recording-armed recording) recording)
    (watch-signals recording)
    (setf (recording-switching recording) (- (nanoseconds-now) start))))

(defun switch-off-recording (recording)
  "Undo SWITCH-ON-RECORDING. Any thread may call this, any number of times."
  (sb-thread:with-recursive-lock ((armed-lock (recording-armed recording)))
    (let ((start (nanoseconds-now)))
      (unless (recording-seconds recording)
        (setf (recording-seconds recording) (- start (recording-started recording))))
      (unwatch-signals recording)
      (disarm-points (recording-armed recording))
      (incf (recording-switching recording) (- (nanoseconds-now) start)))))

;;; The conditions that are signalled inside recorded calls, and the handlers that took them.

(defstruct (signalled (:constructor make-signalled (class clause handler condition)))
  "COUNT conditions of CLASS. CLAUSE and HANDLER are the type in the clause of the handler that took them, and the function that the clause
is in; both NIL if none did. CONDITION is the first one, if it can be printed later."
  class clause handler condition
  (count 1 :type fixnum))

(defun same-signal-p (item class clause handler)
  "True if ITEM, a child of a call, is for conditions with these facts."
  (and (signalled-p item)
       (eq class (signalled-class item))
       (equal clause (signalled-clause item))
       (equal handler (signalled-handler item))))

(defun note-signal (call condition test handler)
  "Note in CALL that CONDITION was signalled, and that HANDLER with TEST took it, or none if both are NIL. Lisp's own handlers do not count."
  (let ((home (and handler (not (eq handler :runtime)) (handler-home handler))))
    (unless (or (eq handler :runtime) (and home (no-program-p home)))
      (let* ((class (reported-class condition))
             (clause (and handler (handled-type test)))
             (before (first (traced-call-children call))))
        (if (and before (same-signal-p before class clause home))
            (incf (signalled-count before))
            (push (make-signalled class clause home (and (kept-safely-p condition) condition)) (traced-call-children call)))))))

(defun signal-in-call (signal condition call)
  "Call SIGNAL, which calls the handlers of CONDITION, and note in CALL which one took it."
  (signal-watched signal condition
                  (lambda (test handler)
                    (let ((*inside* t)) (note-signal call condition test handler)))))

(defun signal-recorder (recording)
  "A function that encapsulates SBCL's function that finds handlers, and notes conditions in the calls of RECORDING."
  (lambda (signal condition)
    (let ((call (and *open-calls* (cdr (assoc recording *open-calls*)))))
      (if (and call
               (recorded-now-p recording)
               ;; there is no stack or memory left to note exhaustion
               (not (typep condition '(or storage-condition sb-ext:step-condition))))
          (signal-in-call signal condition call)
          (funcall signal condition)))))

(defun watch-signals (recording)
  "Note the conditions that are signalled in calls of RECORDING, if this SBCL has a function for that."
  (when *signal-function*
    (encapsulate-function *signal-function* (recording-signal-tag recording) (signal-recorder recording))))

(defun unwatch-signals (recording)
  "Undo WATCH-SIGNALS."
  (when *signal-function*
    (unencapsulate-function *signal-function* (recording-signal-tag recording))))

;;; The methods of calls of generic functions. A trace does not watch them: those that follow another one that may call CALL-NEXT-METHOD may have
;;; run or not.

(defconstant +methods-limit+ 20 "Most methods of one call.")

(defvar *methods-known* nil "In a reply, a table of what METHODS-OF-RECORDED has returned.")

(defun standard-combination-p (function)
  "True if the generic FUNCTION combines methods as most do, with :BEFORE, :AFTER and :AROUND."
  (eq (sb-mop:generic-function-method-combination function) (sb-mop:generic-function-method-combination #'print-object)))

(defun method-roles (methods)
  "The role of each of METHODS, ((METHOD NEXT) ...), in a call that has returned: :VALUE for the one whose value the call returned, :RAN, or
:APPLICABLE if it is not known whether it ran."
  (let ((around-p (find '(:around) methods :key (lambda (entry) (method-qualifiers (first entry))) :test #'equal))
        (value-p nil) (certain-p t))
    (loop for (method next) in methods
          for qualifiers = (method-qualifiers method)
          do (when next (setf certain-p nil))
          collect (cond ((and (not value-p) (member qualifiers '(() (:around)) :test #'equal)) (setf value-p t) :value)
                        ((or certain-p (and (equal qualifiers '(:after)) (not around-p))) :ran)
                        (t :applicable)))))

(defun foreign-system (method function)
  "The system of METHOD, if the generic FUNCTION and the classes that METHOD specializes on come from others; NIL also if that is not known."
  (let* ((name (sb-mop:generic-function-name function))
         (definition (first (kind-definitions name :generic-function)))
         (system (system-of (method-of-name name method)))
         (home (and definition (system-of definition))))
    (and system home (string/= system home)
         (loop for specializer in (sb-mop:method-specializers method)
               never (and (typep specializer 'class) (equal system (system-of (class-definition specializer)))))
         system)))

(defun method-entry (method role function)
  "(TEXT ROLE SYSTEM) for METHOD of the generic FUNCTION. TEXT has its qualifiers and specializers."
  (let ((*package* (find-package "COMMON-LISP")))
    (list (format nil "~{~a ~}~a"
                  (loop for qualifier in (method-qualifiers method) collect (line-text-in-time qualifier 60))
                  (line-text-in-time (mapcar #'specializer-name (sb-mop:method-specializers method)) 200))
          role
          (recording-faults (foreign-system method function)))))

(defun computed-methods (dispatch kinds)
  "The entries of the methods that apply to a call with argument KINDS that has returned."
  (let ((function (dispatch-function dispatch)))
    ;; a redefinition during the trace would make them those of another call
    (when (equal (dispatch-methods dispatch) (sb-mop:generic-function-methods function))
      (let ((methods (effective-methods function kinds)))
        (loop for (method) in methods
              for role in (if (standard-combination-p function)
                              (method-roles methods)
                              (mapcar (constantly :applicable) methods))
              repeat +methods-limit+
              collect (method-entry method role function))))))

(defun methods-of-recorded (call)
  "(TEXT ROLE SYSTEM) for the methods that apply to CALL, in the order in which they begin, or NIL if it calls no generic function."
  (when (traced-call-kinds call)
    (let* ((dispatch (point-dispatch (traced-call-point call)))
           (key (cons (dispatch-function dispatch) (traced-call-kinds call))))
      (multiple-value-bind (methods knownp) (gethash key *methods-known*)
        (unless knownp
          ;; generic functions about generic functions can have methods of the user
          (setf methods (in-time '() (or-nil (computed-methods dispatch (traced-call-kinds call))))
                (gethash key *methods-known*) methods))
        (if (eq :returned (traced-call-exit call))
            methods
            (loop for (text nil system) in methods collect (list text :applicable system)))))))

(defmacro with-method-systems ((recording) &body body)
  "Run BODY, which may ask for the methods of calls in RECORDING."
  `(let ((*methods-known* (make-hash-table :test 'equal)))
     (flet ((run () ,@body))
       ;; it takes time to find out which files the systems have
       (if (recording-generic-p ,recording)
           (with-files () (with-file-systems () (run)))
           (run)))))

;;; Traces calls, while code runs or some seconds pass.

;;; The reply about a trace: the trees as rows, each call before what it called.

(defconstant +rows-limit+ 1500 "Most rows of a reply.")

(defun signalled-row (item depth)
  "The row of ITEM, conditions that were signalled at DEPTH."
  (let ((condition (signalled-condition item)))
    (list :condition depth
          (class-name-text (signalled-class item))
          (and condition (in-time nil (report-text condition 300)))
          (and (signalled-handler item) (line-text-in-time (signalled-clause item) 200))
          (place-name (signalled-handler item))
          (signalled-count item))))

(defun open-call-p (item)
  "True if ITEM of a tree is one call that has not ended."
  (and (traced-call-p item) (eq :open (traced-call-exit item)) (= 1 (traced-call-count item))))

(defun time-of (call)
  "Nanoseconds that CALL has taken, until the end of its recording if it has not ended before."
  (if (open-call-p call)
      (let ((recording (point-recording (traced-call-point call))))
        (max 0 (- (+ (recording-started recording) (recording-seconds recording)) (traced-call-begun call))))
      (traced-call-total call)))

(defun time-below (call)
  "Nanoseconds of the calls that CALL has made."
  (+ (traced-call-below call)
     (loop for child in (traced-call-children call) when (open-call-p child) sum (time-of child))))

(defun call-row (call depth)
  "The row of CALL at DEPTH."
  (let ((time (time-of call)))
    (list :call depth
          (or (traced-call-text call) (format nil "(~a ...)" (point-text (traced-call-point call))))
          (traced-call-values call)
          (traced-call-exit call)
          (traced-call-count call)
          (traced-call-left call)
          (round time 1000)
          (round (max 0 (- time (time-below call))) 1000)
          (methods-of-recorded call))))

(defun tree-rows (root room)
  "=> at most ROOM rows of the tree below ROOT, and the number of nodes left out"
  (let ((rows '()) (left 0)
        (pending (loop for child in (reverse (traced-call-children root)) collect (cons child 0))))
    (loop while pending
          do (destructuring-bind (item . depth) (pop pending)
               (if (plusp room)
                   (progn (push (if (traced-call-p item) (call-row item depth) (signalled-row item depth)) rows)
                          (decf room))
                   (incf left))
               (when (traced-call-p item)
                 (setf pending (nconc (loop for child in (reverse (traced-call-children item)) collect (cons child (1+ depth)))
                                      pending)))))
    (values (nreverse rows) left)))

(defun thread-tree (recording thread root room)
  "The plist of THREAD, whose tree in RECORDING is below ROOT, with at most ROOM rows."
  (multiple-value-bind (rows left) (tree-rows root room)
    (list :thread (line-text (or (sb-thread:thread-name thread) "") 100)
          :id (swank/backend:thread-id thread)
          :own (eq thread (recording-thread recording))
          :rows rows
          :left left)))

(defun trace-facts (recording)
  "The reply about RECORDING, which has ended."
  (let ((room +rows-limit+))
    (with-printing-time
      (list :trace
            :end (run-end recording)
            :calls (car (recording-count recording))
            :limit (recording-limit recording)
            :microseconds (round (or (recording-seconds recording) 0) 1000)
            :looking (round (car (recording-looking recording)) 1000)
            :switching (round (recording-switching recording) 1000)
            :failure (recording-failure recording)
            :values (recording-values recording)
            :threads (with-method-systems (recording)
                       (loop for (thread . root) in (reverse (car (recording-roots recording)))
                             for entry = (thread-tree recording thread root room)
                             do (decf room (length (getf entry :rows)))
                             collect entry))))))

;;; The calls

(defun threads-with-ids (ids)
  "The threads with IDS."
  (loop for id in ids
        collect (or (swank/backend:find-thread id)
                    (refuse (princ-to-string id) "There is no such thread." :thread))))

(defun prepare-trace (key names package condition threads limit)
  "Prepare a trace under KEY of the functions that NAMES name, and all functions of PACKAGE, while CONDITION holds, in THREADS: ids, or NIL for
the code's own, or all. It ends after LIMIT calls.
=> (:ready COUNT (WARNING ...)) | (:refused NAME REASON KIND (SIMILAR ...))"
  (reset-guard-pages)
  (handler-case
      (with-code-of ((current-session))
        (with-code-syntax ((current-session) (session-package-now (current-session)))
          (let* ((recording (make-recording :limit limit :switch-off #'switch-off-recording :threads (or (threads-with-ids threads) t)))
                 (points (with-printing-time (find-points recording names package condition))))
            (setf (recording-prepared recording) points
                  (recording-generic-p recording) (and (find-if #'point-dispatch points) t))
            (remember-run key recording)
            (list :ready (length points) (missed-texts points)))))
    (refused-point (refusal) (refused-reply refusal))))

(defun prepared-recording (key)
  "The recording under KEY, which has not begun."
  (let ((recording (kept-run key)))
    (unless (and (typep recording 'recording) (recording-prepared recording))
      (error "This trace is over: call trace-calls again."))
    recording))

(defun run-recording (recording function)
  "Call FUNCTION while RECORDING records. => its values"
  (let ((points (shiftf (recording-prepared recording) '())))
    (call-as-run recording (lambda (recording) (switch-on-recording recording points)) function)))

(defun trace-code (key code)
  "Trace the calls prepared under KEY while the forms of CODE run. It is called by evaluated code, so that it can stop. => TRACE-FACTS"
  (let ((recording (prepared-recording key)))
    (setf (recording-thread recording) sb-thread:*current-thread*)
    (when (eq t (recording-threads recording)) (setf (recording-threads recording) *evaluation*))
    (setf (recording-values recording)
          (value-texts (run-recording recording (lambda () (evaluate-part code)))))
    (trace-facts recording)))

(defun trace-seconds (key milliseconds)
  "Trace the calls prepared under KEY for MILLISECONDS. It is called by evaluated code, so that it can stop. => TRACE-FACTS"
  (let ((recording (prepared-recording key)))
    (run-recording recording
                   (lambda ()
                     (wait-milliseconds milliseconds recording "Tracing: ~d of ~d s, ~d call~:p"
                                        (lambda () (car (recording-count recording))))))
    (trace-facts recording)))

(defun trace-progress (key)
  "What the trace under KEY has recorded. => TRACE-FACTS | (:unknown)"
  (facts-under key 'recording #'trace-facts))
