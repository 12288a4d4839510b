;;;; The definitions that a session's code has made.

(defpackage #:swank-client/ledger
  (:documentation "Records the definitions that a session's code has made.")
  (:use #:common-lisp #:swank-client/sbcl)
  (:export #:changed-system-definitions
           #:changed-at
           #:compiled-after-p
           #:confirm-definitions
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
           #:files-saved-to
           #:forget-texts
           #:ledger
           #:ledger-assigned
           #:ledger-entries
           #:ledger-loads
           #:ledger-lock
           #:ledger-origins
           #:ledger-pending
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
           #:load-unfinished-p
           #:note-compiled-text
           #:note-load-begun
           #:note-load-ended
           #:note-system-definition
           #:note-saved-origin
           #:note-seen-text
           #:note-text
           #:own-origin-p
           #:place-file
           #:place-number
           #:replaced-date
           #:replaced-place
           #:saved-files
           #:saved-texts
           #:source-kinds
           #:source-origin
           #:specializer-name
           #:text-loaded-p
           #:text-of-compiled
           #:text-to-load
           #:unfinished-loads))
