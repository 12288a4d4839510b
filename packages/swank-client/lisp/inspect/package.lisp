;;;; Inspectors.

(defpackage #:swank-client/inspect
  (:documentation "Inspectors of clients, which share no state with each other or with Emacs's inspector.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/printing #:swank-client/sessions)
  (:import-from #:swank-client/stops #:value-of-source)
  (:export #:call-action
           #:close-inspector
           #:describe-inspected
           #:inspect-part
           #:inspect-value
           #:inspected-parts
           #:refresh-inspector))
