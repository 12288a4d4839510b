;;;; Descriptions of symbols.

(defpackage #:swank-client/describe
  (:documentation "Describes what a symbol means.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/threads #:swank-client/printing #:swank-client/ledger #:swank-client/sessions
        #:swank-client/sources)
  (:import-from #:swank-client/stops #:effective-methods #:generic-function-named #:method-entries #:required-count #:source-forms)
  (:export #:*call*
           #:arglist-text
           #:call-with-named
           #:class-kind
           #:data-readtable
           #:describe-name
           #:described-source
           #:documentation-text
           #:function-kind
           #:home-package
           #:methods-called
           #:package-not-found
           #:prefix-of-unknown
           #:read-without-interning))
