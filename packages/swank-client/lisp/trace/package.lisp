;;;; Calls that code or the program makes, recorded while they run.

(defpackage #:swank-client/trace
  (:documentation "Records the calls that code or the program makes.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-clock
        #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/debugger #:breakpoint #:implementation-name-p #:missed-calls-text #:missing-package-name #:no-such-package #:parameters-of #:read-code #:read-name #:refused-code
                #:unbreakable-method-reason #:unbreakable-reason #:unwatch-method #:value-at-call #:watch-method)
  (:import-from #:swank-client/evaluate #:evaluate-part #:handler-home #:kept-safely-p #:no-program-p #:place-name
                #:read-whole #:report-progress #:reported-class #:signal-watched #:without-form-source)
  (:export #:arm-points
           #:armed
           #:call-as-run
           #:call-measured-code
           #:compiled-code
           #:disarm-points
           #:find-points
           #:kept-run
           #:make-armed
           #:missed-texts
           #:point
           #:point-method
           #:point-name
           #:point-recording
           #:point-session
           #:point-text
           #:prepare-trace
           #:refused-point
           #:refused-reply
           #:remember-run
           #:run
           #:run-end
           #:run-session
           #:trace-code
           #:trace-progress
           #:trace-seconds
           #:value-texts
           #:wanted-thread-p
           #:wait-seconds))
