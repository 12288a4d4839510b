;;;; The state kept for each client, and for each of its evaluations.

(defpackage #:swank-client/sessions
  (:documentation "The state kept for each client of the image, and for each of its evaluations.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/printing #:swank-client/ledger)
  (:export #:*arrival-hooks*
           #:*breakpoint-call*
           #:*breakpoint-variables*
           #:*code-unwinds*
           #:*departure-hooks*
           #:*evaluation*
           #:*in-user-code*
           #:*input*
           #:*outermost-restart*
           #:*return-hooks*
           #:*session-variables*
           #:*sessions*
           #:*source*
           #:*starting-evaluation*
           #:breakpoint-reached
           #:clients-p
           #:code-session
           #:connection-open-p
           #:current-session
           #:evaluation
           #:evaluation-compiled-file
           #:evaluation-file-warning-count
           #:evaluation-file-warnings
           #:evaluation-form
           #:evaluation-id
           #:evaluation-interrupts
           #:evaluation-interrupts-wanted
           #:evaluation-lock
           #:evaluation-over
           #:evaluation-pending-interrupts
           #:evaluation-redefinition-count
           #:evaluation-redefinitions
           #:evaluation-session
           #:evaluation-stale-users
           #:evaluation-stderr
           #:evaluation-stdout
           #:evaluation-thread
           #:evaluation-threaded
           #:evaluation-unwind
           #:evaluation-updates-package
           #:evaluation-warning-count
           #:evaluation-warnings
           #:evaluation-warnings-dropped
           #:exit-refused
           #:find-designated-package
           #:fresh-values
           #:interrupted
           #:make-evaluation
           #:reached-breakpoint
           #:reached-hit
           #:session
           #:session-connection
           #:session-departed
           #:session-evaluations
           #:session-ledger
           #:session-of
           #:session-package
           #:session-package-now
           #:session-protects-image
           #:session-readtable
           #:session-values
           #:with-code-of
           #:with-session-variables))
