;;;; The debugger's package.

(defpackage #:@module@
  (:use #:common-lisp)
  (:import-from #:@runtime@
                #:*breakpoint-call* #:*breakpoint-variables* #:*departure-hooks* #:*evaluation* #:*in-user-code* #:*step-wanted* #:*value-limit*
                #:between-calls-p #:breakpoint-reached #:breakpoint-wrapper-p #:call-attempt #:called-name #:class-name-text
                #:connection-open-p #:count-frames
                #:current-session #:error-entry #:evaluation-session #:frame-home #:frame-kinds #:frame-name #:frame-text #:frame-variables
                #:in-time #:line-text-in-time #:make-stepper #:on-one-line #:report-text #:session-package-now #:shown-class #:source-forms
                #:printed-values #:variable-text #:with-bounded-printing #:with-printing-time)
  ;; for the stops of other clients
  (:import-from #:@runtime@
                #:*late-p* #:*outermost-restart* #:*printing-time* #:call-in-thread #:has-repl-p #:leave-if-broken-off #:message-text
                #:offered-restarts #:restart-texts #:session-departed #:snapshot-plist #:with-printer-of-its-own #:without-way-back)
  ;; for going on
  (:import-from #:@runtime@ #:wrong-count)
  ;; for whose code a thread runs
  (:import-from #:@runtime@ #:code-session #:session-connection #:start-helper #:with-code-of))
