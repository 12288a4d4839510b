;;; A bad slot value in a pipeline of CLOS objects: one stage writes it, and another stage fails because of it.

(defpackage #:pipeline
  (:use #:common-lisp)
  (:export #:turnover))

(in-package #:pipeline)

(defclass order ()
  ((id :initarg :id :reader id)
   (amount :initarg :amount :reader amount)
   (currency :initarg :currency :reader currency)
   (rate :initform 1 :accessor rate)
   (total :initform 0 :accessor total)))

(defmethod print-object ((order order) stream)
  (print-unreadable-object (order stream :type t)
    (format stream "~d" (id order))))

(defparameter *rates* '(("EUR" . 1) ("USD" . 9/10) ("GBP" . 6/5)))

(defun rate-of (currency)
  (cdr (assoc currency *rates* :test #'string=)))

(defgeneric run-stage (stage order))

(defmethod run-stage ((stage (eql :convert)) (order order))
  (setf (rate order) (rate-of (currency order))))

(defmethod run-stage ((stage (eql :add-up)) (order order))
  (setf (total order) (* (amount order) (rate order))))

(defun process (order)
  (dolist (stage '(:convert :add-up) (total order))
    (run-stage stage order)))

(defun turnover (orders)
  "Return the value in euros of ORDERS, lists of an id, an amount and a currency."
  (loop for (id amount currency) in orders
        sum (process (make-instance 'order :id id :amount amount :currency currency))))
