;;;; Text of source files, and the forms in it.

(defpackage #:swank-client/sources
  (:documentation "Reads source files, and finds forms in their text without reading them: nothing is interned or evaluated.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:export #:analysis-format
           #:analysis-forms
           #:analysis-loaded-octets
           #:analysis-of-file
           #:analysis-stamp
           #:analysis-text
           #:conditional-p
           #:defined-text
           #:definition-head
           #:definition-line
           #:element-spans
           #:form-after
           #:form-number
           #:head-kind
           #:head-names-p
           #:line-start
           #:list-spans
           #:make-analysis
           #:map-tokens
           #:mentions-readtable-p
           #:make-top-level-form
           #:named-file
           #:operator-name
           #:package-marker
           #:position-of
           #:setf-text-p
           #:shown-file
           #:source-text
           #:stamp-date
           #:token-positions
           #:top-level-form
           #:top-level-form-gap
           #:top-level-form-start
           #:top-level-form-end
           #:top-level-forms))
