;;;; Descriptions of symbols.

(defpackage #:swank-client/describe
  (:documentation "Describes what a symbol means.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/threads #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:export #:describe-name))
