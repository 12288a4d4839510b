;;;; Watches the program: traces, profiles, objects and the heap.

(defpackage #:swank-client/observe
  (:documentation "Watches the program: traces, profiles, objects and the heap.")
  (:use #:common-lisp #:swank-client/swank-inspector #:swank-client/sbcl-sprof #:swank-client/sbcl-objects #:swank-client/sbcl-heap
        #:swank-client/sbcl-references #:swank-client/sbcl-tables #:swank-client/printing #:swank-client/connection #:swank-client/session #:swank-client/names
        #:swank-client/objects #:swank-client/conditions #:swank-client/evaluate #:swank-client/debug)
  (:import-from #:swank-client/any-names #:accessible-symbol #:runtime-package-p)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-conditions #:*signal-function* #:handled-type)
  (:import-from #:swank-client/sbcl-stack #:reset-guard-pages #:restore-guard-page)
  (:import-from #:swank-client/sbcl-calls #:encapsulation-info #:encapsulation-info-definition)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-connections #:*connections*)
  (:import-from #:swank-client/swank-debugger #:*sldb-level*)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now #:nanoseconds-run)
  (:import-from #:swank-client/sbcl-functions #:compiler-info)
  (:import-from #:swank-client/text #:parsed-package #:short-file-name #:trimmed)
  (:import-from #:swank-client/ledger #:specializer-key)
  (:import-from #:swank-client/evaluations #:*evaluation* #:*starting-evaluation*)
  (:import-from #:swank-client/code-state #:*stop-hook*)
  (:import-from #:swank-client/reading #:data-readtable #:read-without-interning)
  (:import-from #:swank-client/calls #:effective-methods #:generic-function-named #:method-form #:method-name-p #:named-method #:required-count
                #:specializer-name)
  (:import-from #:swank-client/stack #:described-location #:system-name-p)
  (:import-from #:swank-client/waits #:thread-number #:wait-of)
  (:import-from #:swank-client/snapshots #:value-of-source)
  (:import-from #:swank-client/definitions #:class-definition #:kind-definitions #:make-definition #:program-package-p)
  (:import-from #:swank-client/loaded-texts #:with-files)
  (:import-from #:swank-client/recorded #:method-of-name)
  (:import-from #:swank-client/image #:described-source #:system-of #:with-file-systems)
  (:export #:armed #:call-action #:close-inspector #:describe-inspected #:heap-growth #:heap-instances #:heap-path #:heap-summary
           #:image-state #:inspect-object #:inspect-part #:inspect-value #:inspected-parts #:part #:point #:prepare-profile #:prepare-trace #:profile-code
           #:profile-progress #:profile-seconds #:refresh-inspector #:release-object #:release-objects #:run #:run-code #:time-code #:trace-code #:trace-progress
           #:trace-seconds))
