;;;; Runs tests, and collects their results.

(in-package #:swank-client/code)

(defconstant +failures-limit+ 100 "Most failures that a reply has.")

(defstruct failure
  "A failed check or test. PROBLEM is the error that ended the test, or NIL."
  test (form nil) (expected nil) (actual nil) (reason nil) (problem nil))

(defstruct test-run
  "The results of tests. STOP: the first failure stops the thread."
  stop
  (frameworks '()) (passed 0) (failed 0) (skipped 0)
  ;; the latest first
  (failures '()))

(defvar *test-run* nil "The run whose tests this thread runs, or NIL.")

(defun count-result (run status)
  "Count a result of RUN that is :PASSED, :FAILED or :SKIPPED."
  (ecase status
    (:passed (incf (test-run-passed run)))
    (:failed (incf (test-run-failed run)))
    (:skipped (incf (test-run-skipped run)))))

(defun add-failure (run failure)
  "Count FAILURE, and keep it in RUN unless that has enough."
  (count-result run :failed)
  (when (<= (test-run-failed run) +failures-limit+)
    (push failure (test-run-failures run))))

(defun tested-form-text (form test)
  "FORM as the package of TEST, a name, writes it."
  (pretty-text form (or (and (symbolp test) (symbol-package test)) *package*)))

;;; FiveAM

(defun between (start end text)
  "=> the part of TEXT between the texts START and END, and the position after it; or NIL"
  (let* ((from (search start text))
         (to (and from (search end text :start2 (+ from (length start))))))
    (when to
      (values (string-trim '(#\Newline #\Space) (subseq text (+ from (length start)) to)) (+ to (length end))))))

(defun compared-values (reason)
  "=> the values, as text, that FiveAM expected and got, if REASON is its own text about a comparison; or NIL"
  (multiple-value-bind (actual end)
      (between (format nil "~%~% evaluated to ~%~%") (format nil "~%~% which is not ~%~%") reason)
    (let ((expected (and actual (between (format nil "~%~% to ~%~%") (format nil "~%~%") (subseq reason end)))))
      (and expected (values expected actual)))))

(defun fiveam-failure (result)
  "The failure that RESULT, of FiveAM, is."
  (let ((reason (let ((text (fiveam-reason result))) (and (stringp text) text)))
        (form (fiveam-form result))
        (test (fiveam-test result)))
    (multiple-value-bind (expected actual) (and reason (compared-values reason))
      (make-failure :test test :problem (fiveam-condition result) :expected expected :actual actual
                    :form (and form (tested-form-text form test))
                    :reason (and reason (null expected) (string-trim '(#\Newline #\Space) reason))))))

(defun add-fiveam-results (run results)
  "Add RESULTS of FiveAM to RUN. Each test's are the latest first."
  (let ((failed '()))
    (dolist (result results)
      (if (eq :failed (fiveam-status result))
          (push result failed)
          (count-result run (fiveam-status result))))
    (dolist (test (remove-duplicates (mapcar #'fiveam-test (reverse failed)) :from-end t))
      (dolist (result failed)
        (when (eq test (fiveam-test result)) (add-failure run (fiveam-failure result)))))))

(defun fiveam-collector (run)
  "A function that is called in place of FiveAM's RUN, with that and its arguments, and adds the results to RUN."
  (lambda (function &rest arguments)
    (if (eq *test-run* run)
        (let ((results (let ((*test-run* nil)) (call-framework function arguments))))
          (pushnew "FiveAM" (test-run-frameworks run) :test #'string=)
          (add-fiveam-results run results)
          results)
        (apply function arguments))))

;;; sb-rt

(defun printed-actual (report)
  "The values that a test has returned, from the text of sb-rt's REPORT, or NIL."
  (let ((start (search "Actual value" report)))
    (and start (string-right-trim '(#\Newline #\.) (subseq report (+ 2 (position #\: report :start start)))))))

(defun rt-failure (entry report problem)
  "The failure of the test ENTRY. PROBLEM is the error that ended it; otherwise REPORT is the text that sb-rt has printed."
  (let ((test (rt-name entry)))
    (make-failure :test test :problem problem
                  :form (tested-form-text (rt-form entry) test)
                  :expected (format nil "~{~a~^~%~}" (mapcar #'name-text (rt-expected entry)))
                  :actual (and (null problem) (printed-actual report)))))

(defun run-rt-entry (run function entry)
  "Run the test ENTRY by FUNCTION. Errors stop the thread if RUN wants that. => what FUNCTION returns"
  (let ((report (make-string-output-stream)) (problem nil) (result nil))
    (flet ((call () (let ((*test-run* nil)) (setf result (call-framework function (list entry report))))))
      (if (test-run-stop run)
          (call)
          (handler-case (call)
            (error (condition) (setf problem condition)))))
    (if (or problem (rt-failed-p entry))
        (let ((failure (rt-failure entry (get-output-stream-string report) problem)))
          (add-failure run failure)
          (when (test-run-stop run)
            (cerror "Go on with the next test." "Test ~s failed.~%Expected: ~a~%Actual: ~a"
                    (rt-name entry) (failure-expected failure) (failure-actual failure))))
        (count-result run :passed))
    result))

(defun rt-collector (run)
  "A function that is called in place of sb-rt's function that runs an entry, with that and its arguments."
  (lambda (function entry &rest arguments)
    (cond ((eq *test-run* run)
           (pushnew "sb-rt" (test-run-frameworks run) :test #'string=)
           (handler-bind ((style-warning #'muffle-warning)) (run-rt-entry run function entry)))
          (t (apply function entry arguments)))))

;;; A run

(defun call-with-collectors (run function)
  "Call FUNCTION so that RUN gets the results of the tests that this thread runs in it."
  (let* ((tag (make-symbol "TESTS"))
         (fiveam (fiveam-run))
         (quiet (fiveam-quiet-variables))
         (stops (and (test-run-stop run) (fiveam-stop-variables)))
         (catches (rt-catch-variables))
         (collected (append (and fiveam (list fiveam)) (rt-runners))))
    (unwind-protect
         (progn
           (dolist (name collected)
             (encapsulate-function name tag (if (eq name fiveam) (fiveam-collector run) (rt-collector run))))
           (progv (append quiet stops catches)
               (append (loop for nil in quiet collect (make-broadcast-stream))
                       (loop for nil in stops collect :debug)
                       (loop for nil in catches collect nil))
             (let ((*test-run* run)) (funcall function))))
      (dolist (name collected) (unencapsulate-function name tag)))))

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

;;; What to run

(defun named-tests (name tests key)
  "Those TESTS whose KEY is named as NAME says: the one in the current package if its package is not given, else all."
  (multiple-value-bind (wanted package-name) (parsed-name name)
    (flet ((wanted-p (test)
             (let ((symbol (funcall key test)))
               (and (string-equal wanted (princ-to-string symbol))
                    (or (null package-name)
                        (and (symbolp symbol) (symbol-package symbol)
                             (eq (symbol-package symbol) (live-package (parsed-package package-name)))))))))
      (let* ((found (remove-if-not #'wanted-p tests))
             (here (find (accessible-symbol wanted *package*) found :key key)))
        (if here (list here) found)))))

(defun package-tests (name)
  "The entries of sb-rt's tests in the package NAME."
  (let ((package (live-package (parsed-package name))))
    (and package
         (remove-if-not (lambda (entry) (and (symbolp (rt-name entry)) (eq package (symbol-package (rt-name entry)))))
                        (rt-entries)))))

(defun similar-tests (name)
  "Names of tests and systems that are similar to NAME."
  (let ((wanted (parsed-name name))
        (tests (remove-duplicates (mapcar #'name-text (append (fiveam-tests) (mapcar #'rt-name (rt-entries)))) :test #'string=)))
    (flet ((similar-p (test)
             (let ((plain (parsed-name test))) (or (search wanted plain) (slip-p wanted plain)))))
      (let ((found (append (remove-if-not #'similar-p tests) (similar-systems (string-downcase name)))))
        (subseq found 0 (min +suggestions+ (length found)))))))

(defun known-system (name)
  "The system NAME, if it is written without a package and ASDF finds it, or NIL."
  (and (notany (lambda (character) (find character ":|() ")) name)
       (or-nil (call-if-loaded "ASDF" "FIND-SYSTEM" (string-downcase name) nil))))

(defun run-system (run system)
  "Run the tests of SYSTEM by ASDF, which loads it before. => NIL or the error that ended it"
  (call-noting-error run
                     (lambda ()
                       ;; frameworks must be there before their results can be collected
                       (dolist (name (test-systems system)) (call-if-loaded "ASDF" "LOAD-SYSTEM" name))
                       (call-with-collectors run (lambda () (call-if-loaded "ASDF" "TEST-SYSTEM" system))))))

;;; The reply

(defun test-place (test files)
  "The plist of the place of TEST, a name, in FILES."
  (multiple-value-bind (file span) (and (symbolp test) (test-form test files))
    (and file (place-facts file (first span)))))

(defun start-of (text)
  "The start of TEXT, or NIL if it is NIL. All texts of all failures must fit into a reply."
  (and text (if (> (length text) 2000) (concatenate 'string (subseq text 0 2000) "...") text)))

(defun failure-facts (failure files)
  "The plist that describes FAILURE, of a test in FILES."
  (let ((problem (failure-problem failure)))
    (list* :test (name-text (failure-test failure))
           :form (start-of (failure-form failure))
           :expected (start-of (failure-expected failure))
           :actual (start-of (failure-actual failure))
           :reason (start-of (if problem (message-text problem) (failure-reason failure)))
           :condition (and problem (class-name-text (shown-class problem)))
           (test-place (failure-test failure) files))))

(defun run-facts (run target system problem seconds)
  "The reply of RUN-TESTS about RUN, which took SECONDS."
  (let* ((failures (reverse (test-run-failures run)))
         (files (and failures (test-files system))))
    (list :tests target (reverse (test-run-frameworks run))
          (test-run-passed run) (test-run-failed run) (test-run-skipped run)
          (round (* 1000 seconds))
          (loop for failure in failures collect (failure-facts failure files))
          problem)))

(defun runner (name framework run)
  "=> a function that runs what NAME means in FRAMEWORK, by default in any, and returns NIL or the error that ended it; a text that says what
it runs; and the system that it tests, if it is one. Or NIL."
  (flet ((for-p (other) (or (null framework) (string= framework other)))
         (collecting (function) (lambda () (call-noting-error run (lambda () (call-with-collectors run function))))))
    (let* ((system (and (for-p "asdf") (known-system name)))
           (suites (and (not system) (for-p "fiveam") (named-tests name (fiveam-tests) #'identity)))
           (entries (and (not system) (not suites) (for-p "sb-rt")
                         (or (named-tests name (rt-entries) #'rt-name) (package-tests name)))))
      (cond (system
             (values (lambda () (run-system run system)) (format nil "System ~a" (first (test-systems system))) system))
            (suites
             (values (collecting (lambda () (mapc (fiveam-run) suites))) (format nil "~{~a~^, ~}" (mapcar #'name-text suites))))
            (entries
             (values (collecting (lambda () (mapc #'rt-run entries)))
                     (if (rest entries) (format nil "Package ~a" (parsed-package name)) (name-text (rt-name (first entries))))))))))

(defun run-tests (name framework stop)
  "Run the tests that NAME means: those of a system, or of a suite or test of FRAMEWORK. It is called by evaluated code, so that it can be
stopped. If STOP, the first failure stops it.
=> (:tests TARGET (FRAMEWORK ...) PASSED FAILED SKIPPED MILLISECONDS (FAILURE ...) (TYPE MESSAGE)) | (:not-found NAME (SIMILAR ...))"
  (let ((run (make-test-run :stop stop)))
    (multiple-value-bind (function target system) (runner name framework run)
      (if (null function)
          (list :not-found name (similar-tests name))
          (let* ((start (get-internal-real-time))
                 (problem (funcall function))
                 (seconds (/ (- (get-internal-real-time) start) internal-time-units-per-second)))
            (with-files () (run-facts run target system problem seconds)))))))
