;;;; The locks of SBCL. compat/sbcl.lisp exports their names.

(in-package #:swank-client/sbcl)

(defparameter *package-graph-lock-variable* (first (existing-symbols '(("SB-IMPL" "*PACKAGE-GRAPH-LOCK*"))))
  "SBCL's variable for the lock that guards all packages.")

(defun package-graph-lock ()
  "The lock that a thread holds while it changes packages or interns symbols, or NIL."
  (value-if-bound *package-graph-lock-variable*))

(defparameter *static-linker-lock-variable*
  (first (existing-symbols '(("SB-VM" "*STATIC-LINKER-LOCK*") ("SB-C" "*STATIC-LINKER-LOCK*"))))
  "SBCL's variable for the lock that guards direct calls in compiled code.")

(defun static-linker-lock ()
  "The lock that a thread holds while it changes direct calls in compiled code, or NIL."
  (value-if-bound *static-linker-lock-variable*))

(defparameter *world-lock-variable* (first (existing-symbols '(("SB-KERNEL" "**WORLD-LOCK**"))))
  "SBCL's variable for the lock that guards classes, generic functions and the compiler.")

(defun world-lock ()
  "The lock that a thread holds while it compiles or changes classes and generic functions, or NIL."
  (value-if-bound *world-lock-variable*))

(defun world-lock-taken-p ()
  "True if another thread holds the lock on classes, generic functions and the compiler."
  (let ((owner (and (world-lock) (sb-thread:mutex-owner (world-lock)))))
    (and owner (not (eq owner sb-thread:*current-thread*)))))

(defun awaited-mutex (thread)
  "The mutex that THREAD waits for, or NIL."
  ;; A wait with a timeout is a cons (TIMEOUT . MUTEX) on the stack of THREAD, which may leave the wait at any moment.
  (ignore-errors
   (sb-sys:without-gcing
     (let* ((wait (sb-thread::thread-waiting-for thread))
            (mutex (if (consp wait) (cdr wait) wait)))
       (and (eq wait (sb-thread::thread-waiting-for thread))
            (typep mutex 'sb-thread:mutex)
            mutex)))))
