;;;; Stopped threads: frames, variables, restarts, steps, breakpoints, and the threads of the image.

(defpackage #:swank-client/conditions
  (:documentation "Conditions and restarts as data and text, and whose code a frame runs.")
  (:use #:common-lisp #:swank-client/sbcl-conditions #:swank-client/sbcl-stack #:swank-client/sbcl-functions #:swank-client/printing
        #:swank-client/code-state)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-calls #:*stepping-functions*)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-debugger #:*sldb-restarts*)
  (:import-from #:swank-client/sbcl-compiler #:debug-info-source #:debug-source-namestring #:debug-source-plist)
  (:import-from #:swank-client/names #:odd-character)
  (:export #:asserted-places #:call-framework #:call-own #:call-user #:class-name-text #:compiled-for-stepping-p #:exhausting-frame-p
           #:frame-name #:frame-role #:lambda-list-range #:message-text #:mistaken-frame-p #:name-symbol #:note-frame-role
           #:offered-restarts #:parameter-key #:parameter-name #:parameter-names #:parameters-after #:read-user #:restart-texts
           #:shown-class #:slot-texts #:standard-input-p #:stop-message #:supertype-texts #:wrong-arguments #:wrong-count))

(defpackage #:swank-client/calls
  (:documentation "The call of a frame: its function, its arguments and the methods that it runs.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/printing #:swank-client/conditions)
  (:import-from #:swank-client/sbcl-internals #:missing-internal)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-calls #:applicable-methods-of-types #:argument-type #:unavailable-argument-p)
  (:import-from #:swank-client/swank-debugger #:*swank-debugger-condition* #:invoke-slime-debugger #:swank-debugger-hook)
  (:import-from #:swank-client/sbcl-swank #:*sldb-stack-top*)
  (:import-from #:swank-client/sbcl-compiler #:debug-source-namestring)
  (:import-from #:swank-client/sbcl-functions #:%fun-lambda-list #:%fun-name #:*method-function-names*)
  (:export #:*report-place* #:*shown-objects* #:+frame-text-limit+ #:arguments-unread-p #:called-by-program-p #:current-method
           #:defaults-changed-p #:effective-methods #:entry-point-p #:frame-arguments #:frame-file #:frame-lambda-list #:generic-function-named #:method-entries
           #:method-form #:method-name-p #:named-method #:object-text #:print-call #:remember-message #:repeating-arguments #:required-count
           #:same-place-p #:sbcl-frame-p #:specializer-name #:unread-frame-p))

(defpackage #:swank-client/stack
  (:documentation "The frames of a stack, with their kinds and places.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/printing #:swank-client/conditions #:swank-client/calls)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:swank-client/any-names #:runtime-package-p)
  (:import-from #:swank-client/any-lisp #:or-nil #:special-file-p)
  (:import-from #:swank-client/sbcl-conditions #:heap-exhausted-error)
  (:import-from #:swank-client/sbcl-calls #:*evaluator-functions* #:loading-function-p)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-debugger #:*swank-debugger-condition*)
  (:import-from #:swank-client/sbcl-swank #:*sldb-stack-top* #:nth-frame)
  (:import-from #:swank-client/text #:absolute-file-name #:short-file-name)
  (:import-from #:swank-client/code-state #:*breakpoint-call*)
  (:export #:between-calls-p #:breakpoint-wrapper-p #:called-name #:described-location #:first-frames #:first-users #:frame-kinds
           #:frame-source #:frame-text #:stack-frames #:stack-kinds #:stack-top #:system-name-p #:with-places))

(defpackage #:swank-client/variables
  (:documentation "The variables of frames.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/calls)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-requests #:*buffer-package*)
  (:import-from #:swank-client/sbcl-swank #:nth-frame)
  (:import-from #:swank-client/sbcl-functions #:compiler-info)
  (:import-from #:swank-client/printing #:in-time #:line-text #:unprinted-text)
  (:import-from #:swank-client/code-state #:*breakpoint-variables*)
  (:import-from #:swank-client/conditions #:frame-name #:name-symbol #:parameter-names)
  (:import-from #:swank-client/stack #:breakpoint-wrapper-p #:called-name)
  (:export #:caller-texts #:code-package #:frame-home #:frame-variables #:local-texts #:set-names #:shadowing-variables
           #:valueless-variables #:variable-marks #:variable-text #:variable-value-text))

(defpackage #:swank-client/waits
  (:documentation "What threads wait for.")
  (:use #:common-lisp)
  (:import-from #:swank-client/sbcl-locks #:awaited-mutex)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-threads #:ends-for-p #:system-call #:system-call-object)
  (:import-from #:swank-client/printing #:line-text)
  (:import-from #:swank-client/connection #:debugger-level #:value-in-thread)
  (:import-from #:swank-client/code-state #:interrupted)
  (:import-from #:swank-client/conditions #:frame-name #:name-symbol)
  (:import-from #:swank-client/calls #:called-by-program-p #:frame-arguments)
  (:import-from #:swank-client/stack #:frame-text)
  (:export #:*interrupted-wait* #:blocker #:deadlock-text #:named-text #:thread-number #:wait-cycles #:wait-of #:waiting-plist))

(defpackage #:swank-client/snapshots
  (:documentation "The state of a stopped thread as data, and code that runs in it.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/session #:swank-client/code-state #:swank-client/conditions
        #:swank-client/stack)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/names #:names-meant)
  (:import-from #:swank-client/sbcl-conditions #:control-stack-exhausted)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-debugger #:*swank-debugger-condition*)
  (:import-from #:swank-client/swank-connections #:*emacs-connection*)
  (:import-from #:swank-client/printing #:with-initial-handlers #:with-printing-time #:without-outer-handlers)
  (:import-from #:swank-client/connection #:call-in-thread #:interrupt-unless-ended #:repair-stack-of #:start-runtime-thread)
  (:import-from #:swank-client/evaluations #:*evaluation* #:evaluation-updates-package)
  (:import-from #:swank-client/reading #:source-forms)
  (:import-from #:swank-client/calls #:*shown-objects* #:remember-message)
  (:import-from #:swank-client/variables #:caller-texts #:local-texts)
  (:import-from #:swank-client/waits #:waiting-plist)
  (:export #:*open-step* #:*step-wanted* #:call-attempt #:capture #:code-forms #:condition-plist #:end-attempt #:error-entry #:leave-if-cancelled
           #:leave-through #:make-stepper #:schedule-stack-repair #:signal-step #:snapshot-plist #:value-of-source #:with-report-package))
