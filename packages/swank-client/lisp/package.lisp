;;;; The runtime's package. Its name carries the version of the runtime's text, so that two versions never meet.

(defpackage #:@runtime@
  (:use #:common-lisp))
