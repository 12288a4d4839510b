(in-package #:postage)

(defparameter *bands* '((1/2 . 300) (2 . 500) (5 . 700) (20 . 1200))
  "The greatest weight of each band in kilograms, and its price in cents.")

;; The bands are sorted, so the first one that is not too light is the cheapest.
(defun band-price (weight)
  "Return the price of a parcel of WEIGHT kilograms."
  (cdr (find weight *bands* :test #'< :key #'car)))
