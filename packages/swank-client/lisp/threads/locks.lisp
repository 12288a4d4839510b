;;;; Locks that a thread must not hold when it is stopped or unwound.

(in-package #:swank-client/threads)

(defun own-lock-p (lock)
  "True if this thread holds LOCK. LOCK is NIL if this Lisp has no such lock."
  (and lock (eq (sb-thread:mutex-owner lock) sb-thread:*current-thread*)))

(defun holds-package-lock-p ()
  "True if this thread holds the lock on packages, which every reader in the image needs."
  (own-lock-p (package-graph-lock)))

(defun holds-linker-lock-p ()
  "True if this thread holds the linker's lock, without which nothing can be compiled, not even for the debugger."
  (own-lock-p (static-linker-lock)))

(defun holds-world-lock-p ()
  "True if this thread is compiling, or changing classes or generic functions."
  (own-lock-p (world-lock)))

(defun holds-mailbox-p ()
  "True if this thread holds the lock of one of Swank's mailboxes.
Swank up to 2.30 does not expect an interrupt there: a message sent during the interrupt ends the image."
  (or (own-lock-p (mailbox-lock))
      (some (lambda (mailbox) (own-lock-p (mailbox.mutex mailbox))) *mailboxes*)))

(defun held-lock-text ()
  "The lock that this thread holds and others, or the debugger, need while it is stopped, in words; or NIL."
  (cond ((holds-package-lock-p) "the lock on packages")
        ((holds-linker-lock-p) "the linker's lock")
        ((holds-mailbox-p) "a lock of Swank's mailboxes")))

(defun must-not-stop-here-p ()
  "True if this thread holds a lock that others, or the debugger, need while it is stopped."
  (and (held-lock-text) t))

;;; Other threads

(defun value-in-thread (symbol thread)
  "The value that THREAD binds SYMBOL to, or NIL if it has no binding or has ended."
  (values (ignore-errors (sb-thread:symbol-value-in-thread symbol thread nil))))

(defun debugger-level (thread)
  "The level of THREAD in Swank's debugger, 0 outside."
  (or (value-in-thread '*sldb-level* thread) 0))
