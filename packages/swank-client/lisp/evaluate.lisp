;;;; Reading and evaluating the forms of one request, one after another.

(in-package #:@runtime@)

;;; One form

(declaim (notinline call-user))
(defun call-user (form)
  "The frame below which the stack is ours."
  (let ((*in-user-code* t))
    (multiple-value-list (eval form))))

(defun call-with-debug-policy (function)
  "Compile what FUNCTION evaluates so that frames, variables and steps are there, with no effect on anything else."
  (progv (list* 'sb-c::*policy-min* 'sb-c::*policy-max* (when (eq sb-ext:*evaluator-mode* :interpret) '(sb-ext:*evaluator-mode*)))
         (list sb-c::*policy-min* sb-c::*policy-max* :compile)
    (sb-ext:restrict-compiler-policy 'debug 3)
    ;; at 3 each of them is more important to the compiler than debugging
    (dolist (quality '(speed space compilation-speed))
      (sb-ext:restrict-compiler-policy quality 0 2))
    (let ((*for-stepping* t)) (funcall function))))

(defmacro with-way-out ((evaluation) form &rest clauses)
  "Evaluate FORM with ABORT, which leaves the evaluation, and the further restarts that CLAUSES describe."
  (let ((body (gensym "BODY")))
    `(flet ((,body ()
              (restart-case
                  (let ((swank::*sldb-quit-restart* (find-restart 'abort))
                        (*outermost-restart* (outermost-restart)))
                    ,form)
                (abort () :report "Return to top level" (leave ,evaluation '(:aborted)))
                ,@clauses)))
       (,body))))

(defun leave (evaluation result)
  (throw evaluation result))

(defun outermost-restart ()
  "The last restart that an evaluation offers: RETRY, where it stands right behind the innermost ABORT, or that ABORT."
  (destructuring-bind (abort &optional next &rest others) (compute-restarts)
    (declare (ignore others))
    (if (and next (eq (restart-name next) 'retry)) next abort)))

(defun evaluate-form (evaluation form)
  (loop
    (with-way-out (evaluation)
        (return-from evaluate-form (call-user form))
      (retry ()
        :report (lambda (stream) (format stream "Evaluate form ~d again" (evaluation-form evaluation)))
        (heal-stack)))))

;;; Source

(declaim (notinline read-user))
(defun read-user (stream eof)
  "The frame below which the stack is ours while the reader runs."
  (multiple-value-prog1 (read stream nil eof)))

(defun read-form (evaluation stream eof)
  "The next form of STREAM, or EOF. An error in reading ends the evaluation: it must not park a thread with the reader's locks."
  (handler-bind ((serious-condition (lambda (condition)
                                      (leave-with-failure evaluation condition
                                                          :offset (ignore-errors (file-position stream))))))
    (read-user stream eof)))

(defun check-source (evaluation code)
  "Read CODE, which a scan found unbalanced: the reader's own condition ends the evaluation before anything runs.
Nothing is interned or executed by it. Returns if the readtable in use sees nothing wrong."
  (let ((*read-suppress* t)
        (*source* (make-string-input-stream code))
        (eof (list nil)))
    (setf (evaluation-form evaluation) 1)
    (handler-bind ((serious-condition (lambda (condition) (leave-with-failure evaluation condition))))
      (loop until (eq eof (read-user *source* eof))))
    (setf (evaluation-form evaluation) 0)))

(defun failure (evaluation facts)
  (list :failed (list* :evaluated (1- (evaluation-form evaluation)) facts)))

(defun leave-with-failure (evaluation condition &rest facts)
  "End EVALUATION with what is known of CONDITION; its stack is gone then."
  (leave evaluation (failure evaluation (append facts (capture condition)))))

;;; What the session keeps

(defun remember (form values)
  (setf *** ** ** * * (first values)
        /// // // / / values
        +++ ++ ++ + + form))

(defun keep-session (evaluation)
  "What a REPL keeps, it keeps form by form: a later form that fails takes nothing back."
  (let ((session (evaluation-session evaluation)))
    (setf (session-values session) (mapcar #'symbol-value *session-variables*)
          (session-readtable session) *readtable*)
    (when (evaluation-moves-session evaluation) (setf (session-package session) *package*))))

;;; All forms

(defun evaluate-forms (evaluation code check)
  "The values of the last form of CODE."
  (when check (check-source evaluation code))
  (loop with eof = (list nil)
        with source = (make-string-input-stream code)
        with values = '()
        do (incf (evaluation-form evaluation))
           (let* ((start (file-position source))
                  (form (let ((*source* source)) (read-form evaluation source eof))))
             (when (eq form eof) (return values))
             (setf - form)
             (with-form-source (code start (file-position source))
               (setf values (evaluate-form evaluation form)))
             (ignore-errors (note-loading-form evaluation form))
             (heal-stack)
             (remember form values)
             (keep-session evaluation))))

(defun evaluate-and-print (evaluation code check value-limit)
  (let ((values (evaluate-forms evaluation code check)))
    (list :returned (printed-values values value-limit))))

;;; Errors that may not park

(defun fragile-p (condition)
  "True if SBCL does not survive to look at the stack when CONDITION is signalled."
  (member (symbol-name (class-name (class-of condition))) '("BINDING-STACK-EXHAUSTED" "ALIEN-STACK-EXHAUSTED")
          :test #'string=))

(defun leave-if-fragile (evaluation condition)
  (when (fragile-p condition)
    (leave evaluation (lambda () (failure evaluation (condition-plist condition '()))))))

(defun may-not-stop-p (evaluation usual-hook)
  "A debugger hook of the code's own comes first, and inside a stop errors are the debugger's business."
  (and (eq *evaluation* evaluation)
       (zerop swank::*sldb-level*)
       (or (holds-package-lock-p)
           (and (evaluation-unwind evaluation) (member *debugger-hook* (list nil usual-hook))))))

(defun make-debugger-hook (evaluation previous usual-hook)
  (lambda (condition hook)
    (with-printer-of-its-own
      (when (may-not-stop-p evaluation usual-hook)
        (leave-with-failure evaluation condition))
      ;; what the debugger prints, it prints as the code would
      (setf swank::*buffer-package* *package*)
      (when previous (funcall previous condition hook)))))

;;; Code that cannot be compiled

(defun form-itself-p ()
  "True if what is being compiled is the form that was sent, and not what some code of it evaluates or compiles."
  (let ((names (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
                     while frame
                     collect (frame-name frame)
                     until (eq (frame-name frame) 'call-user))))
    (and (= 1 (count 'eval names))
         (not (intersection '(compile compile-file load) names)))))

(defun leave-if-malformed (evaluation condition)
  "A form that the compiler cannot make sense of ends EVALUATION: SBCL would go on with code that fails when it gets there."
  (when (and (zerop swank::*sldb-level*)
             *in-user-code*
             (not (typep (sb-int:encapsulated-condition condition) 'storage-condition))
             (form-itself-p))
    ;; the compiler would say on its way out that it was aborted
    (setf *error-output* (make-broadcast-stream))
    (leave-with-failure evaluation (sb-int:encapsulated-condition condition))))

;;; The environment

(defun call-in-environment (evaluation package stdin function)
  (let* ((session (evaluation-session evaluation))
         (input (make-string-input-stream stdin))
         (stdout (evaluation-stdout evaluation))
         (terminal (make-two-way-stream input stdout))
         (*standard-input* input)
         (*input* input)
         (*standard-output* stdout)
         (*trace-output* stdout)
         (*error-output* (evaluation-stderr evaluation))
         (*query-io* terminal)
         (*debug-io* terminal)
         (*terminal-io* terminal)
         (*package* package)
         (*readtable* (session-readtable session))
         (*step-wanted* nil)
         (sb-ext:*stepper-hook* (make-stepper sb-ext:*stepper-hook*))
         (sb-ext:*invoke-debugger-hook* (make-debugger-hook evaluation sb-ext:*invoke-debugger-hook* *debugger-hook*))
         ;; what Swank tells of a stop has no bounds in time, and our own snapshot follows
         (swank::*sldb-condition-printer* #'stop-message)
         (swank::*sldb-initial-frames* 0))
    (with-session-variables (session)
      (handler-bind ((storage-condition (lambda (condition) (leave-if-fragile evaluation condition)))
                     (sb-c:compiler-error (lambda (condition) (leave-if-malformed evaluation condition)))
                     (warning #'note-warning)
                     (sb-ext:compiler-note #'note-warning))
        (call-noting-definitions evaluation function)))))

(defun session-package-now (session)
  (let ((package (session-package session)))
    (if (package-name package) package (find-package "COMMON-LISP-USER"))))

(defun outcome-facts (evaluation)
  (list* :package (package-name (session-package-now (evaluation-session evaluation)))
         (taken-warnings evaluation)))

(defun finish (evaluation result)
  "RESULT with what belongs to every outcome."
  (append result (outcome-facts evaluation)))

(defun evaluate (code &key id package stdin check unwind (debug t) (limit 100000) (tail 4000) (value-limit *value-limit*))
  "Evaluate the forms of CODE for the current connection.
=> (:returned PLIST . COMMON) | (:failed SNAPSHOT . COMMON) | (:aborted . COMMON) | (:no-such-package NAME)"
  (let* ((session (current-session))
         (connection swank::*emacs-connection*)
         (home (if package (find-written-package package) (session-package-now session))))
    (if (null home)
        (list :no-such-package package)
        (let ((evaluation (make-evaluation :id id :session session :unwind unwind :moves-session (not package)
                                           :stdout (make-output connection id 1 limit tail)
                                           :stderr (make-output connection id 2 limit tail))))
          (flet ((run () (evaluate-and-print evaluation code check value-limit)))
            (run-evaluation evaluation home (or stdin "")
                            (if debug (lambda () (call-with-debug-policy #'run)) #'run)))))))

(defun run-evaluation (evaluation package stdin function)
  (let ((id (evaluation-id evaluation)))
    (unwind-protect
         (let ((result (catch evaluation
                         (take-over-stack)
                         (call-registered evaluation package stdin function))))
           (heal-stack)
           (settle (session-ledger (evaluation-session evaluation)))
           (finish evaluation (if (functionp result) (funcall result) result)))
      (deregister evaluation)
      (flush-evaluation evaluation)
      (announce-exit id)
      (prune-mailboxes-at-times))))

(defun deregister (evaluation)
  "From now on nothing interrupts this thread any more."
  (sb-thread::with-system-mutex ((evaluation-lock evaluation))
    (setf (evaluation-over evaluation) t))
  (remhash (evaluation-id evaluation) (session-evaluations (evaluation-session evaluation))))

(defun call-registered (evaluation package stdin function)
  "Call FUNCTION while EVALUATION can be found and interrupted. Whoever finds it, finds it in a state that can be left."
  (let ((session (evaluation-session evaluation))
        (*evaluation* evaluation))
    (setf (gethash (evaluation-id evaluation) (session-evaluations session)) evaluation)
    (with-way-out (evaluation)
      ;; looked at after it was registered: whoever cleans up after a client sees one or the other
      (if (session-departed session)
          '(:aborted)
          (with-code-of (session)
            (call-in-environment evaluation package stdin function))))))

(defun flush-evaluation (evaluation)
  (flush-output (evaluation-stdout evaluation))
  (flush-output (evaluation-stderr evaluation)))

(defun announce-exit (id)
  "Tell the client that what unwinds evaluation ID is the end of the whole image."
  (when (and (boundp 'sb-impl::*exit-in-progress*) (symbol-value 'sb-impl::*exit-in-progress*))
    (swank::send-to-emacs (list :write-string "" (list id 0)))))
