;;; Two transfers that lock the same two accounts in opposite orders.

(defpackage #:deadlock
  (:use #:common-lisp)
  (:export #:run-transfers))

(in-package #:deadlock)

(defstruct account name (balance 100) lock)

(defun open-account (name)
  (make-account :name name :lock (sb-thread:make-mutex :name name)))

(defvar *savings* (open-account "savings"))
(defvar *current* (open-account "current"))
(defvar *locked* (sb-thread:make-semaphore) "Counts the transfers that have locked their first account.")

(defun move (amount from to)
  (decf (account-balance from) amount)
  (incf (account-balance to) amount)
  :done)

(defun transfer (amount from to)
  "Move AMOUNT while both accounts are locked, which may take an hour."
  (sb-thread:with-mutex ((account-lock from) :timeout 3600)
    (sb-thread:signal-semaphore *locked*)
    (sleep 0.5)
    (sb-thread:with-mutex ((account-lock to) :timeout 3600)
      (move amount from to))))

(defun start-transfer (name amount from to)
  (sb-thread:make-thread #'transfer :name name :arguments (list amount from to)))

(defun run-transfers ()
  "Make two transfers at once, and return their results."
  (let ((threads (list (start-transfer "to-current" 30 *savings* *current*)
                       (start-transfer "to-savings" 20 *current* *savings*))))
    (loop for thread in threads collect (sb-thread:join-thread thread :default :aborted))))
