;;;; Locks that a thread must not be stopped or broken off with.

(in-package #:@runtime@)

(defun own-lock-p (lock)
  (eq (sb-thread:mutex-owner lock) sb-thread:*current-thread*))

(defun holds-lock-p (package name)
  (let ((lock (find-symbol name package)))
    (and lock (boundp lock) (own-lock-p (symbol-value lock)))))

(defun holds-package-lock-p ()
  "True if every other reader of the image would wait for this thread."
  (holds-lock-p "SB-IMPL" "*PACKAGE-GRAPH-LOCK*"))

(defun holds-world-lock-p ()
  "True if this thread is changing what classes and generic functions are made of."
  (holds-lock-p "SB-KERNEL" "**WORLD-LOCK**"))

(defun holds-mailbox-p ()
  "True if this thread is sending or receiving for Swank, which up to 2.30 does not expect to be interrupted in that:
the next message that is sent in the interruption ends the image."
  (or (holds-lock-p "SWANK/SBCL" "*MAILBOX-LOCK*")
      (some (lambda (mailbox) (own-lock-p (swank/sbcl::mailbox.mutex mailbox))) swank/sbcl::*mailboxes*)))

;;; Locks of the C library. A thread that is unwound or stopped inside one of these calls never releases the lock, and the next thread that
;;; needs it waits forever: then nothing in the image can be compiled, and no stack can be looked at.

(defparameter *calls-under-c-locks*
  '(;; the compiler, and every look at a function's debugging information, where SBCL compresses that
    ("SB-C" "COMPRESS") ("SB-C" "DECOMPRESS")
    ;; every look at a stack with frames of C functions
    ("SB-SYS" "SAP-FOREIGN-SYMBOL"))
  "Package and name of functions of SBCL; no version has them all.")

(defun calls-under-c-locks ()
  (loop for (package name) in *calls-under-c-locks*
        for symbol = (find-symbol name package)
        when (and symbol (fboundp symbol)) collect symbol))

(defun call-without-interrupts (function &rest arguments)
  (sb-sys:without-interrupts (apply function arguments)))

(defun guard-c-locks ()
  "Let no interrupt into the calls that hold a lock of the C library, whichever thread makes them."
  (dolist (name (calls-under-c-locks))
    (unless (sb-int:encapsulated-p name 'guard-c-locks)
      (sb-int:encapsulate name 'guard-c-locks #'call-without-interrupts))))

(defun unguard-c-locks ()
  (dolist (name (calls-under-c-locks))
    (sb-int:unencapsulate name 'guard-c-locks)))
