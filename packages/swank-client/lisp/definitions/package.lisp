;;;; Lists the definitions of a session, and resets the session.

(defpackage #:swank-client/definitions
  (:documentation "Lists the definitions of a session, and undoes them.")
  (:use #:common-lisp #:swank-client/threads #:swank-client/printing #:swank-client/ledger #:swank-client/sessions)
  (:import-from #:swank-client/sbcl #:user-package)
  (:export #:definitions
           #:reset))
