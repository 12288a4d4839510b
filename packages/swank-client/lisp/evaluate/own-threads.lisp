;;;; Threads that a client's code starts belong to that client, and compile as its code does. The hooks for this are in place while there are clients.

(in-package #:swank-client/evaluate)

;;; The compiler's policy for evaluated code, and for what SBCL compiles of its own accord while such code runs.

(defvar *image-policy* nil "While evaluated code is compiled with the debug policy, the restrictions of policy that hold otherwise: (MIN MAX).")

(defun call-with-debug-policy (function)
  "Call FUNCTION so that code it evaluates is compiled with frames, variables and steps. Nothing else is affected."
  (let* ((policy (supported (list *policy-min* *policy-max*)))
         (*image-policy* (or *image-policy* policy)))
    (if (null policy)
        (funcall function)
        (progv (list* '*policy-min* '*policy-max* (when (eq sb-ext:*evaluator-mode* :interpret) '(sb-ext:*evaluator-mode*)))
               (append policy '(:compile))
          (sb-ext:restrict-compiler-policy 'debug 3)
          ;; at 3, each of these would override debug 3
          (dolist (quality '(speed space compilation-speed))
            (sb-ext:restrict-compiler-policy quality 0 2))
          (let ((*for-stepping* t)) (funcall function))))))

(defun compile-with-image-policy (compile &rest arguments)
  "Encapsulates the functions by which SBCL compiles the dispatch of a generic function when that is called: all threads will use the result.
With steps, the compiler would also print forms, which fails while the dispatch of PRINT-OBJECT is compiled: \"vicious metacircle\"."
  (if *image-policy*
      (progv '(*policy-min* *policy-max*) *image-policy* (apply compile arguments))
      (apply compile arguments)))

;;; Errors in a client's thread

(defun stop-without-client (condition)
  "Stop where the thread would have stopped without this library, because its client has disconnected."
  (let ((*debugger-hook* (sb-ext:symbol-global-value '*debugger-hook*))
        (sb-ext:*invoke-debugger-hook* (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)))
    (invoke-debugger condition)))

(defvar *end-of-thread* nil "What is told of the end of this thread to its client after the thread is unwound: a plist, or NIL.")

(defun end-of-thread (condition)
  "The end of this thread by CONDITION, a plist. :HELD is the lock because of which the thread may not stop, or empty."
  (list :thread (current-thread-id)
        :name (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*))
        :type (class-name-text (shown-class condition))
        :message (message-text condition)
        :held (or (held-lock-text) "")))

(defun notify-of-end (session end)
  "Notify SESSION's client of END, the end of one of its threads."
  (send (mconn.control-thread (session-connection session))
        (list :write-string "" (list :ended end))))

(defun stop-own-thread (session condition hook)
  "Stop this thread, which runs code of SESSION, at CONDITION, in the debugger of SESSION's client."
  (let ((*sldb-quit-restart* *outermost-restart*)
        (*stack-top-hint* (stack-top condition))
        ;; as in evaluations
        (*sldb-condition-printer* #'stop-message)
        (*sldb-initial-frames* 0)
        (*buffer-package* *package*))
    (with-fresh-printer-state
      (with-connection ((session-connection session))
        (swank-debugger-hook condition hook)))))

(defun enter-own-thread (condition hook)
  "The debugger hook of a thread that a client's code started."
  (let ((session (code-session)))
    (cond ((null session) (stop-without-client condition))
          ((or *code-unwinds* (must-not-stop-here-p))
           ;; a message cannot be sent from here: the thread may hold the lock that sending takes
           (setf *end-of-thread* (recording-faults (end-of-thread condition)))
           (invoke-restart *outermost-restart*))
          (t (stop-own-thread session condition hook)))))

(defun call-in-own-thread (session evaluation unwinds function arguments)
  "Apply FUNCTION to ARGUMENTS in a thread of SESSION's code, which EVALUATION started. Its errors end the thread if UNWINDS is true."
  (flet ((call ()
           (restart-case (let ((*outermost-restart* (find-restart 'abort)))
                           (return-from call-in-own-thread (call-own function arguments)))
             (abort () :report "End this thread"))))
    (with-code-of (session)
      (let ((*code-unwinds* unwinds)
            (*end-of-thread* nil)
            (*starting-evaluation* evaluation)
            (*condition-log* (and evaluation (evaluation-condition-log evaluation))))
        (call-with-thread-output session evaluation
                                 (lambda () (swank/backend:call-with-debugger-hook #'enter-own-thread #'call)))
        ;; the connection may have closed
        (when *end-of-thread* (recording-faults (notify-of-end session *end-of-thread*)))
        (restore-guard-page)
        (sb-thread:abort-thread)))))

(defun own-function (session function)
  "A function that a thread of SESSION's code calls in place of FUNCTION."
  (when *evaluation* (setf (evaluation-threaded *evaluation*) t))
  (let ((function (coerce function 'function))
        (evaluation (or *evaluation* *starting-evaluation*))
        (unwinds (if *evaluation* (evaluation-unwind *evaluation*) *code-unwinds*)))
    (lambda (&rest arguments) (call-in-own-thread session evaluation unwinds function arguments))))

;;; Encapsulations of Lisp's functions while a client is connected

(defun start-thread-of-code (make-thread function &rest options)
  "Encapsulates SB-THREAD:MAKE-THREAD: a thread that a session's code starts belongs to the session."
  (let ((session (code-session)))
    (apply make-thread (if session (own-function session function) function) options)))

(defun make-timer-of-code (make-timer function &rest options &key (thread nil thread-p) &allow-other-keys)
  "Encapsulates SB-EXT:MAKE-TIMER: a timer that may run in any thread runs in a new one, because an error would stop another's thread."
  (let ((session (code-session)))
    (cond ((not (and session thread-p)) (apply make-timer function options))
          ((member thread '(nil t)) (apply make-timer (own-function session function) :thread t options))
          (t (apply make-timer (foreign-thread-function session function) options)))))

(defun foreign-thread-function (session function)
  "A function that a thread outside SESSION calls in place of FUNCTION, which is SESSION's code.
If FUNCTION tries to end the image and may not, it is unwound, and the thread continues its own work."
  (let ((function (coerce function 'function))
        (errors *error-output*))
    (lambda (&rest arguments)
      (handler-case (with-code-of (session) (apply function arguments))
        (exit-refused (condition)
          (or-nil (format errors "~&~a~%" condition)))))))

(defun interrupt-by-code (interrupt thread function)
  "Encapsulates SB-THREAD:INTERRUPT-THREAD: in the other thread, too, FUNCTION is the session's code."
  (let ((session (code-session)))
    (funcall interrupt thread (if session (foreign-thread-function session function) function))))

(defun finalize-by-code (finalize object function &rest options)
  "Encapsulates SB-EXT:FINALIZE, whose function is called in a thread of SBCL."
  (let ((session (code-session)))
    (apply finalize object (if session (foreign-thread-function session function) function) options)))

(defun protected-p ()
  "True if this thread runs code that may not end the image."
  (let ((session (code-session)))
    (and session (session-protects-image session))))

(defun frame-of-caller ()
  "The innermost frame of the program. Called from an encapsulation of a function of Lisp."
  (loop for frame = (top-frame) then (frame-down frame)
        while frame
        unless (system-name-p (frame-name frame)) return frame))

(defun refuse-exit (operator)
  "Signal EXIT-REFUSED, with the caller of OPERATOR at the top of the stack."
  (let ((*stack-top-hint* (frame-of-caller)))
    (error 'exit-refused :operator operator)))

(defvar *ask-to-exit* nil "A function that asks the user whether OPERATOR may end the image with ARGUMENTS, or NIL.")

(defun exit-allowed-p (operator arguments)
  "True if this thread may end the image by calling OPERATOR with ARGUMENTS."
  (or (not (protected-p))
      (and *ask-to-exit* (funcall *ask-to-exit* operator arguments))))

(defun exit-guard (name)
  "The encapsulation of NAME, a function that ends the image."
  (lambda (exit &rest arguments)
    (unless (exit-allowed-p name arguments) (refuse-exit name))
    (if (protected-p)
        (with-code-of (nil) (apply exit arguments))
        (apply exit arguments))))

(defun terminate-unless-main (terminate thread &rest options)
  "Encapsulates SB-THREAD:TERMINATE-THREAD: the end of the main thread ends the image."
  (when (and (eq thread (sb-thread:main-thread)) (protected-p))
    (refuse-exit 'sb-thread:terminate-thread))
  (apply terminate thread options))

(defun debug-by-user (debug-nth-thread index)
  "Encapsulates SWANK:DEBUG-NTH-THREAD: the debugger of another client, such as Emacs, gets the frames of a thread that runs a session's
code. In such a thread, Swank would send none."
  (let ((connection *emacs-connection*)
        (thread (nth-thread index)))
    (if (or (null thread) (eq connection (value-in-thread '*emacs-connection* thread)))
        (funcall debug-nth-thread index)
        (queue-interrupt thread
                         (lambda ()
                           (with-connection (connection)
                             (let ((*sldb-condition-printer* (sb-ext:symbol-global-value '*sldb-condition-printer*))
                                   (*sldb-initial-frames* (sb-ext:symbol-global-value '*sldb-initial-frames*)))
                               (swank:simple-break))))))))

(defun encapsulations-for-all ()
  "((NAME . FUNCTION) ...) of the functions to encapsulate for all callers, and how: SBCL itself calls them, and so does code by their address that was
loaded before."
  (list* (cons 'sb-ext:exit (exit-guard 'sb-ext:exit))
         (append (loop for name in *dispatch-compilers* collect (cons name #'compile-with-image-policy))
                 (loop for name in *step-signallers* collect (cons name #'signal-step)))))

(defun encapsulations ()
  "((NAME . FUNCTION) ...) of the functions to encapsulate for callers by name, and how."
  (list* (cons 'load #'load-by-code)
         (cons 'compile-file #'compile-by-code)
         (cons 'sb-thread:make-thread #'start-thread-of-code)
         (cons 'sb-ext:make-timer #'make-timer-of-code)
         (cons 'sb-thread:terminate-thread #'terminate-unless-main)
         (cons 'sb-thread:interrupt-thread #'interrupt-by-code)
         (cons 'sb-ext:finalize #'finalize-by-code)
         (cons 'swank:debug-nth-thread #'debug-by-user)
         (mapcar (lambda (name) (cons name (exit-guard name)))
                 (cons 'swank:quit-lisp (remove 'sb-ext:exit *exit-functions*)))))

(defun encapsulate-lisp ()
  "Encapsulate Lisp's functions."
  (flet ((encapsulate-all (encapsulate list)
           (loop for (name . function) in list
                 unless (supported (encapsulated-p name 'code-session))
                   do (supported (funcall encapsulate name 'code-session function)))))
    (encapsulate-all #'encapsulate-function (encapsulations-for-all))
    (encapsulate-all #'encapsulate-calls-by-name (encapsulations))))

(defun unencapsulate-lisp ()
  "Undo ENCAPSULATE-LISP."
  (loop for (name) in (encapsulations-for-all) do (unencapsulate-function name 'code-session))
  (loop for (name) in (encapsulations) do (unencapsulate-calls-by-name name 'code-session)))

(defun begin-session (&key protect-image tell-threads tell-forms)
  "Make code of this client unable to end the image if PROTECT-IMAGE. Tell the client what its threads print if TELL-THREADS, and the forms that
define something if TELL-FORMS."
  (let ((session (current-session)))
    (setf (session-protects-image session) protect-image
          (session-threads-told session) tell-threads
          (session-forms-told session) tell-forms)))

;;; Installs hooks and encapsulations for the first client, and uninstalls them after the last.

(defparameter *closing-hooks* '(restore-process-output clean-up) "Functions that Swank calls with a connection that has closed.")

(defun without-closing-hooks (hooks)
  "HOOKS without those of this library."
  (remove-if (lambda (hook) (member hook *closing-hooks*)) hooks))

(defun add-hooks ()
  "Install hooks and encapsulations. Each update is atomic, here and in UNINSTALL-UNLESS-NEEDED, because other code changes the lists too."
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*)
                        (lambda (hooks) (append *closing-hooks* (without-closing-hooks hooks))))
  ;; the Emacs that received the output may have disconnected before
  (restore-process-output)
  (encapsulate-lisp)
  (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (adjoin 'prepare-exit hooks))))

(pushnew 'add-hooks *arrival-hooks*)

(defun uninstall-unless-needed ()
  "Uninstall hooks and encapsulations if no client is left."
  (sb-ext:with-locked-hash-table (*sessions*)
    (unless (clients-p)
      (unencapsulate-lisp)
      (retract-swank)
      (forget-texts)
      (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) #'without-closing-hooks)
      (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (remove 'prepare-exit hooks)))
      ;; the flusher then finds no more work
      (sb-thread:signal-semaphore *flusher-wakeup*))))
