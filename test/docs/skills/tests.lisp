(defpackage #:shop-tests
  (:use #:common-lisp #:fiveam #:shop))

(in-package #:shop-tests)

(def-suite shop)
(in-suite shop)

(test nothing-costs-nothing
  (is (= 0 (total '()))))

(test items-count
  (is (= 10 (total '((:price 3 :count 2) (:price 4))))))
