;;;; Swank's backend for SBCL: mailboxes of threads, frames and places of definitions.

(defpackage #:swank-client/sbcl-swank
  (:documentation "Swank's backend for SBCL.")
  (:use #:common-lisp)
  (:import-from #:swank/sbcl #:*mailboxes* #:*sldb-stack-top* #:definition-source-for-emacs #:emacs-buffer-source-location #:mailbox.mutex
                             #:mailbox.queue #:mailbox.thread #:nth-frame)
  (:export #:*mailboxes* #:*sldb-stack-top* #:definition-source-for-emacs #:emacs-buffer-source-location #:mailbox-lock #:mailbox.mutex
           #:mailbox.queue #:mailbox.thread #:nth-frame))

(in-package #:swank-client/sbcl-swank)

(defparameter *mailbox-lock-variable* (find-symbol "*MAILBOX-LOCK*" "SWANK/SBCL")
  "The variable for the lock that guards the list of mailboxes.")

(defun mailbox-lock ()
  "The lock that guards the list of mailboxes, or NIL."
  (let ((variable *mailbox-lock-variable*))
    (and variable (boundp variable) (symbol-value variable))))
