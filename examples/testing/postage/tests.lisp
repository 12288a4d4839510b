(defpackage #:postage-tests
  (:use #:common-lisp #:fiveam #:postage))

(in-package #:postage-tests)

(def-suite postage :description "Prices of parcels.")
(in-suite postage)

(test insurance
  (let ((parcel (make-instance 'insured-parcel :weight 1 :value 5000)))
    (is (= 550 (price parcel)))))

(test express
  (let ((parcel (make-instance 'express-parcel :weight 1)))
    (is (= 1400 (price parcel)))))

(test total-of-two
  (let ((light (make-instance 'parcel :weight 1/4))
        (heavy (make-instance 'parcel :weight 20)))
    (is (= 1500 (total (list light heavy))))))

(test greatest-weight-of-a-band
  (let ((parcel (make-instance 'parcel :weight 2)))
    (is (= 500 (price parcel)))))

(test courier
  (let ((parcel (make-instance 'courier-parcel :weight 1 :value 5000)))
    (is (= 1450 (price parcel)))))
