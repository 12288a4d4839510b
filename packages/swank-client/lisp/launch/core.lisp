;;;; Saves a core that starts as an image which serves its parent process.

(in-package #:swank-client/launch)

(defun load-runtime (text)
  "Load Lisp text without the compiler's messages. Errors are reported: they explain why no core was saved."
  (handler-bind (((or warning sb-ext:compiler-note) #'muffle-warning))
    (load (make-string-input-stream text))))

(defun send-request (form id stream)
  "Send FORM to Swank as a client would, and wait for the reply."
  (let ((package *swank-io-package*))
    (swank/rpc:write-message `(:emacs-rex ,form "COMMON-LISP-USER" t ,id) package stream)
    (loop for message = (swank/rpc:read-message stream package)
          until (eq (first message) :return)
          when (eq (first message) :debug) do (error "~s stopped: ~s" form (fourth message)))))

(defun other-threads ()
  "All threads but this one."
  (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))

(defun end-threads ()
  "End all other threads, because a core can only be saved in a process with one thread."
  (loop repeat 100
        while (other-threads) do (sleep 1/20))
  (dolist (thread (other-threads))
    (ignore-errors (sb-thread:terminate-thread thread))
    (sb-thread:join-thread thread :default nil :timeout 5)))

(defun warm-up (forms)
  "Serve one connection, so that the core holds the results of the first calls of generic functions, which are slow."
  (multiple-value-bind (here there) (socket-pair)
    (let ((client (socket-stream here)))
      (start-swank (socket-stream there))
      (loop for form in (list* '(swank:connection-info) '(swank:eval-and-grab-output "(list 1)") forms)
            for id from 1
            do (send-request form id client))
      (setf *connection* nil)
      (close client))
    (end-threads)))

(defun read-wire-form (text)
  "The form that Swank reads from TEXT."
  (let ((*package* *swank-io-package*))
    (read-from-string text)))

(defun forget-this-process ()
  "Clear state of this process that the core must not keep."
  (setf *log-output* nil
        *event-history-index* 0)
  (fill *event-history* nil)
  (call-if-loaded "UIOP" "CALL-IMAGE-DUMP-HOOK"))

(defun start-from-core (greeting home)
  "Run the image that was started from a core. HOME is the folder of SBCL's modules."
  (close-inherited)
  ;; where REQUIRE looks; by default a custom core looks in the folder `contrib` of the current folder
  (set-homedir home)
  (serve (parse-integer (second sb-ext:*posix-argv*)) greeting))

(defun give-up (condition)
  "End the build. Otherwise the error would enter Swank's debugger and wait for a client."
  (format *error-output* "~&Warming up failed: ~a~%" condition)
  (finish-output *error-output*)
  (sb-ext:exit :code 1 :abort t))

(defun functions-encapsulated-by (warm-up)
  "Call WARM-UP. => the names of the functions that it encapsulates, and of those that a client's first definition does
Saving a core makes calls direct. SBCL would have to search all code for those of each such function before it encapsulates the function."
  (setf (get :swank-client :encapsulated-for-core)
        (list :names 'definition-source-for-emacs 'emacs-buffer-source-location))
  (funcall warm-up)
  (prog1 (rest (get :swank-client :encapsulated-for-core))
    (remprop :swank-client :encapsulated-for-core)))

(defun save-core (file greeting warm-up-forms)
  "Save this image to FILE, to be started with its parent's process id as its only argument."
  (prepare-swank)
  (keep-called-by-name (functions-encapsulated-by
                        (lambda ()
                          (handler-bind ((error #'give-up)) (warm-up (mapcar #'read-wire-form warm-up-forms))))))
  (forget-this-process)
  (let ((home (sbcl-homedir-pathname)))
    (sb-ext:save-lisp-and-die file :toplevel (lambda () (start-from-core greeting home)))))
