;;;; Connections to the image: their requests and threads, and what they leave behind.

(defpackage #:swank-client/connection
  (:documentation "Connections to the image: their requests and threads, and what they leave behind.")
  (:use #:common-lisp #:swank-client/any-names #:swank-client/sbcl-stack #:swank-client/sbcl-locks #:swank-client/sbcl-calls
        #:swank-client/swank-requests #:swank-client/swank-debugger #:swank-client/swank-connections #:swank-client/sbcl-swank)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:swank-client/sbcl-system #:c-address-p #:exit-in-progress-p #:set-socket-option #:with-standard-settings)
  (:import-from #:swank-client/sbcl-conditions #:*handler-clusters* #:*restart-clusters* #:bug)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-servers #:keep-from-children)
  (:export #:*code-session* #:*observer* #:*stopped-outside-requests* #:+patience+ #:attach #:call-in-thread #:call-without-stepping
           #:debugger-level
           #:encapsulate-calls-by-name #:encapsulate-function #:end-request #:end-this-thread #:held-lock-text #:holds-package-lock-p
           #:in-foreign-code-p #:interrupt-unless-ended #:interrupt-when-safe #:interruption #:make-printed #:must-not-stop-here-p
           #:prune-mailboxes #:prune-mailboxes-at-times #:queue-interrupt #:repair-stack-of #:repl-p #:runtime-stop #:start-runtime-thread
           #:unencapsulate-calls-by-name #:unencapsulate-function #:value-in-thread))
