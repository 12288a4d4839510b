;;;; The package of what is told about symbols.

(defpackage #:@module@
  (:use #:common-lisp)
  (:import-from #:@runtime@
                #:*session-variables* #:*value-length* #:current-session #:definition-source #:elision #:heal-stack #:huge-number-p #:in-time
                #:methods-of #:on-one-line #:parsed-name #:parsed-package #:print-value #:session-package-now #:session-readtable
                #:session-values #:take-over-stack #:truncated #:with-bounded-printing #:with-code-of #:with-printing-time #:with-session-variables))
