;;;; Reads and evaluates the forms of one request, one after another.

(in-package #:swank-client/evaluate)

(defmacro with-abort-restart ((evaluation) form &rest clauses)
  "Evaluate FORM with the restart ABORT, which ends EVALUATION, and with the restarts of CLAUSES."
  (let ((body (gensym "BODY")))
    `(flet ((,body ()
              (restart-case
                  (let ((*sldb-quit-restart* (find-restart 'abort))
                        (*outermost-restart* (outermost-restart)))
                    ,form)
                (abort () :report "Return to top level" (leave ,evaluation '(:aborted)))
                ,@clauses)))
       (,body))))

(defun outermost-restart ()
  "The last restart that an evaluation offers: RETRY if it follows the innermost ABORT, else that ABORT."
  (destructuring-bind (abort &optional next &rest others) (compute-restarts)
    (declare (ignore others))
    (if (and next (eq (restart-name next) 'retry)) next abort)))

(defun evaluate-form (evaluation form)
  "The values of FORM, as a list. Its restart RETRY evaluates it again."
  (loop
    (with-abort-restart (evaluation)
        (return-from evaluate-form (call-user form))
      (retry ()
        :report (lambda (stream) (format stream "Evaluate form ~d again, repeating its side effects" (evaluation-form evaluation)))
        (restore-guard-page)))))

;;; Session state

(defun remember (form values)
  "Set the history variables of a REPL after FORM has returned VALUES."
  (setf *** ** ** * * (first values)
        /// // // / / values
        +++ ++ ++ + + form))

(defun leave-deleted-package (session)
  "Go on in the package of SESSION, or in USER-PACKAGE, because the current package was deleted."
  (setf *package* (session-package-now session))
  (warn "The current package was deleted. The package is ~a now." (package-name *package*)))

(defun keep-package (evaluation form home)
  "Store the package after FORM, which EVALUATION has evaluated in the package HOME.
A package that was given for one call becomes the session's only if the code says so."
  (let ((session (evaluation-session evaluation)))
    (unless (package-name *package*) (leave-deleted-package session))
    (when (or (evaluation-updates-package evaluation)
              (not (eq *package* home))
              (typep form '(cons (eql in-package))))
      (setf (session-package session) *package*
            (evaluation-updates-package evaluation) t))))

(defun keep-readtable (session readtable home)
  "Store the readtable after a form that was read in the package HOME with READTABLE. Unless the code has set one, it follows the package."
  (cond ((not (eq *readtable* readtable))
         (setf (session-readtable session) *readtable*
               (session-readtable-home session) *package*))
        ((not (eq *package* home))
         (setf *readtable* (code-readtable session *package*)))))

(defun keep-session (evaluation form home readtable hook)
  "Store the session's state after FORM, which was evaluated in the package HOME with READTABLE and the debugger hook HOOK.
A failure of a later form does not undo it."
  (let ((session (evaluation-session evaluation)))
    (keep-package evaluation form home)
    (keep-readtable session readtable home)
    (unless (eq *debugger-hook* hook) (setf (session-debugger-hook session) (list *debugger-hook*)))
    (setf (session-values session)
          (loop for variable in *session-variables* collect (session-value-now session variable)))))

(defun runtime-form-p (form)
  "True if FORM, of an evaluation, is a client's call of the runtime, which no user has written."
  (and (consp form)
       (symbolp (first form))
       (runtime-symbol-p (first form))))

;;; All forms. The values of all but the last are not shown.

(defparameter *plain-operators*
  '(setf setq psetf psetq push pushnew incf decf in-package trace untrace print prin1 princ pprint write write-string write-line)
  "Operators that are used for their effect. Their values follow from the code, or have been printed.")

(defun worth-showing-p (form values)
  "True if VALUES of FORM say more than the name of a definition, or that the form was evaluated."
  (and (some (lambda (value) (or (not (symbolp value)) (keywordp value))) values)
       (not (if (consp form)
                (or (defining-kind (first form)) (loading-operator-p (first form)) (member (first form) *plain-operators*))
                (constantp form)))))

(defun note-evaluated (evaluation form)
  "Note what FORM, which EVALUATION has evaluated, has loaded and assigned, and what it may have named."
  (let ((ledger (session-ledger (evaluation-session evaluation))))
    (recording-faults (note-loading-form evaluation form))
    (recording-faults (note-assignments ledger form))
    (when (or (call-name form) (typep form '(cons (member progn eval-when locally))))
      (recording-faults (note-named-calls ledger form (form-source-text *form-source*) *package*)))))

(defun tell-evaluated (evaluation assigned loads)
  "Tell the client of the form that EVALUATION has evaluated, or has begun to evaluate. ASSIGNED and LOADS are those of the ledger before it."
  (let* ((session (evaluation-session evaluation))
         (ledger (session-ledger session))
         (plist (form-source-plist *form-source*)))
    (tell-form session
               (getf plist :emacs-string)
               (or (and plist (find-package (getf plist :package))) *package*)
               (ldiff (ledger-assigned ledger) assigned)
               (ldiff (ledger-loads ledger) loads))))

(defmacro telling-form ((evaluation) &body body)
  "Run BODY, which evaluates the form of *FORM-SOURCE* for EVALUATION, and tell the client of the form, also if it does not return: what it has
defined until then stays."
  (let ((ledger (gensym "LEDGER")) (assigned (gensym "ASSIGNED")) (loads (gensym "LOADS")))
    `(let* ((,ledger (session-ledger (evaluation-session ,evaluation)))
            (,assigned (ledger-assigned ,ledger))
            (,loads (ledger-loads ,ledger)))
       (unwind-protect (progn ,@body)
         (recording-faults (tell-evaluated ,evaluation ,assigned ,loads))))))

(defun runtime-call-p (code)
  "True if CODE is a client's call of the runtime. It is read in standard syntax, whatever the session's."
  (eql 0 (search "(SWANK-CLIENT/" code)))

(defun next-form (evaluation source eof standard-p)
  "The next form of the stream SOURCE, in standard syntax if STANDARD-P, or EOF."
  (let ((*source* source))
    (if standard-p
        (with-standard-io-syntax
          (let ((*package* (user-package)))
            (read-form evaluation source eof)))
        (read-form evaluation source eof))))

(defun evaluate-forms (evaluation code check)
  "Evaluate the forms of CODE, after CHECK-SOURCE if CHECK.
=> the values of the last form, as a list, and the numbers of the forms before it whose values are worth showing"
  (leave-if-odd evaluation code)
  (when check (check-source evaluation code))
  (unless (package-name (session-package (evaluation-session evaluation)))
    (leave-deleted-package (evaluation-session evaluation))
    (setf (session-package (evaluation-session evaluation)) *package*))
  (loop with eof = (list nil)
        with source = (make-string-input-stream code)
        with values = '()
        with form = nil
        with unshown = '()
        with standard-p = (runtime-call-p code)
        do (incf (evaluation-form evaluation))
           (let* ((start (file-position source))
                  (next (next-form evaluation source eof standard-p)))
             (when (eq next eof) (return (values values (reverse unshown))))
             (when (worth-showing-p form values) (push (1- (evaluation-form evaluation)) unshown))
             (setf form next)
             (setf - form)
             (announce-swank)
             (let ((home *package*) (readtable *readtable*) (hook *debugger-hook*))
               (with-form-source (code start (file-position source))
                 ;; the session's breaks are for its own code
                 (telling-form (evaluation)
                   (setf values (if standard-p
                                    (let ((*break-on-signals* nil)) (evaluate-form evaluation form))
                                    (evaluate-form evaluation form)))
                   (note-evaluated evaluation form)))
               (restore-guard-page)
               (unless (runtime-form-p form) (remember form values))
               (keep-session evaluation form home readtable hook)))))

(defun evaluate-part (code)
  "Evaluate the forms of CODE, which is part of the form that this thread evaluates. => the values of the last one, as a list"
  (let ((values '()))
    (map-forms (lambda (form start end)
                 (setf - form)
                 (with-form-source (code start end)
                   (telling-form (*evaluation*)
                     (setf values (call-user form))
                     (note-evaluated *evaluation* form)))
                 (remember form values))
               code)
    values))

(defun compiled-parts (code)
  "A function for each form of CODE, which is part of the form that this thread evaluates. Each runs its form."
  (let ((functions '()))
    (map-forms (lambda (form start end)
                 (with-form-source (code start end) (push (compile nil `(lambda () ,form)) functions)))
               code)
    (nreverse functions)))

(defun evaluate-and-print (evaluation code check printer)
  "Evaluate CODE, checked first if CHECK. PRINTER makes a plist of the values. => the result of EVALUATION"
  (multiple-value-bind (values unshown) (evaluate-forms evaluation code check)
    (list :returned (list* :unshown unshown
                           :forms (1- (evaluation-form evaluation))
                           (append (funcall printer values)
                                   (loop for hook in *return-hooks* append (recording-faults (funcall hook evaluation code))))))))

;;; Errors at which a thread must not stop

(defun unsafe-to-stop-p (condition)
  "True if SBCL would crash when the stack is read at CONDITION."
  (member (symbol-name (class-name (class-of condition))) '("BINDING-STACK-EXHAUSTED" "ALIEN-STACK-EXHAUSTED")
          :test #'string=))

(defun leave-if-unsafe (evaluation condition)
  "End EVALUATION if it would be unsafe to stop at CONDITION."
  (when (unsafe-to-stop-p condition)
    (leave evaluation (lambda () (failed-result evaluation (condition-plist condition '()))))))

(defun may-not-stop-p (evaluation usual-hook)
  "True if an error must end EVALUATION instead of stopping it.
A debugger hook that the code has set comes first. Inside a stop, the debugger handles errors."
  (and (eq *evaluation* evaluation)
       (zerop *sldb-level*)
       (or (must-not-stop-here-p)
           (and (evaluation-unwind evaluation) (member *debugger-hook* (list nil usual-hook))))))

(defun make-debugger-hook (evaluation previous usual-hook)
  "The debugger hook of EVALUATION. It calls PREVIOUS. USUAL-HOOK is the value of *DEBUGGER-HOOK* outside the evaluation."
  (lambda (condition hook)
    ;; INVOKE-DEBUGGER has bound the variable, and calls the hook that shows the stack after this one
    (supported (setf *stack-top-hint* (stack-top condition)))
    (with-fresh-printer-state
      (when (may-not-stop-p evaluation usual-hook)
        (leave-with-failure evaluation condition :held (and (not (evaluation-unwind evaluation)) (held-lock-text))))
      ;; the debugger prints in the code's package
      (setf *buffer-package* *package*)
      (when previous (funcall previous condition hook)))))

;;; Code that cannot be compiled

(defun form-itself-p ()
  "True if the compiler is compiling the form that was sent, not code that the form evaluates or compiles."
  (let ((names (loop for frame = (top-frame) then (frame-down frame)
                     while frame
                     collect (frame-name frame)
                     until (eq (frame-name frame) 'call-user))))
    (and (= 1 (count 'eval names))
         (not (intersection '(compile compile-file load) names)))))

(defun leave-if-malformed (evaluation condition)
  "End EVALUATION if CONDITION says that the form cannot be compiled. SBCL would continue, with code that fails at run time."
  (when (and (zerop *sldb-level*)
             *in-user-code*
             (not (typep (encapsulated-condition condition) 'storage-condition))
             (form-itself-p))
    ;; when unwound, the compiler would print that it was aborted
    (setf *error-output* (make-broadcast-stream))
    (leave-with-failure evaluation (encapsulated-condition condition))))

;;; The environment

(defun call-in-environment (evaluation package input function)
  "Call FUNCTION with the streams, variables and hooks of EVALUATION, in PACKAGE. INPUT is the stream of its standard input."
  (let* ((session (evaluation-session evaluation))
         (stdout (evaluation-stdout evaluation))
         (terminal (make-two-way-stream input stdout))
         (usual-hook *debugger-hook*)
         (*standard-input* input)
         (*input* input)
         (*standard-output* stdout)
         (*trace-output* stdout)
         (*error-output* (evaluation-stderr evaluation))
         (*query-io* terminal)
         (*debug-io* terminal)
         (*terminal-io* terminal)
         (*package* package)
         (*readtable* (code-readtable session package))
         (*debugger-hook* (if (session-debugger-hook session) (first (session-debugger-hook session)) *debugger-hook*))
         ;; what the code sets here must not reach other threads
         (sb-ext:*evaluator-mode* (sb-ext:symbol-global-value 'sb-ext:*evaluator-mode*))
         (*step-wanted* nil)
         (*open-step* nil)
         (sb-ext:*stepper-hook* (make-stepper sb-ext:*stepper-hook*))
         (sb-ext:*invoke-debugger-hook* (make-debugger-hook evaluation sb-ext:*invoke-debugger-hook* usual-hook))
         ;; Swank's own description of a stop has no time limit, and our snapshot follows
         (*sldb-condition-printer* #'stop-message)
         (*sldb-initial-frames* 0))
    (with-session-variables (session)
      (handler-bind ((storage-condition (lambda (condition) (leave-if-unsafe evaluation condition)))
                     (compiler-error (lambda (condition)
                                            (note-compiler-error evaluation condition)
                                            (leave-if-malformed evaluation condition)))
                     (warning #'note-warning)
                     (sb-ext:compiler-note #'note-warning))
        (call-noting-definitions evaluation function)))))

(defun outcome-facts (evaluation)
  "A plist for every outcome of EVALUATION: its package, warnings and redefinitions."
  (list* :package (package-name (session-package-now (evaluation-session evaluation)))
         (append (taken-redefinitions evaluation) (taken-warnings evaluation) (taken-conditions evaluation))))

(defun finish (evaluation result)
  "RESULT with OUTCOME-FACTS added."
  (append result (outcome-facts evaluation)))

(defun evaluate (code &key id package stdin check unwind (debug t) (limit 100000) (tail 4000) (value-limit *value-limit*)
                 (length *value-length*) (level *value-level*) data ids prompted conditions)
  "Evaluate the forms of CODE for the current connection. With IDS, the texts of the values are numbers under which the values are kept.
CONDITIONS is T, or the name of a type, to log the conditions that are signalled.
=> (:returned PLIST . COMMON) | (:failed SNAPSHOT . COMMON) | (:aborted . COMMON) | (:no-such-package NAME) | (:no-such-type NAME)"
  (let* ((session (current-session))
         (connection *emacs-connection*)
         (home (if package (find-designated-package package) (session-package-now session)))
         (type (if (stringp conditions)
                   (with-code-syntax (session (or home *package*)) (named-condition-type conditions))
                   (and conditions 'condition))))
    (cond ((null home) (list :no-such-package package))
          ((and conditions (null type)) (list :no-such-type conditions))
          (t (let ((evaluation (make-evaluation :id id :session session :unwind unwind :updates-package (not package) :prompted prompted
                                                :condition-log (and type (make-condition-log :type type)))))
               (setf (values (evaluation-stdout evaluation) (evaluation-stderr evaluation))
                     (make-outputs connection id limit tail))
               (labels ((printed (values)
                          (let ((*value-length* length)
                                (*value-level* level))
                            (cond (ids (numbered-values values))
                                  (data (data-values values))
                                  (t (printed-values values value-limit)))))
                        (run () (evaluate-and-print evaluation (if ids (with-name-spelled code) code) check #'printed)))
                 (run-evaluation evaluation home (evaluation-input evaluation (or stdin ""))
                                 (if debug (lambda () (call-with-debug-policy #'run)) #'run))))))))

(defun run-evaluation (evaluation package input function)
  "Run EVALUATION by calling FUNCTION in PACKAGE, with the stream INPUT as standard input. => the reply to the request"
  (let ((id (evaluation-id evaluation)))
    (unwind-protect
         (let ((result (catch evaluation
                         (reset-guard-pages)
                         (call-registered evaluation package input function))))
           (restore-guard-page)
           (confirm-definitions (session-ledger (evaluation-session evaluation)))
           (finish evaluation (if (functionp result) (funcall result) result)))
      (deregister evaluation)
      (end-outputs evaluation)
      (announce-exit id)
      (prune-mailboxes-at-times))))

(defun deregister (evaluation)
  "Remove EVALUATION from its session. From now on nothing interrupts this thread."
  (with-system-mutex ((evaluation-lock evaluation))
    (setf (evaluation-over evaluation) t))
  (remhash (evaluation-id evaluation) (session-evaluations (evaluation-session evaluation))))

(defun call-registered (evaluation package input function)
  "Call FUNCTION while EVALUATION is registered. It can be unwound whenever another thread finds it."
  (let ((session (evaluation-session evaluation))
        (*evaluation* evaluation))
    (setf (gethash (evaluation-id evaluation) (session-evaluations session)) evaluation)
    (with-abort-restart (evaluation)
      ;; checked after registration, so that a concurrent END-SESSION either finds the evaluation or is noticed here
      (if (session-departed session)
          '(:aborted)
          (with-code-of (session)
            (call-with-log evaluation
                           (lambda () (call-in-environment evaluation package input function))))))))

(defun announce-exit (id)
  "Notify the client if the image's exit ends evaluation ID."
  (when (exit-in-progress-p)
    (send-to-emacs (list :write-string "" (list id 0)))))
