(defpackage #:postage
  (:use #:common-lisp)
  (:export #:parcel #:insured-parcel #:express-parcel #:courier-parcel #:price #:total))
