;;;; Numbers of objects, by which clients and code refer to them.

(defpackage #:swank-client/objects
  (:documentation "Numbers of objects, by which clients and code refer to them.")
  (:use #:common-lisp #:swank-client/sessions)
  (:export #:drop-lookup
           #:forget-objects
           #:kept-number
           #:new-number
           #:number-of
           #:numbered-values
           #:object-numbered
           #:own-containers
           #:release-number
           #:simple-value-p))
