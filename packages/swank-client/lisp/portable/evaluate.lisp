;;;; Reads and evaluates the forms of one request, one after another, with separate output.

(in-package #:swank-client/portable)

(defvar *evaluation* nil "The evaluation that this thread runs, or NIL. Bound inside the evaluation's CATCH: an interrupt that finds it can throw.")

(defvar *outermost-restart* nil "The last restart before those of Swank, or NIL.")

(defstruct (session (:copier nil))
  "What is kept for one client."
  (package (user-package))
  (history (make-list 9) :type list)
  ;; its code cannot end the image
  (protects-image nil)
  ;; evaluations by id
  (evaluations (make-hash-table)))

(defstruct (evaluation (:copier nil))
  "A request to evaluate code."
  id session connection thread
  (form 0)
  (interrupts 0)
  ;; the internal real time at which it was first unwound, or NIL
  unwound-at
  ;; the debugger's level in which its thread is stopped
  (level 0)
  ;; those that the client has not been told
  (warnings '())
  (warnings-left-out 0)
  updates-package
  outputs)

(defmethod print-object ((evaluation evaluation) stream)
  (print-unreadable-object (evaluation stream :type t) (princ (evaluation-id evaluation) stream)))

(defvar *sessions* (make-hash-table :test 'eq) "Sessions by connection.")

(defvar *lock* (make-lock "swank-client sessions") "Held while a thread uses a table of sessions, of evaluations or of stops.")

(defun end-session (connection)
  "Forget the session of CONNECTION, which has closed, and end its evaluations."
  (let ((session (with-lock (*lock*)
                   (prog1 (gethash connection *sessions*) (remhash connection *sessions*)))))
    (when session
      (dolist (evaluation (running-evaluations session)) (or-nil (unwind-evaluation evaluation)))
      (with-lock (*lock*)
        (unless (loop for other being the hash-values of *sessions* thereis (session-protects-image other)) (unguard-exits))))))

(defun current-session ()
  "The session of this connection's client."
  (with-lock (*lock*)
    (or (gethash *emacs-connection* *sessions*)
        (setf (gethash *emacs-connection* *sessions*) (make-session)))))

(defun running-evaluations (session)
  "The evaluations of SESSION that have not ended."
  (with-lock (*lock*)
    (loop for evaluation being the hash-values of (session-evaluations session) collect evaluation)))

(defun read-request (stream package)
  "What Swank reads from STREAM in PACKAGE. Swank reports only what signals a READER-ERROR, and closes the connection at any other error, such as
that of a missing package in ECL."
  (let ((packet (read-packet stream)))
    (handler-case (form-of-packet packet package)
      (error (condition) (error 'swank-reader-error :packet packet :cause condition)))))

(defvar *close-connection* nil "Swank's function that closes a connection, or NIL before ATTACH has replaced it.")

(defun close-connection (connection condition backtrace)
  "Close CONNECTION as Swank does. Without threads, an error of closing would end the server: that of a stream whose client has gone, which still
has output to send."
  (let ((stream (connection.socket-io connection)))
    (handler-case (finish-output stream)
      (error () (or-nil (close stream :abort t)))))
  (funcall *close-connection* connection condition backtrace))

(defun attach (foreign-errors)
  "Prepare this connection: what its client runs ends with it. => the number of other connections"
  (declare (ignore foreign-errors))
  (setf (fdefinition 'read-message) #'read-request)
  (unless *close-connection*
    (setf *close-connection* (fdefinition 'close-connection%)
          (fdefinition 'close-connection%) #'close-connection))
  (pushnew 'end-session *connection-closed-hook*)
  (max 0 (1- (length *connections*))))

(define-condition exit-refused (error)
  ((operator :initarg :operator :reader refused-operator))
  (:report (lambda (condition stream)
             (format stream "~s is refused: it would end the image for all its clients. Ask the user to evaluate it." (refused-operator condition))))
  (:documentation "Signalled when code that may not end the image tries to."))

(defvar *protected-p* nil "True in a thread while it runs code that may not end the image.")

(defun check-exit (operator)
  "Signal EXIT-REFUSED if this thread may not end the image by OPERATOR."
  (when *protected-p* (error 'exit-refused :operator operator)))

(defun begin-session (&key protect-image tell-threads tell-forms)
  "Begin the session of this connection's client. Its code cannot end the image if PROTECT-IMAGE. What the other keywords ask for, only SBCL's runtime
can do."
  (declare (ignore tell-threads tell-forms))
  (setf (session-protects-image (current-session)) protect-image)
  (when protect-image (guard-exits #'check-exit))
  t)

(defmacro with-protection (&body body)
  "Run BODY, which runs code of this connection's client."
  `(let ((*protected-p* (session-protects-image (current-session)))) ,@body))

(defun reset ()
  "Forget the package and the history of this connection's session. Its definitions are not known, and stay. => (() () () PACKAGE)"
  (let ((old (current-session)))
    (with-lock (*lock*)
      (setf (gethash *emacs-connection* *sessions*)
            (make-session :evaluations (session-evaluations old) :protects-image (session-protects-image old)))))
  (list '() '() '() (package-name (user-package))))

;;; Output

(defstruct (output (:copier nil))
  "One of the two streams of an evaluation."
  connection id number
  ;; characters that may still be sent, the last of the others, and their number
  (room 0)
  (tail-size 0)
  (tail "")
  (left-out 0))

(defun send-output (output text &optional (omitted 0))
  "Send TEXT of OUTPUT to the client, before which OMITTED characters are missing."
  (unless (string= text "")
    (with-connection ((output-connection output))
      (send-to-emacs (list :write-string text
                           (list* (output-id output) (output-number output) (and (plusp omitted) (list omitted))))))))

(defun write-output (output text)
  "Send TEXT, as far as there is room, and keep the end of the rest."
  (let ((room (output-room output)))
    (send-output output (subseq text 0 (min room (length text))))
    (setf (output-room output) (max 0 (- room (length text))))
    (when (> (length text) room)
      (let* ((rest (concatenate 'string (output-tail output) (subseq text room)))
             (kept (min (length rest) (output-tail-size output))))
        (incf (output-left-out output) (- (length rest) kept))
        (setf (output-tail output) (subseq rest (- (length rest) kept)))))))

(defun make-output-pair (connection id limit tail-size)
  "((STREAM OUTPUT) (STREAM OUTPUT)) of evaluation ID: standard output and error output."
  (loop for number in '(1 2)
        collect (let ((output (make-output :connection connection :id id :number number :room limit :tail-size tail-size)))
                  (list (swank/backend:make-output-stream (lambda (text) (write-output output text))) output))))

(defun flush-outputs (evaluation)
  "Send what EVALUATION has printed."
  (loop for (stream) in (evaluation-outputs evaluation) do (finish-output stream)))

(defun end-outputs (evaluation)
  "Send all output of EVALUATION, which has ended, and the end of what exceeds its limit."
  (flush-outputs evaluation)
  (loop for output in (mapcar #'second (evaluation-outputs evaluation))
        do (send-output output (shiftf (output-tail output) "") (shiftf (output-left-out output) 0))))

;;; Warnings

(defconstant +warnings-limit+ 100 "Most warnings kept between two outcomes.")

(defun note-warning (condition)
  "Keep CONDITION, a warning, for the next outcome, and let it print nothing."
  (let ((evaluation *evaluation*))
    (when evaluation
      (if (< (length (evaluation-warnings evaluation)) +warnings-limit+)
          (push (list (if (typep condition 'style-warning) "STYLE-WARNING" "WARNING")
                      (class-text (class-of condition))
                      (message-text condition)
                      '())
                (evaluation-warnings evaluation))
          (incf (evaluation-warnings-left-out evaluation)))
      (muffle-warning condition))))

(defun taken-facts (evaluation)
  "The plist that every outcome of EVALUATION ends in: the session's package, and the warnings since the last outcome."
  (let ((session (evaluation-session evaluation)))
    (list :package (package-name (if (package-name (session-package session)) (session-package session) (user-package)))
          :warnings (reverse (shiftf (evaluation-warnings evaluation) '()))
          :warnings-omitted (shiftf (evaluation-warnings-left-out evaluation) 0))))

;;; Forms

(defun note-unwinding (evaluation)
  "Note that EVALUATION is about to be unwound, if it is the first time."
  (setf (evaluation-level evaluation) 0)
  (unless (evaluation-unwound-at evaluation)
    (setf (evaluation-unwound-at evaluation) (get-internal-real-time))))

(defun leave (evaluation result)
  "End EVALUATION, which this thread runs, with RESULT."
  (note-unwinding evaluation)
  (throw evaluation result))

(defmacro with-abort-restart ((evaluation) form &rest clauses)
  "Evaluate FORM with the restart ABORT, which ends EVALUATION, and with the restarts of CLAUSES."
  `(restart-case (let ((*sldb-quit-restart* (find-restart 'abort))
                       (*outermost-restart* (outermost-restart)))
                   ,form)
     (abort () :report "Return to top level" (leave ,evaluation '(:aborted)))
     ,@clauses))

(defun outermost-restart ()
  "The last restart that an evaluation offers: RETRY if it follows the innermost ABORT, else that ABORT."
  (destructuring-bind (abort &optional next &rest others) (compute-restarts)
    (declare (ignore others))
    (if (and next (eq (restart-name next) 'retry)) next abort)))

(declaim (notinline call-user))

(defun call-user (form)
  "The values of FORM, as a list. The frames below this function's belong to the runtime."
  (multiple-value-list (eval form)))

(defun evaluate-form (evaluation form)
  "The values of FORM, as a list. Its restart RETRY evaluates it again."
  (loop
    (with-abort-restart (evaluation)
        (return-from evaluate-form (call-user form))
      (retry ()
        :report (lambda (stream) (format stream "Evaluate form ~d again, repeating its side effects" (evaluation-form evaluation)))))))

;; in stops.lisp, which needs this file
(declaim (ftype function snapshot))

(defun failed-result (evaluation condition &rest facts)
  "The result of EVALUATION, which CONDITION has ended. FACTS is a plist about reading."
  (list :failed (append (snapshot condition '()) (list* :evaluated (max 0 (1- (evaluation-form evaluation))) facts))))

(defun read-form (evaluation source eof)
  "The next form of SOURCE, or EOF. What cannot be read ends EVALUATION."
  (handler-case (read source nil eof)
    (error (condition)
      (leave evaluation (failed-result evaluation condition :offset (or-nil (file-position source)))))))

(defun check-source (evaluation code)
  "Read all forms of CODE before one is evaluated, because it is probably unbalanced."
  (let ((source (make-string-input-stream code))
        (*read-suppress* t))
    (incf (evaluation-form evaluation))
    (loop with eof = (list nil) until (eq eof (read-form evaluation source eof)))
    (decf (evaluation-form evaluation))))

(defun evaluate-forms (evaluation code check)
  "The values of the last form of CODE, as a list. If CHECK, all is read before."
  (when check (check-source evaluation code))
  (loop with eof = (list nil)
        with source = (make-string-input-stream code)
        with session = (evaluation-session evaluation)
        with values = '()
        do (incf (evaluation-form evaluation))
           (let ((form (read-form evaluation source eof)) (home *package*))
             (when (eq form eof) (return values))
             (setf - form)
             (setf values (evaluate-form evaluation form))
             (setf *** ** ** * * (first values)
                   /// // // / / values
                   +++ ++ ++ + + form)
             (setf *buffer-package* *package*)
             (when (or (evaluation-updates-package evaluation) (not (eq *package* home)))
               (setf (session-package session) *package*)))))

(defun call-with-history (session function)
  "Call FUNCTION with the history variables of SESSION, and keep them."
  (destructuring-bind (* ** *** / // /// + ++ +++) (session-history session)
    (unwind-protect (funcall function)
      (setf (session-history session) (list * ** *** / // /// + ++ +++)))))

(defun unwinding-hook (evaluation next)
  "A debugger hook that ends EVALUATION at an error. Inside a stop, it calls NEXT."
  (lambda (condition hook)
    (if (zerop *sldb-level*)
        (leave evaluation (swank/backend:call-with-debugging-environment (lambda () (failed-result evaluation condition))))
        (funcall next condition hook))))

(defun call-in-environment (evaluation package input unwind function)
  "Call FUNCTION with the streams and variables of EVALUATION, in PACKAGE. INPUT is the stream of its standard input. If UNWIND, an error ends it."
  (destructuring-bind (stdout stderr) (mapcar #'first (evaluation-outputs evaluation))
    (let* ((terminal (make-two-way-stream input stdout))
           (*standard-input* input)
           (*standard-output* stdout)
           (*trace-output* stdout)
           (*error-output* stderr)
           (*query-io* terminal)
           (*debug-io* terminal)
           (*package* package)
           ;; from which the debugger prints
           (*buffer-package* package))
      (call-with-debugger-hook (if unwind (unwinding-hook evaluation *debugger-hook*) *debugger-hook*)
                               (lambda ()
                                 (handler-bind ((warning #'note-warning))
                                   (call-with-history (evaluation-session evaluation) function)))))))

(defun evaluate (code &key id package stdin check unwind (debug t) (limit 100000) (tail 4000) (value-limit 20000) (length 200) (level 20)
                      data ids prompted conditions)
  "Evaluate the forms of CODE for the current connection. DEBUG, PROMPTED, IDS and CONDITIONS are for SBCL's runtime.
=> (:returned PLIST . FACTS) | (:failed SNAPSHOT . FACTS) | (:aborted . FACTS) | (:no-such-package NAME)"
  (declare (ignore debug ids prompted conditions))
  (let* ((session (current-session))
         (home (if package (find-package-named package) (session-package session))))
    (if (or (null home) (null (package-name home)))
        (list :no-such-package (or package "?"))
        (let ((evaluation (make-evaluation :id id :session session :connection *emacs-connection* :thread (swank/backend:current-thread)
                                           :updates-package (not package)
                                           :outputs (make-output-pair *emacs-connection* id limit tail))))
          (run-evaluation evaluation home (make-string-input-stream (or stdin "")) unwind
                          (lambda ()
                            (let ((values (evaluate-forms evaluation code check)))
                              (list :returned
                                    (list* :unshown '()
                                           :forms (1- (evaluation-form evaluation))
                                           (texts-of-values values value-limit
                                                            (lambda (value each)
                                                              (if data
                                                                  (data-text value each)
                                                                  (value-text value each length level)))))))))))))

(defun run-evaluation (evaluation package input unwind function)
  "Run EVALUATION by calling FUNCTION. => the reply to the request"
  (let ((table (session-evaluations (evaluation-session evaluation)))
        (*protected-p* (session-protects-image (evaluation-session evaluation)))
        (id (evaluation-id evaluation)))
    (unwind-protect
         (append (catch evaluation
                   (let ((*evaluation* evaluation))
                     (with-lock (*lock*) (setf (gethash id table) evaluation))
                     (with-abort-restart (evaluation)
                         (call-in-environment evaluation package input unwind function))))
                 (taken-facts evaluation))
      (with-lock (*lock*) (remhash id table))
      (end-outputs evaluation))))

(defun find-package-named (name)
  "The package with NAME, in upper or lower case, or NIL."
  (or (find-package name) (find-package (string-upcase name))))

;;; Control

(define-condition interrupted (condition) ()
  (:documentation "A client has interrupted the thread.")
  (:report "The evaluation was interrupted."))

(defun find-evaluation (id)
  "The running evaluation ID of this session, or NIL."
  (let ((table (session-evaluations (current-session))))
    (with-lock (*lock*) (values (gethash id table)))))

(defun evaluation-thread-id (evaluation)
  "Swank's id for the thread of EVALUATION."
  (swank/backend:thread-id (evaluation-thread evaluation)))

(defun interrupt (id number)
  "Stop evaluation ID in the debugger. Each interrupt NUMBER takes effect once. => its thread's id, NIL if it is not running"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (swank/backend:interrupt-thread
       (evaluation-thread evaluation)
       (lambda ()
         (when (and (eq *evaluation* evaluation) (zerop *sldb-level*) (> number (evaluation-interrupts evaluation)))
           (setf (evaluation-interrupts evaluation) number)
           (flush-outputs evaluation)
           (with-simple-restart (continue "Continue the evaluation")
             (invoke-slime-debugger (make-condition 'interrupted))))))
      (evaluation-thread-id evaluation))))

(defun cleaning-up-p (evaluation)
  "True if this thread, which runs EVALUATION, may be running the cleanup forms of its first unwinding. They have a second.
A thread that has stopped in one is unwound again."
  (let ((start (evaluation-unwound-at evaluation)))
    (and start
         (zerop *sldb-level*)
         (< (- (get-internal-real-time) start) internal-time-units-per-second))))

(defun unwind-evaluation (evaluation)
  "Unwind EVALUATION, stopped or running. The client repeats the request."
  (swank/backend:interrupt-thread (evaluation-thread evaluation)
                                  (lambda ()
                                    (when (and (eq *evaluation* evaluation) (not (cleaning-up-p evaluation)))
                                      (leave evaluation '(:aborted))))))

(defun abort-evaluation (id)
  "Unwind evaluation ID, stopped or running. => its thread's id, NIL if it has ended"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (unwind-evaluation evaluation)
      (evaluation-thread-id evaluation))))

(defun kill (id)
  "End the thread of evaluation ID. => the thread's id, NIL if the evaluation has ended"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (prog1 (evaluation-thread-id evaluation)
        (swank/backend:kill-thread (evaluation-thread evaluation))))))
