;;;; Describes stopped threads, and evaluates expressions in them.

(defpackage #:swank-client/stops
  (:documentation "Describes stopped threads, and evaluates expressions in them.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads #:swank-client/printing #:swank-client/waits
        #:swank-client/sessions)
  (:export #:*step-wanted*
           #:attempt
           #:between-calls-p
           #:breakpoint-wrapper-p
           #:call-attempt
           #:call-framework
           #:call-own
           #:call-user
           #:called-name
           #:capture
           #:class-name-text
           #:code-package
           #:condition-plist
           #:described-location
           #:current-method
           #:effective-methods
           #:end-attempt
           #:error-entry
           #:frame-arguments
           #:frame-home
           #:frame-kinds
           #:frame-name
           #:frame-source
           #:frame-text
           #:frame-variables
           #:generic-function-named
           #:lambda-list-range
           #:leave-if-cancelled
           #:leave-through
           #:system-name-p
           #:make-stepper
           #:message-text
           #:method-entries
           #:method-form
           #:method-name-p
           #:name-symbol
           #:named-method
           #:offered-restarts
           #:parameter-key
           #:parameter-name
           #:read-user
           #:required-count
           #:restart-texts
           #:same-place-p
           #:signal-step
           #:schedule-stack-repair
           #:shadowing-variables
           #:shown-class
           #:snapshot-plist
           #:stack-frames
           #:stack-kinds
           #:source-forms
           #:with-report-package
           #:stack-top
           #:stop-message
           #:unread-frame-p
           #:value-of-source
           #:variable-marks
           #:variable-text
           #:variable-value-text
           #:wrong-count))
