;;;; The package of what is told about symbols.

(defpackage #:@module@
  (:use #:common-lisp)
  (:import-from #:@runtime@
                #:*value-length* #:blank-p #:current-session #:definition-source #:elision #:heal-stack #:huge-number-p #:methods-of #:on-one-line
                #:print-value #:session-history #:session-package-now #:session-readtable #:truncated #:with-bounded-printing))
