;;;; Installs hooks and encapsulations for the first client, and uninstalls them after the last.

(in-package #:swank-client/evaluate)

(defparameter *closing-hooks* '(restore-process-output clean-up) "Functions that Swank calls with a connection that has closed.")

(defun without-closing-hooks (hooks)
  "HOOKS without those of this library."
  (remove-if (lambda (hook) (member hook *closing-hooks*)) hooks))

(defparameter *direct-calls-of-core* (known-direct-calls *encapsulated-for-all*)
  "The calls by address that need not be searched for in images of the core that this was compiled in, or NIL.")

(defun prepare-direct-calls ()
  "Make SBCL's own code call the functions to encapsulate by name, which takes most of the time to install the hooks."
  (prepare-encapsulations *encapsulated-for-all* *direct-calls-of-core*))

(defun prepare-arrival ()
  "Do that now, in a thread of its own, because the first evaluation would wait for it."
  (when (some #'called-directly-p *encapsulated-for-all*)
    (start-runtime-thread #'prepare-direct-calls "swank-client preparation"))
  nil)

(defun add-hooks ()
  "Install hooks and encapsulations. Each update is atomic, here and in UNINSTALL-UNLESS-NEEDED, because other code changes the lists too."
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*)
                        (lambda (hooks) (append *closing-hooks* (without-closing-hooks hooks))))
  ;; the Emacs that received the output may have disconnected before
  (restore-process-output)
  (prepare-direct-calls)
  (encapsulate-lisp)
  (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (adjoin 'send-remaining-output hooks)))
  (guard-c-locks))

(pushnew 'add-hooks *arrival-hooks*)

(defun uninstall-unless-needed ()
  "Uninstall hooks and encapsulations if no client is left."
  (sb-ext:with-locked-hash-table (*sessions*)
    (unless (clients-p)
      (unencapsulate-lisp)
      (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) #'without-closing-hooks)
      (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (remove 'send-remaining-output hooks)))
      (unguard-c-locks)
      ;; the flusher then finds no more work
      (sb-thread:signal-semaphore *flusher-wakeup*))))
