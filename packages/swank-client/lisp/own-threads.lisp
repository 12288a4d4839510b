;;;; Whose code a thread runs. Threads that a client's code starts are that client's: their errors stop at it, and never in the debugger
;;;; of another one. A client that does not own the image cannot end it.

(in-package #:@runtime@)

(defvar *code-session* nil "The session whose code this thread runs, or NIL.")
(defvar *code-home* nil "The connection that this thread worked for when *CODE-SESSION* was bound.")
(defvar *code-unwinds* nil "True if errors in the threads that this code starts end them rather than stop them.")

(defmacro with-code-of ((session) &body body)
  `(let ((*code-session* ,session)
         (*code-home* swank::*emacs-connection*))
     ,@body))

(defun code-session ()
  "The session whose code this thread runs now, or NIL.
A Swank server that the code has started serves others in threads that are not the code's."
  (let ((session *code-session*))
    (and session
         (not (session-departed session))
         (member swank::*emacs-connection* (list nil *code-home* (session-connection session)))
         session)))

(defun start-helper (function name &rest arguments)
  "Start a thread of the runtime's own."
  (let ((*code-session* nil))
    (sb-thread:make-thread function :name name :arguments arguments)))

;;; An error in such a thread

(defun fall-back (condition)
  "Stop where the thread would have stopped without us: its client has disconnected."
  (let ((*debugger-hook* (sb-ext:symbol-global-value '*debugger-hook*))
        (sb-ext:*invoke-debugger-hook* (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)))
    (invoke-debugger condition)))

(defun tell-of-end (session condition)
  "Tell the client that CONDITION ended a thread of its."
  (swank::send (swank::mconn.control-thread (session-connection session))
               (list :write-string ""
                     (list :ended (list :thread (swank::current-thread-id)
                                        :name (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*))
                                        :type (class-name-text (shown-class condition))
                                        :message (message-text condition))))))

(defun stop-own-thread (session condition hook)
  (let ((swank::*sldb-quit-restart* *outermost-restart*)
        ;; as in evaluations
        (swank::*sldb-condition-printer* #'stop-message)
        (swank::*sldb-initial-frames* 0)
        (swank::*buffer-package* *package*))
    (with-printer-of-its-own
      (swank::with-connection ((session-connection session))
        (swank::swank-debugger-hook condition hook)))))

(defun enter-own-thread (condition hook)
  "The debugger hook of such a thread."
  (let ((session (code-session)))
    (cond ((null session) (fall-back condition))
          ;; it must not stop with a lock that every reader needs
          ((or *code-unwinds* (holds-package-lock-p))
           (ignore-errors (tell-of-end session condition))
           (invoke-restart *outermost-restart*))
          (t (stop-own-thread session condition hook)))))

;;; Starting one

(declaim (notinline call-own))
(defun call-own (function arguments)
  "The frame below which the stack of such a thread is ours."
  (multiple-value-prog1 (apply function arguments)
    (heal-stack)))

(defun call-in-own-thread (session unwinds function arguments)
  (flet ((call ()
           (restart-case (let ((*outermost-restart* (find-restart 'abort)))
                           (return-from call-in-own-thread (call-own function arguments)))
             (abort () :report "End this thread"))))
    (with-code-of (session)
      (let ((*code-unwinds* unwinds))
        (swank/backend:call-with-debugger-hook #'enter-own-thread #'call)
        (heal-stack)
        (sb-thread:abort-thread)))))

(defun own-function (session function)
  "What a thread of SESSION's code calls in place of FUNCTION."
  (let ((function (sb-kernel:%coerce-callable-to-fun function))
        (unwinds (if *evaluation* (evaluation-unwind *evaluation*) *code-unwinds*)))
    (lambda (&rest arguments) (call-in-own-thread session unwinds function arguments))))

;;; Around Lisp's functions, while a client is connected

(defun start-thread-of-code (make-thread function &rest options)
  (let ((session (code-session)))
    (apply make-thread (if session (own-function session function) function) options)))

(defun make-timer-of-code (make-timer function &rest options &key (thread nil thread-p) &allow-other-keys)
  "A timer that may run in any thread runs in one of its own: an error would stop a thread of somebody else."
  (let ((session (code-session)))
    (if (and session thread-p (member thread '(nil t)))
        (apply make-timer (own-function session function) :thread t options)
        (apply make-timer function options))))

(define-condition exit-refused (error)
  ((operator :initarg :operator :reader refused-operator))
  (:report (lambda (condition stream)
             (format stream "~s is refused: it would end the image for everybody who works in it. Ask the user to evaluate it."
                     (refused-operator condition)))))

(defun protected-p ()
  (let ((session (code-session)))
    (and session (session-protects-image session))))

(defun frame-of-caller ()
  "The innermost frame of the program's, from a function that this runtime has put around one of Lisp's."
  (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
        while frame
        unless (machinery-name-p (frame-name frame)) return frame))

(defun refuse-exit (operator)
  "Signal EXIT-REFUSED, with the caller of OPERATOR on top of the stack."
  (let ((sb-debug:*stack-top-hint* (frame-of-caller)))
    (error 'exit-refused :operator operator)))

(defun exit-guard (name)
  (lambda (exit &rest arguments)
    (when (protected-p) (refuse-exit name))
    (apply exit arguments)))

(defun terminate-unless-main (terminate thread &rest options)
  "The end of the main thread is that of the image."
  (when (and (eq thread (sb-thread:main-thread)) (protected-p))
    (refuse-exit 'sb-thread:terminate-thread))
  (apply terminate thread options))

(defun exit-functions ()
  (remove-if-not #'fboundp
                 (list* 'sb-ext:exit 'sb-ext:save-lisp-and-die 'swank:quit-lisp
                        (loop for (name package) in '(("QUIT" "SB-EXT") ("OS-EXIT" "SB-SYS"))
                              for symbol = (find-symbol name package)
                              when symbol collect symbol))))

(defun encapsulations ()
  "((NAME . FUNCTION) ...)"
  (list* (cons 'sb-thread:make-thread #'start-thread-of-code)
         (cons 'sb-ext:make-timer #'make-timer-of-code)
         (cons 'sb-thread:terminate-thread #'terminate-unless-main)
         (mapcar (lambda (name) (cons name (exit-guard name))) (exit-functions))))

(defun encapsulate-lisp ()
  (loop for (name . function) in (encapsulations)
        unless (sb-int:encapsulated-p name 'code-session)
          do (sb-int:encapsulate name 'code-session function)))

(defun unencapsulate-lisp ()
  (loop for (name) in (encapsulations) do (sb-int:unencapsulate name 'code-session)))

(defun protect-image ()
  "From now on the code of this client cannot end the image."
  (setf (session-protects-image (current-session)) t))
