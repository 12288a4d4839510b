;;;; The locks of SBCL, and the one that a thread waits for.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-locks
  (:documentation "The locks of SBCL.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:existing-symbols #:value-if-bound)
  (:functions #:sb-thread #:thread-waiting-for)
  (:export #:awaited-mutex #:package-graph-lock #:static-linker-lock #:with-system-mutex #:world-lock #:world-lock-taken-p))

(in-package #:swank-client/sbcl-locks)

(defmacro with-system-mutex ((mutex &rest options) &body body)
  "Evaluate BODY, holding MUTEX, without interrupts."
  (let ((operator (find-symbol "WITH-SYSTEM-MUTEX" "SB-THREAD")))
    (if (and operator (macro-function operator))
        `(,operator (,mutex ,@options) ,@body)
        `(sb-sys:without-interrupts (sb-thread:with-mutex (,mutex) ,@body)))))

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
     (let* ((wait (thread-waiting-for thread))
            (mutex (if (consp wait) (cdr wait) wait)))
       (and (eq wait (thread-waiting-for thread))
            (typep mutex 'sb-thread:mutex)
            mutex)))))
