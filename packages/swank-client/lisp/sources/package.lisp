;;;; Text of source files, and the forms in it.

(defpackage #:swank-client/sources
  (:documentation "Reads source files, and finds forms in their text without reading them: nothing is interned or evaluated.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:export #:defined-text
           #:definition-head
           #:definition-line
           #:element-spans
           #:form-after
           #:form-number
           #:form-start
           #:head-kind
           #:head-names-p
           #:line-start
           #:list-spans
           #:named-file
           #:operator-name
           #:position-of
           #:setf-text-p
           #:shown-file
           #:source-text
           #:token-positions
           #:top-level-form
           #:top-level-form-gap
           #:top-level-form-start
           #:top-level-form-end
           #:top-level-forms))
