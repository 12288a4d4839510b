;;; A race between two threads: each reads the balance before the other has changed it.

(defpackage #:race
  (:use #:common-lisp)
  (:export #:start-withdrawals))

(in-package #:race)

(defvar *balance* 0)
(defvar *lock* (sb-thread:make-mutex :name "account"))

(defun approve (amount balance)
  (>= balance amount))

(defun withdraw (amount)
  (let ((balance *balance*))
    (if (approve amount balance)
        (progn (setf *balance* (- balance amount))
               :paid)
        :refused)))

(defun start-withdrawals (amount)
  "Start two threads that withdraw AMOUNT each, and return them as a list."
  (loop for name in '("first" "second")
        collect (sb-thread:make-thread #'withdraw :name name :arguments (list amount))))
