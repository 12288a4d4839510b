;;;; Tests that need no client. Run them with `npm test`, or with (asdf:test-system "swank-client") in an image with Swank and FiveAM.

(defpackage #:swank-client/tests
  (:documentation "Tests of the Lisp code, in FiveAM.")
  (:use #:common-lisp)
  (:import-from #:fiveam #:is #:is-false #:is-true #:signals)
  (:import-from #:swank-client/code #:bad-pattern #:call-collecting #:compared-values #:file-forms #:file-text #:forget-notes #:loading-notes
                #:make-change #:make-file #:make-form-load #:make-loading #:make-note #:make-test-run #:masked-text #:noted-file #:of-kind-p
                #:pattern-searcher #:plain-name #:plain-system-name-p #:printed-actual #:reader-form-p #:reason-text #:reason-to-reload
                #:symbol-kinds #:system-facts #:test-run-frameworks #:test-run-passed #:tests-named #:text-now-loaded #:text-searcher
                #:texts-with-packages)
  (:import-from #:swank-client/connection #:bytes-of #:fits-p #:fitting-event #:shortened)
  (:import-from #:swank-client/debugger #:named-arguments)
  (:import-from #:swank-client/describe #:data-readtable #:prefix-of-unknown #:qualified-name #:read-without-interning #:unqualified-parameters)
  (:import-from #:swank-client/evaluate #:last-newline #:undefined-thing #:warning-type)
  (:import-from #:swank-client/heap #:by-type #:growth-of #:links-of #:link-index #:link-kind #:merged-links #:by-value-p #:of-type-p #:path-of #:search-roots-for
                #:shown-growth)
  (:import-from #:swank-client/ledger #:current-definition #:defined-thing #:method-name #:methods-of #:name-p)
  (:import-from #:swank-client/printing #:*value-length* #:elided-by #:line-text #:on-one-line #:parsed-name #:parsed-package #:printed-values
                #:report-text #:value-text)
  (:import-from #:swank-client/sbcl #:accessible-symbol #:called-directly-p #:package-graph-lock
                #:special-file-p #:version-symbols #:world-lock)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now)
  (:import-from #:swank-client/sbcl-heap #:count-heap #:find-in-heap #:key-type)
  (:import-from #:swank-client/sources #:definition-head #:element-spans #:head-names-p #:list-spans #:make-analysis #:position-of
                #:top-level-form-end #:top-level-form-gap #:top-level-form-start #:top-level-forms)
  (:import-from #:swank-client/stops #:argument-range #:class-name-text #:first-form-text #:frame-kinds #:message-text #:restart-texts #:shown-class
                #:source-forms #:value-of-source)
  (:import-from #:swank-client/swank #:*slime-interrupts-enabled* #:mailbox-lock)
  (:import-from #:swank-client/threads #:*code-session* #:*encapsulation-lock* #:call-in-thread #:change-encapsulation
                #:encapsulate-calls-by-name #:encapsulate-function #:own-lock-p #:queue-interrupt #:start-runtime-thread #:unencapsulate-calls-by-name #:unencapsulate-function
                #:value-in-thread)
  (:import-from #:swank-client/waits #:*interrupted-wait* #:cycle-from #:deadlock-text #:thread-number #:wait-cycles #:wait-of)
  (:export #:run-tests))

(in-package #:swank-client/tests)

(fiveam:def-suite swank-client
  :description "The Lisp side of swank-client.")

(defvar *tests* '()
  "((NAME . DOCUMENTATION) ...) of all tests, latest first.")

(defmacro define-test (name documentation &body body)
  "Define the test NAME. DOCUMENTATION says what is expected, BODY checks it."
  `(progn
     (pushnew '(,name . ,documentation) *tests* :test #'equal)
     (fiveam:test (,name :suite swank-client) ,documentation ,@body)))

(defun explanation (results)
  "The reason why RESULTS are a failure, or NIL."
  (unless (fiveam:results-status results)
    (with-output-to-string (fiveam:*test-dribble*)
      (fiveam:explain! results))))

(defun run-tests ()
  "Run all tests, and print (NAME DOCUMENTATION EXPLANATION) of each on a line. EXPLANATION says why the test failed, or is NIL.
=> true if all pass"
  (loop with all-passed = t
        for (name . documentation) in (reverse *tests*)
        for explanation = (explanation (let ((fiveam:*test-dribble* (make-broadcast-stream))) (fiveam:run name)))
        do (when explanation (setf all-passed nil))
           (with-standard-io-syntax
             (let ((*print-readably* nil))
               (format t "~&~s~%" (list (string-downcase name) documentation explanation))))
        finally (return all-passed)))
