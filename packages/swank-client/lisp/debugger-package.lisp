;;;; The debugger's package.

(defpackage #:@module@
  (:use #:common-lisp)
  (:import-from #:@runtime@
                #:*breakpoint-call* #:*breakpoint-variables* #:*departure-hooks* #:*evaluation* #:*in-user-code* #:breakpoint-reached #:breakpoint-wrapper-p
                #:class-name-text #:count-frames #:current-session #:evaluation-session #:frame-kinds #:frame-name #:frame-text #:frame-variables
                #:line-text #:on-one-line #:report-text #:session-package-now #:shown-class #:value-text
                #:with-bounded-printing))
