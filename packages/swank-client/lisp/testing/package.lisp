;;;; Runs the tests of the program, whatever their framework.

(defpackage #:swank-client/frameworks
  (:documentation "What test frameworks have in common, and each of them.")
  (:use #:common-lisp #:swank-client/definitions)
  (:import-from #:swank-client/any-names #:accessible-symbol #:call-if-loaded #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/any-asdf #:loaded-systems #:test-systems)
  (:import-from #:swank-client/connection #:encapsulate-function #:unencapsulate-function)
  (:import-from #:swank-client/evaluations #:*evaluation*)
  (:import-from #:swank-client/names #:home-name)
  (:import-from #:swank-client/conditions #:call-framework)
  (:import-from #:swank-client/evaluate #:report-progress)
  (:import-from #:swank-client/loaded-texts #:file-now #:file-text #:file-truename)
  (:import-from #:swank-client/recorded #:file-packages #:pretty-text)
  (:import-from #:swank-client/image #:existing-files #:loaded-files #:system-files)
  (:export #:*frameworks* #:*test-run* #:call-collecting #:ensure-wrapped #:failure-actual #:failure-expected #:failure-form #:failure-place
           #:failure-problem #:failure-reason #:failure-test #:fiveam-tests #:framework-id #:framework-package-runner #:framework-runner
           #:framework-tests-now #:make-test-run #:test-definition #:test-definitions #:test-files #:test-form #:test-name-text
           #:test-pathname #:test-run-failed #:test-run-failures #:test-run-frameworks #:test-run-passed #:test-run-skipped #:test-run-stop))
