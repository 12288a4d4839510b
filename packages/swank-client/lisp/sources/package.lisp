;;;; Text of source files, and the forms in it.

(defpackage #:swank-client/sources
  (:documentation "Reads source files, and finds forms in their text without reading them: nothing is interned or evaluated.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:import-from #:swank-client/threads #:restore-guard-page)
  (:export #:analysis-format
           #:analysis-forms
           #:analysis-heads
           #:analysis-inner-heads
           #:analysis-loaded-octets
           #:analysis-of-file
           #:analysis-packages
           #:analysis-stamp
           #:analysis-text
           #:binary-text-p
           #:conditional-p
           #:defined-text
           #:definition-head
           #:definition-line
           #:element-spans
           #:file-stamp
           #:first-line-end
           #:first-position
           #:form-after
           #:form-number
           #:head-kind
           #:head-made-kind
           #:head-means-p
           #:head-names-p
           #:head-text
           #:head-uses-only-p
           #:line-start
           #:list-spans
           #:make-analysis
           #:make-top-level-form
           #:map-tokens
           #:mentions-readtable-p
           #:mentions-syntax-p
           #:named-file
           #:operator-name
           #:package-marker
           #:position-of
           #:settled-stamp-p
           #:shown-file
           #:source-text
           #:stamp-date
           #:text-head
           #:token-positions
           #:top-level-form
           #:top-level-form-end
           #:top-level-form-gap
           #:top-level-form-start
           #:top-level-forms))
