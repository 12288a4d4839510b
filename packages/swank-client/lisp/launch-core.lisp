;;;; Saving a core that starts as an image which serves its parent.

(in-package "SWANK-CLIENT.LAUNCH")

(defun load-runtime (text)
  "Load Lisp text without what the compiler says about it. Errors are told: they tell why there is no core."
  (handler-bind (((or warning sb-ext:compiler-note) #'muffle-warning))
    (load (make-string-input-stream text))))

(defun socket-pair ()
  (sb-alien:with-alien ((ends (array sb-alien:int 2)))
    (let ((status (sb-alien:alien-funcall
                   (sb-alien:extern-alien "socketpair" (function sb-alien:int sb-alien:int sb-alien:int sb-alien:int
                                                                 (* (array sb-alien:int 2))))
                   1 1 0 (sb-alien:addr ends))))
      (unless (zerop status) (error "No socketpair: ~a" (sb-int:strerror)))
      (values (sb-alien:deref ends 0) (sb-alien:deref ends 1)))))

(defun request (form id stream)
  "Have Swank evaluate FORM as a client would, and wait for its reply."
  (let ((package swank::*swank-io-package*))
    (swank/rpc:write-message `(:emacs-rex ,form "COMMON-LISP-USER" t ,id) package stream)
    (loop for message = (swank/rpc:read-message stream package)
          until (eq (first message) :return)
          when (eq (first message) :debug) do (error "~s stopped: ~s" form (fourth message)))))

(defun other-threads ()
  (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))

(defun end-threads ()
  "A core can only be saved when no other thread is left."
  (loop repeat 100
        while (other-threads) do (sleep 1/20))
  (dolist (thread (other-threads))
    (ignore-errors (sb-thread:terminate-thread thread))
    (sb-thread:join-thread thread :default nil :timeout 5)))

(defun warm-up (forms)
  "Serve a connection once. What the first call of a generic function costs is then paid, and saved with the core."
  (multiple-value-bind (here there) (socket-pair)
    (let ((client (socket-stream here)))
      (start-swank (socket-stream there))
      (loop for form in (list* '(swank:connection-info) '(swank:eval-and-grab-output "(list 1)") forms)
            for id from 1
            do (request form id client))
      (setf *connection* nil)
      (close client))
    (end-threads)))

(defun read-wire-form (text)
  (let ((*package* swank::*swank-io-package*))
    (read-from-string text)))

(defun forget-this-process ()
  (setf swank::*log-output* nil
        swank::*event-history-index* 0)
  (fill swank::*event-history* nil)
  (when (find-package "UIOP") (uiop-call "CALL-IMAGE-DUMP-HOOK")))

(defun start-from-core (greeting home)
  (close-inherited)
  ;; where REQUIRE looks; left alone, a core that is not SBCL's own takes a folder `contrib` of the current one for it
  (setf sb-sys::*sbcl-homedir-pathname* home)
  (serve (parse-integer (second sb-ext:*posix-argv*)) greeting))

(defun give-up (condition)
  "End the build. By now errors enter Swank's debugger, where this one would wait for a client."
  (format *error-output* "~&Warming up failed: ~a~%" condition)
  (finish-output *error-output*)
  (sb-ext:exit :code 1 :abort t))

(defun save-core (file greeting warm-up-forms)
  "Save this image to FILE, to be started with its parent's process id as its only argument."
  (prepare-swank)
  (handler-bind ((error #'give-up)) (warm-up (mapcar #'read-wire-form warm-up-forms)))
  (forget-this-process)
  (let ((home (sb-int:sbcl-homedir-pathname)))
    (sb-ext:save-lisp-and-die file :toplevel (lambda () (start-from-core greeting home)))))
