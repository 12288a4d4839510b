(defpackage #:shop
  (:use #:common-lisp)
  (:export #:price #:total))

(in-package #:shop)

(defun price (item)
  "The price of ITEM in cents."
  (getf item :price))

(defun total (items)
  "What all ITEMS cost."
  (loop for item in items
        sum (* (price item) (getf item :count 1))))
