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
