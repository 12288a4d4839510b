;;; A race between two threads: each looks at the balance before the other has changed it.

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
  "Two threads that withdraw AMOUNT each."
  (loop for name in '("first" "second")
        collect (sb-thread:make-thread #'withdraw :name name :arguments (list amount))))
