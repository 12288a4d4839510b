;;;; Tests of FiveAM.

(in-package #:swank-client/frameworks)

(defun fiveam (name &rest arguments)
  "The value of FiveAM's function NAME, called with ARGUMENTS, or NIL if it fails: a slot of a result may be unbound."
  (or-nil (apply #'call-if-loaded "IT.BESE.FIVEAM" name arguments)))

(defun fiveam-tests ()
  "The tests and suites of FiveAM."
  (loop for name in (fiveam "TEST-NAMES")
        when (and name (symbolp name)) collect (list* name (symbol-package name) name)))

(defun fiveam-status (result)
  "Whether RESULT is :PASSED, :SKIPPED or :FAILED."
  (cond ((fiveam "TEST-PASSED-P" result) :passed)
        ((fiveam "TEST-SKIPPED-P" result) :skipped)
        (t :failed)))

(defun fiveam-test (result)
  "The name of the test of RESULT."
  (fiveam "NAME" (fiveam "TEST-CASE" result)))

;;; Failures

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
  (let ((reason (let ((text (fiveam "REASON" result))) (and (stringp text) text)))
        (form (fiveam "TEST-EXPR" result))
        (problem (fiveam "ACTUAL-CONDITION" result))
        (test (fiveam-test result)))
    (multiple-value-bind (expected actual) (and reason (compared-values reason))
      (make-failure :test test :problem problem :expected expected :actual actual
                    :form (and form (tested-form-text form test))
                    :reason (and (null expected) (null problem) (reason-text reason))))))

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

;;; Runs

(defun call-quietly-in-fiveam (function arguments &rest bindings)
  "Apply FUNCTION to ARGUMENTS while FiveAM prints nothing, with BINDINGS of its variables."
  (call-binding "IT.BESE.FIVEAM" (list* (list "*TEST-DRIBBLE*" (make-broadcast-stream)) bindings) function arguments))

(defun stopping-bindings (run)
  "Bindings with which FiveAM stops at failures, if RUN wants that. A list in APPLY itself does not compile in SBCL 2.5.2."
  (and (test-run-stop run) '(("*ON-FAILURE*" :debug) ("*ON-ERROR*" :debug))))

(defun run-fiveam (run function &rest arguments)
  "Call FUNCTION, FiveAM's RUN, with ARGUMENTS, and add the results to RUN. => the results"
  (let ((results (let ((*test-run* nil))
                   (apply #'call-quietly-in-fiveam #'call-framework (list function arguments) (stopping-bindings run)))))
    (note-framework run "FiveAM")
    (add-fiveam-results run results)
    results))

(defun explain-fiveam (run function &rest arguments)
  "Call FUNCTION, which prints results of FiveAM that RUN has, with ARGUMENTS."
  (declare (ignore run))
  (call-quietly-in-fiveam function arguments))

(defun run-fiveam-tests (names)
  "Run the tests and suites NAMES."
  (dolist (name names) (call-if-loaded "IT.BESE.FIVEAM" "RUN" name)))

(defun fiveam-package-runner (package)
  "A function that runs the tests whose names are in PACKAGE, or NIL. Its suites would run them again."
  (let ((names (loop for (name home) in (fiveam-tests)
                     when (and (eq home package)
                               (not (instance-p (fiveam "GET-TEST" name) "IT.BESE.FIVEAM" "TEST-SUITE")))
                       collect name)))
    (and names (lambda () (run-fiveam-tests names)))))

(add-framework :id "fiveam"
               :tests #'fiveam-tests
               :runner #'run-fiveam-tests
               :package-runner #'fiveam-package-runner
               :wrappers '(("IT.BESE.FIVEAM" "RUN" run-fiveam)
                           ("IT.BESE.FIVEAM" "EXPLAIN!" explain-fiveam)))
