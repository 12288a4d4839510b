;;;; Descriptions of symbols.

(defpackage #:swank-client/describe
  (:documentation "Describes what a symbol means.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/threads #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:import-from #:swank-client/stops #:effective-methods #:generic-function-named #:method-entries #:required-count #:source-forms)
  (:export #:describe-name))
