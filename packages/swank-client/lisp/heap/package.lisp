;;;; What is in the heap, what has grown, and what keeps an object alive.

(defpackage #:swank-client/heap
  (:documentation "Counts what is in the heap, finds instances, and finds what keeps them alive.")
  (:use #:common-lisp #:swank-client/sbcl-clock #:swank-client/sbcl-objects #:swank-client/sbcl-heap #:swank-client/sbcl-references
        #:swank-client/threads #:swank-client/printing #:swank-client/waits #:swank-client/sessions #:swank-client/objects
        #:swank-client/inspect-object)
  (:import-from #:swank-client/trace #:call-measured-code #:compiled-code #:value-texts)
  (:import-from #:swank-client/sbcl #:runtime-package-p)
  (:import-from #:swank-client/describe #:data-readtable #:read-without-interning)
  (:export #:heap-growth
           #:heap-instances
           #:heap-path
           #:heap-summary
           #:run-code))
