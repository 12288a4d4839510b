;;;; Objects with their parts, which can be looked at in turn.

(defpackage #:swank-client/inspect-object
  (:documentation "Describes objects with their parts, and numbers the parts.")
  (:use #:common-lisp #:swank-client/sbcl-objects #:swank-client/threads #:swank-client/printing #:swank-client/waits #:swank-client/sessions
        #:swank-client/objects)
  (:import-from #:swank-client/connection #:make-printed)
  (:import-from #:swank-client/describe #:described-source)
  (:import-from #:swank-client/sbcl #:accessible-symbol)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now)
  (:export #:accessor-access
           #:element-access
           #:entry-access
           #:inspect-object
           #:object-entry
           #:object-text
           #:part
           #:part-access
           #:part-name
           #:part-value
           #:reference-text
           #:release-object
           #:slot-access
           #:with-client-code))
