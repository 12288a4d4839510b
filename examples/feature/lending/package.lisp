(defpackage #:lending
  (:use #:common-lisp)
  (:export #:book #:title #:borrower #:not-available #:lend #:give-back #:fine))
