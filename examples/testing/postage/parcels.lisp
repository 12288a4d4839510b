(in-package #:postage)

(defclass parcel ()
  ((weight :initarg :weight :reader weight :documentation "In kilograms.")))

(defmethod print-object ((parcel parcel) stream)
  (print-unreadable-object (parcel stream :type t)
    (format stream "~a kg" (weight parcel))))

(defclass insured-parcel (parcel)
  ((value :initarg :value :reader value :documentation "In cents.")))

(defclass express-parcel (parcel) ())

(defclass courier-parcel (express-parcel insured-parcel) ())

(defgeneric price (parcel)
  (:documentation "Return the price of sending PARCEL, in cents."))

(defmethod price ((parcel parcel))
  (band-price (weight parcel)))

(defmethod price ((parcel insured-parcel))
  (+ (call-next-method) (ceiling (value parcel) 100))) ; one percent of the value

(defmethod price ((parcel express-parcel))
  (+ (band-price (weight parcel)) 900)) ; the same for each weight

(defun total (parcels)
  "Return the price of sending all PARCELS, in cents."
  (reduce #'+ parcels :key #'price))
