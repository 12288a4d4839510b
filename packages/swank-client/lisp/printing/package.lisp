;;;; Text for people, and parsing of names that people write.

(defpackage #:swank-client/printing
  (:documentation "Prints any object for people, and parses names that people write.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank)
  (:export #:+line-elements+
           #:+line-levels+
           #:*printing-time*
           #:*printing-time-over-p*
           #:*value-length*
           #:*value-level*
           #:*value-limit*
           #:absolute-file-name
           #:array-text
           #:blank-p
           #:bounded-text
           #:data-values
           #:directory-of-image
           #:elided-by
           #:huge-number-p
           #:in-time
           #:line-text
           #:line-text-in-time
           #:name-cases
           #:on-one-line
           #:one-of-names-p
           #:parsed-name
           #:parsed-package
           #:print-value
           #:printed-values
           #:report-text
           #:reported-objects
           #:setf-text-p
           #:short-file-name
           #:trimmed
           #:truncated
           #:unprinted-text
           #:with-bounded-printing
           #:with-fast-number-printing
           #:with-fresh-printer-state
           #:with-initial-handlers
           #:with-name-syntax
           #:with-printing-time
           #:without-outer-handlers))
