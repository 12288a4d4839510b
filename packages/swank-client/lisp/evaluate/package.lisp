;;;; A client's evaluations.

(defpackage #:swank-client/evaluate
  (:documentation "Evaluates code for a client. The client calls the exported functions.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/printing #:swank-client/ledger
        #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/connection #:prune-mailboxes #:prune-mailboxes-at-times #:repl-p)
  (:import-from #:swank-client/objects #:numbered-values)
  (:import-from #:swank-client/waits #:*interrupted-wait*)
  (:export #:*ask-to-exit*
           #:*evaluation*
           #:*sessions*
           #:abort-evaluation
           #:abort-stop
           #:at-stop
           #:call-noting-load
           #:compiled-users
           #:end-attempt
           #:end-evaluations
           #:ensure-texts-shown
           #:evaluate
           #:give-input
           #:interrupt
           #:invoke-offered-restart
           #:kill
           #:note-compiling
           #:prepare-arrival
           #:protect-image
           #:report-progress
           #:stale-users
           #:stop
           #:stop-identity
           #:text-lines
           #:undefined-thing
           #:undefined-yet-p
           #:with-odd-character))
