;;;; Runs tests, and describes their results.

(defpackage #:swank-client/testing
  (:documentation "Runs tests.")
  (:use #:common-lisp #:swank-client/any-asdf #:swank-client/names #:swank-client/conditions #:swank-client/frameworks)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/text #:named-file #:parsed-name #:shown-file)
  (:import-from #:swank-client/connection #:encapsulate-function #:unencapsulate-function)
  (:import-from #:swank-client/session #:current-session #:find-designated-package #:with-file-syntax)
  (:import-from #:swank-client/loaded-texts #:with-files)
  (:import-from #:swank-client/definitions #:span)
  (:import-from #:swank-client/image #:similar-systems)
  (:import-from #:swank-client/questions #:place-facts)
  (:import-from #:swank-client/build #:load-current #:plain-system-name-p)
  (:export #:known-system #:run-tests))

(in-package #:swank-client/testing)

;;; Which tests a name means: those of a system, a test or suite, or those of a package.

(defun tests-named (name tests)
  "Those TESTS, ((NAME PACKAGE . TEST) ...), that NAME means: the one in the current package if its package is not given, else all."
  (multiple-value-bind (wanted package-name) (parsed-name name)
    (let* ((package (and package-name (or (find-designated-package package-name *package*) (live-package package-name))))
           (found (remove-if-not (lambda (test)
                                   (and (string-equal wanted (string (first test)))
                                        (or (null package-name) (and package (eq package (second test))))))
                                 tests))
           (here (or (find (accessible-symbol wanted *package*) found :key #'first)
                     (find *package* found :key #'second))))
      (if here (list here) found))))

(defun tests-text (tests)
  "The names of TESTS, ((NAME PACKAGE . TEST) ...), as text."
  (format nil "~{~a~^, ~}" (mapcar (lambda (test) (test-name-text (first test))) tests)))

(defun named-runner (name frameworks)
  "=> a function that runs the tests and suites NAME of the first of FRAMEWORKS that has some, and a text that names them; or NIL"
  (loop for framework in frameworks
        for tests = (tests-named name (framework-tests-now framework))
        when tests
          return (let ((runner (framework-runner framework)))
                   (values (lambda () (funcall runner (mapcar #'cddr tests))) (tests-text tests)))))

(defun package-runner (name frameworks)
  "=> a function that runs the tests in the package NAME of the first of FRAMEWORKS that has some, and a text that names it; or NIL"
  (let ((package (find-designated-package name)))
    (when package
      (loop for framework in frameworks
            for runner = (or-nil (funcall (framework-package-runner framework) package))
            when runner return (values runner (format nil "Package ~a" (package-name package)))))))

(defun known-system (name)
  "The system NAME, if it is written without a package and ASDF finds it, or NIL."
  (and (plain-system-name-p name)
       (or-nil (call-without-downloads (lambda () (find-system (string-downcase name)))))))

(defun similar-tests (name)
  "Names of tests and systems that are similar to NAME."
  (let* ((wanted (parsed-name name))
         (all (loop for framework in *frameworks* append (framework-tests-now framework)))
         (similar (remove-if-not (lambda (test)
                                   (let ((plain (string-upcase (first test))))
                                     (or (search wanted plain) (slip-p wanted plain))))
                                 all))
         (texts (remove-duplicates (mapcar (lambda (test) (test-name-text (first test))) similar) :test #'string= :from-end t))
         (found (append texts (similar-systems (string-downcase name)))))
    (subseq found 0 (min +suggestions+ (length found)))))

(defun call-noting-error (run function)
  "Call FUNCTION. => NIL, or (TYPE MESSAGE) of the error that ended it, at which RUN is not to stop"
  (if (test-run-stop run)
      (progn (call-framework function '()) nil)
      (let ((*error-output* *error-output*))
        (block nil
          (handler-bind ((error (lambda (problem)
                                  ;; when unwound, a compilation unit would print that it was aborted
                                  (setf *error-output* (make-broadcast-stream))
                                  (return (list (class-name-text (shown-class problem)) (message-text problem))))))
            (funcall function)
            nil)))))

;;; Systems

(defun call-wrapping-after-actions (run function)
  "Call FUNCTION, which makes ASDF act. A framework that an action loads is encapsulated for RUN before the next one: a test operation may
load what it runs."
  (let ((tag (make-symbol "TESTED")))
    (unwind-protect
         (progn
           (encapsulate-function (perform-name) tag
                                 (lambda (perform &rest arguments)
                                   (multiple-value-prog1 (apply perform arguments)
                                     (when (eq *test-run* run) (ensure-wrapped run)))))
           (funcall function))
      (unencapsulate-function (perform-name) tag))))

(defun run-system (run system around)
  "Run the tests of SYSTEM by ASDF, which loads it before. AROUND is called with a function that runs them. => NIL or the error that ended it"
  (call-noting-error run
                     (lambda ()
                       (call-collecting run
                                        (lambda ()
                                          (call-wrapping-after-actions run
                                                                       (lambda ()
                                                                         (with-file-syntax ((current-session))
                                                                           (mapc (lambda (name) (load-current name '()))
                                                                                 (test-systems system))
                                                                           (funcall around (lambda () (test-system system)))))))))))

;;; The reply

(defun place-of-failure (failure files)
  "The plist of the place of FAILURE: that of its check if that is known, otherwise that of its test in FILES."
  (if (failure-place failure)
      (destructuring-bind (name line &optional column) (failure-place failure)
        (list :file (shown-file (or (named-file name) name)) :line line :column (or column 1)))
      (multiple-value-bind (file span) (test-form (failure-test failure) files)
        (and file (place-facts file (first span))))))

(defun start-of (text)
  "The start of TEXT, or NIL if it is NIL. All texts of all failures must fit into a reply."
  (and text (if (> (length text) 2000) (concatenate 'string (subseq text 0 2000) "...") text)))

(defun failure-facts (failure files)
  "The plist that describes FAILURE, of a test in FILES."
  (let ((problem (failure-problem failure)))
    (list* :test (test-name-text (failure-test failure))
           :form (start-of (failure-form failure))
           :expected (start-of (failure-expected failure))
           :actual (start-of (failure-actual failure))
           :reason (start-of (if problem
                                 (format nil "~@[~a: ~]~a" (failure-reason failure) (message-text problem))
                                 (failure-reason failure)))
           :condition (and problem (class-name-text (shown-class problem)))
           (recording-faults (place-of-failure failure files)))))

(defun run-facts (run target system problem seconds)
  "The reply of RUN-TESTS about RUN, which took SECONDS."
  (let* ((failures (reverse (test-run-failures run)))
         (files (and failures (test-files system))))
    (list :tests target (reverse (test-run-frameworks run))
          (test-run-passed run) (test-run-failed run) (test-run-skipped run)
          (round (* 1000 seconds))
          (loop for failure in failures collect (failure-facts failure files))
          problem
          nil)))

;;; The request

(defun runner (name framework run around)
  "=> a function that runs what NAME means in FRAMEWORK, by default in any, and returns NIL or the error that ended it; a text that says what
it runs; and the system that it tests, if it is one. AROUND is for RUN-SYSTEM. Or NIL."
  (let* ((frameworks (if framework (remove framework *frameworks* :key #'framework-id :test-not #'string=) *frameworks*))
         (system (and (member framework '(nil "asdf") :test #'equal) (known-system name))))
    (if system
        (values (lambda () (run-system run system around)) (format nil "System ~a" (component-name system)) system)
        (multiple-value-bind (function target) (named-runner name frameworks)
          (unless function (setf (values function target) (package-runner name frameworks)))
          (and function
               (values (lambda () (call-noting-error run (lambda () (call-collecting run function)))) target nil))))))

(defun run-tests (name framework stop &optional (around #'funcall))
  "Run the tests that NAME means: those of a system, of a suite or test of FRAMEWORK, or of a package. It is called by evaluated code, so that
it can be stopped. If STOP, each failure stops it. AROUND is called with a function that runs the tests of a system when that is loaded.
=> (:tests TARGET (FRAMEWORK ...) PASSED FAILED SKIPPED MILLISECONDS (FAILURE ...) (TYPE MESSAGE) COVERAGE), without coverage | (:not-found NAME (SIMILAR ...) ODD-CHARACTER)"
  (let ((run (make-test-run :stop stop)))
    (multiple-value-bind (function target system) (runner name framework run around)
      (if (null function)
          (list :not-found name (similar-tests name) (odd-character-text name))
          (let* ((start (get-internal-real-time))
                 (problem (funcall function))
                 (seconds (/ (- (get-internal-real-time) start) internal-time-units-per-second)))
            (with-files () (run-facts run target system problem seconds)))))))
