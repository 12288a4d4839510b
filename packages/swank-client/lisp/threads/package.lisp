;;;; Threads: which locks they hold, their stacks, and how they are interrupted.

(defpackage #:swank-client/threads
  (:documentation "Threads: which locks they hold, their stacks, and how they are interrupted.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank)
  (:export #:*code-session*
           #:*encapsulated-for-all*
           #:call-in-thread
           #:debugger-level
           #:encapsulate-calls-by-name
           #:encapsulate-function
           #:guard-page-lowered-p
           #:held-lock-text
           #:holds-mailbox-p
           #:holds-package-lock-p
           #:holds-world-lock-p
           #:in-foreign-code-p
           #:must-not-stop-here-p
           #:prepare-encapsulations
           #:queue-interrupt
           #:repair-stack-of
           #:reset-guard-pages
           #:restore-guard-page
           #:start-runtime-thread
           #:unencapsulate-calls-by-name
           #:unencapsulate-function
           #:value-in-thread))
