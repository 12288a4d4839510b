;;;; A client's debugger.

(defpackage #:swank-client/debugger
  (:documentation "Frames, stepping, breakpoints, and the stops of other clients.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/connection #:repl-p)
  (:import-from #:swank-client/evaluate #:give-input #:text-lines)
  (:import-from #:swank-client/objects #:drop-lookup #:new-number #:numbered-values)
  (:export #:ask-stop
           #:check-breakpoint
           #:continue-stop
           #:describe-foreign-stop
           #:eval-in-frame
           #:foreign-stops
           #:frame-locals
           #:frames
           #:list-breakpoints
           #:remove-breakpoint
           #:restart-frame
           #:return-from-frame
           #:set-breakpoint
           #:step-on))
