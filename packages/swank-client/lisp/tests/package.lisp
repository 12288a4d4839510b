;;;; Tests that need no client. Run them with `npm test`, or with (asdf:test-system "swank-client") in an image with Swank and FiveAM.

(defpackage #:swank-client/tests
  (:documentation "Tests of the Lisp code, in FiveAM.")
  (:use #:common-lisp)
  (:import-from #:fiveam #:is #:is-false #:is-true #:signals)
  (:import-from #:swank-client/any-names #:accessible-symbol #:version-symbols)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-conditions #:bug)
  (:import-from #:swank-client/sbcl-stack #:interrupt-depth)
  (:import-from #:swank-client/sbcl-system #:c-address-p)
  (:import-from #:swank-client/sbcl-locks #:package-graph-lock #:world-lock)
  (:import-from #:swank-client/sbcl-calls #:called-directly-p #:encapsulate #:unencapsulate)
  (:import-from #:swank-client/sbcl-faults #:*faults* #:recent-faults #:recording-faults)
  (:import-from #:swank-client/swank-requests #:*slime-interrupts-enabled* #:send #:wake-thread)
  (:import-from #:swank-client/swank-debugger #:*sldb-level* #:*sldb-restarts* #:*swank-debugger-condition*)
  (:import-from #:swank-client/sbcl-swank #:*mailboxes* #:mailbox-lock #:mailbox.thread)
  (:import-from #:swank-client/sbcl-asdf-if-loaded #:announce-swank #:retract-swank)
  (:import-from #:swank-client/sbcl-functions #:call-walking)
  (:import-from #:swank-client/sbcl-heap #:closure #:count-heap #:find-in-heap #:key-type)
  (:import-from #:swank-client/analyses #:make-analysis)
  (:import-from #:swank-client/printing #:*value-length* #:elided-by #:line-text #:on-one-line #:printed-values #:report-text #:value-text)
  (:import-from #:swank-client/connection #:*code-session* #:*encapsulation-lock* #:bytes-of #:call-in-thread #:change-encapsulation
                                          #:encapsulate-calls-by-name #:encapsulate-function #:fits-p #:fitting-event #:own-lock-p
                                          #:prune-mailboxes #:queue-interrupt #:shortened #:start-runtime-thread #:unencapsulate-calls-by-name
                                          #:unencapsulate-function #:value-in-thread)
  (:import-from #:swank-client/ledger #:current-definition #:defined-thing #:method-name #:methods-of #:name-p)
  (:import-from #:swank-client/session #:*sessions*)
  (:import-from #:swank-client/told-forms #:defining-part)
  (:import-from #:swank-client/evaluations #:*evaluation* #:evaluation-pending-interrupts #:evaluation-thread #:make-evaluation)
  (:import-from #:swank-client/names #:qualified-name)
  (:import-from #:swank-client/reading #:data-readtable #:prefix-of-unknown #:read-without-interning #:source-forms)
  (:import-from #:swank-client/conditions #:argument-range #:call-framework #:call-own #:call-user #:class-name-text #:message-text
                                          #:restart-texts #:shown-class)
  (:import-from #:swank-client/stack #:first-form-text #:frame-kinds)
  (:import-from #:swank-client/waits #:*interrupted-wait* #:cycle-from #:deadlock-text #:thread-number #:wait-cycles #:wait-of)
  (:import-from #:swank-client/snapshots #:value-of-source)
  (:import-from #:swank-client/looks #:call-in-evaluation)
  (:import-from #:swank-client/evaluate #:last-newline #:undefined-thing #:warning-type)
  (:import-from #:swank-client/debug #:describe-stop #:named-arguments)
  (:import-from #:swank-client/loaded-texts #:file-forms #:file-text #:make-file)
  (:import-from #:swank-client/frameworks #:call-collecting #:compared-values #:make-test-run #:printed-actual #:reason-text
                                          #:test-run-frameworks #:test-run-passed)
  (:import-from #:swank-client/questions #:of-kind-p #:symbol-kinds #:unqualified-parameters)
  (:import-from #:swank-client/build #:forget-notes #:loading-notes #:make-loading #:make-note #:noted-file #:plain-name
                                     #:plain-system-name-p #:system-facts)
  (:import-from #:swank-client/testing #:tests-named)
  (:import-from #:swank-client/changes #:make-change #:make-form-load #:masked-text #:reader-form-p #:reason-to-reload #:text-now-loaded
                                       #:texts-with-packages)
  (:import-from #:swank-client/observe #:by-value-p #:count-path #:growth-of #:link-index #:link-kind #:links-of #:make-tally #:merged-links
                                       #:of-type-p #:path-of #:search-roots-for #:shown-growth #:stack-rows #:tally-root)
  (:import-from #:swank-client/text-tests #:define-test))

(in-package #:swank-client/tests)
