;;;; The package of what looks back at a session and ends it.

(defpackage #:@module@
  (:use #:common-lisp)
  (:import-from #:@runtime@
                #:*departure-hooks* #:current-definition #:current-session #:entry-foreign #:entry-kind #:entry-name #:entry-origin
                #:entry-redefined #:fresh-values #:ledger-entries #:ledger-lock #:ledger-loads #:ledger-unproven #:line-text-in-time #:believable-p
                #:make-ledger #:method-name #:methods-of #:own-origin-p #:session-ledger #:session-package #:session-readtable
                #:session-values #:settle #:source-origin #:with-printing-time))
