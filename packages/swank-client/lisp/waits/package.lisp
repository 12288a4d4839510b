;;;; What threads wait for.

(defpackage #:swank-client/waits
  (:documentation "What threads wait for, and cycles of threads that wait for each other.")
  (:import-from #:swank-client/sbcl #:awaited-mutex)
  (:use #:common-lisp #:swank-client/sbcl-threads #:swank-client/threads #:swank-client/printing)
  (:export #:*interrupted-wait*
           #:blocker
           #:cycle-from
           #:deadlock-text
           #:named-text
           #:thread-number
           #:wait-cycles
           #:wait-of))
