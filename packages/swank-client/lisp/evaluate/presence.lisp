;;;; Installs hooks and encapsulations for the first client, and uninstalls them after the last.

(in-package #:swank-client/evaluate)

(defparameter *closing-hooks* '(restore-process-output clean-up) "Functions that Swank calls with a connection that has closed.")

(defun without-closing-hooks (hooks)
  "HOOKS without those of this library."
  (remove-if (lambda (hook) (member hook *closing-hooks*)) hooks))

(defun prepare-arrival ()
  "Begin to prepare the encapsulations in a thread of its own, because the first evaluation would wait for it."
  (when (some #'called-directly-p *encapsulated-for-all*)
    (start-runtime-thread #'prepare-encapsulations "swank-client preparation"))
  nil)

(defun add-hooks ()
  "Install hooks and encapsulations. Each update is atomic, here and in UNINSTALL-UNLESS-NEEDED, because other code changes the lists too."
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*)
                        (lambda (hooks) (append *closing-hooks* (without-closing-hooks hooks))))
  ;; the Emacs that received the output may have disconnected before
  (restore-process-output)
  (encapsulate-lisp)
  (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (adjoin 'send-remaining-output hooks))))

(pushnew 'add-hooks *arrival-hooks*)

;;; ASDF does not know a Swank that it did not load. It would load another one over it for a system that depends on it, and then stops are lost.

(defvar *swank-announced* nil "True if ASDF was told that Swank is loaded, and has to forget that when the last client disconnects.")

(defun asdf-table (name)
  "ASDF's table of systems in the variable NAME, or NIL."
  (let ((table (value-if-loaded "ASDF/SYSTEM-REGISTRY" name)))
    (and (hash-table-p table) table)))

(defun swank-definition ()
  "The file that defines the system of the loaded Swank, or NIL."
  (let ((folder (value-if-loaded "SWANK-LOADER" "*SOURCE-DIRECTORY*")))
    (and folder (probe-file (merge-pathnames "swank.asd" folder)))))

(defun swank-version ()
  "The version of the loaded Swank as ASDF compares versions, or NIL."
  (let ((version (value-if-loaded "SWANK" "*SWANK-WIRE-PROTOCOL-VERSION*")))
    (and (stringp version) (every (lambda (char) (find char "0123456789.")) version) version)))

(defun announce-swank ()
  "Tell ASDF, if it is loaded, that Swank is loaded, so that it loads no other."
  (unless (or *swank-announced* (not (find-package "ASDF")))
    (ignore-errors
     (let ((immutable (asdf-table "*IMMUTABLE-SYSTEMS*")) (version (swank-version)) (definition (swank-definition)))
       (unless (and immutable (gethash "swank" immutable))
         (setf *swank-announced* t)
         ;; a system whose definition was found, but that was not loaded, would be loaded all the same
         (unless (ignore-errors (call-if-loaded "ASDF" "COMPONENT-LOADED-P" "swank"))
           (call-if-loaded "ASDF" "CLEAR-SYSTEM" "swank"))
         (apply #'call-if-loaded "ASDF" "REGISTER-IMMUTABLE-SYSTEM" "swank"
                (append (and version (list :version version))
                        (and definition (list :source-file definition)))))))))

(defun retract-swank ()
  "Make ASDF forget what ANNOUNCE-SWANK told it."
  (when (shiftf *swank-announced* nil)
    (ignore-errors
     (loop for name in '("*IMMUTABLE-SYSTEMS*" "*PRELOADED-SYSTEMS*")
           for table = (asdf-table name)
           when table do (remhash "swank" table))
     (unless (call-if-loaded "ASDF" "COMPONENT-CHILDREN" (call-if-loaded "ASDF" "REGISTERED-SYSTEM" "swank"))
       (call-if-loaded "ASDF" "CLEAR-SYSTEM" "swank")))))

(defun uninstall-unless-needed ()
  "Uninstall hooks and encapsulations if no client is left."
  (sb-ext:with-locked-hash-table (*sessions*)
    (unless (clients-p)
      (unencapsulate-lisp)
      (retract-swank)
      (forget-texts)
      (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) #'without-closing-hooks)
      (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (remove 'send-remaining-output hooks)))
      ;; the flusher then finds no more work
      (sb-thread:signal-semaphore *flusher-wakeup*))))
