;;;; Locks of the C library. A thread that is unwound or stopped inside one of these calls never releases the lock, and the next thread
;;;; that needs it waits forever. Then nothing can be compiled in the image, and no stack can be read.

(in-package #:swank-client/threads)

(defun call-without-interrupts (function &rest arguments)
  "Apply FUNCTION to ARGUMENTS without interrupts."
  (sb-sys:without-interrupts (apply function arguments)))

(defun guard-c-locks ()
  "Disable interrupts, in every thread, during calls that hold a lock of the C library."
  (dolist (name *functions-under-c-locks*)
    (unless (sb-int:encapsulated-p name 'guard-c-locks)
      (encapsulate-function name 'guard-c-locks #'call-without-interrupts))))

(defun unguard-c-locks ()
  "Undo GUARD-C-LOCKS."
  (dolist (name *functions-under-c-locks*)
    (unencapsulate-function name 'guard-c-locks)))
