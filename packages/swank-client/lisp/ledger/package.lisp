;;;; The definitions that a session's code has made.

(defpackage #:swank-client/ledger
  (:documentation "Records the definitions that a session's code has made.")
  (:use #:common-lisp #:swank-client/sbcl)
  (:export #:confirm-definitions
           #:confirmed-p
           #:current-definition
           #:defined-thing
           #:defining-kind
           #:definition-source
           #:entry
           #:entry-foreign
           #:entry-kind
           #:entry-name
           #:entry-origin
           #:entry-redefined
           #:entry-valued
           #:file-octets
           #:forget-load
           #:forget-text
           #:ledger
           #:ledger-assigned
           #:ledger-entries
           #:ledger-loads
           #:ledger-lock
           #:ledger-origins
           #:ledger-pending
           #:ledger-removed
           #:loaded-octets
           #:loaded-text-files
           #:make-compiled-origin
           #:make-ledger
           #:method-name
           #:methods-of
           #:name-p
           #:note-assignments
           #:note-defining-form
           #:note-load
           #:note-loaded-text
           #:note-removals
           #:note-saved-origin
           #:note-seen-text
           #:note-text
           #:own-origin-p
           #:place-file
           #:place-number
           #:replaced-date
           #:replaced-place
           #:saved-file
           #:source-kinds
           #:source-origin
           #:specializer-name
           #:text-loaded-p))
