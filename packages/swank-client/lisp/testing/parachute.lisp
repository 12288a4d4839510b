;;;; Tests of Parachute. Each check is a result without children; tests and groups are results with children.

(in-package #:swank-client/frameworks)

(defun parachute-slot (object name)
  "The value of the slot NAME of OBJECT, of Parachute, or NIL."
  (slot-named object "PARACHUTE" name))

(defun parachute-p (object class)
  "True if OBJECT is of Parachute's CLASS, a name."
  (instance-p object "PARACHUTE" class))

(defvar *parachute-results* nil "The results that are counted, in a table, while Parachute runs; otherwise NIL.")

(defvar *parachute-test* nil "The test that Parachute runs.")

(defvar *parachute-problem* nil "The error that ended the check or test that Parachute runs, or NIL.")

;;; Failures

(defun expected-of-parachute (result)
  "The text that says what the check RESULT expects, or NIL."
  (let ((expected (parachute-slot result "EXPECTED")))
    (cond ((parachute-p result "MULTIPLE-VALUE-COMPARISON-RESULT") (values-text expected))
          ((not (parachute-p result "COMPARISON-RESULT")) nil)
          ((parachute-slot result "COMPARISON-GEQ") (name-text expected))
          (t (format nil "not ~a" (name-text expected))))))

(defun actual-of-parachute (result)
  "The text of the value or values that the check RESULT got."
  (let ((value (parachute-slot result "VALUE")))
    (if (parachute-p result "MULTIPLE-VALUE-COMPARISON-RESULT")
        (values-text (if (listp value) value (list value)))
        (name-text value))))

(defun parachute-failure (result)
  "The failure that RESULT, of a check, test or group, is."
  (let ((test (parachute-slot *parachute-test* "NAME"))
        (problem *parachute-problem*))
    (flet ((make (&rest arguments)
             (apply #'make-failure :test test :problem problem arguments)))
      (if (parachute-p result "PARENT-RESULT")
          ;; Parachute describes the problem, too
          (make :reason (and (null problem) (reason-text (parachute-slot result "DESCRIPTION"))))
          (make :reason (reason-text (parachute-slot result "DESCRIPTION"))
                :form (let ((form (parachute-slot result "EXPRESSION"))) (and form (tested-form-text form test)))
                :expected (expected-of-parachute result)
                :actual (and (null problem) (parachute-p result "COMPARISON-RESULT") (actual-of-parachute result)))))))

;;; Errors. Parachute's reports handle them, so they are seen only inside what a report calls.

(defun call-noting-problem (run function)
  "Call FUNCTION, the code of a check or test. An error that it does not handle is noted, and stops the thread if RUN wants that."
  (handler-bind ((error (lambda (condition)
                          (unless (eq condition *parachute-problem*)
                            (setf *parachute-problem* condition)
                            (when (test-run-stop run) (stop-at run (make-failure :problem condition)))))))
    (funcall function)))

(defun watch-parachute-body (run result)
  "Make errors of the code of RESULT known to RUN."
  (let ((body (parachute-slot result "BODY")))
    (when (functionp body)
      (setf (slot-value result (accessible-symbol "BODY" "PARACHUTE"))
            (lambda () (call-noting-problem run body))))))

;;; Runs

(defun count-parachute-result (run result context failed-before)
  "Count RESULT, which has been evaluated in CONTEXT, in RUN. FAILED-BEFORE is the number of failures before that."
  ;; some versions of Parachute say of skipped checks that they have passed
  (let ((status (or (parachute-slot context "CHILD-STATUS") (parachute-slot result "STATUS")))
        (parent-p (parachute-p result "PARENT-RESULT")))
    (case status
      (:passed (unless parent-p (count-result run :passed)))
      (:skipped (count-result run :skipped))
      (:failed
       ;; a test has failed because a check did, or by itself
       (when (or (not parent-p) (= failed-before (test-run-failed run)))
         (let ((failure (parachute-failure result)))
           (add-failure run failure)
           (when (and (test-run-stop run) (null (failure-problem failure))) (stop-at run failure))))))))

(defun evaluate-parachute-result (run function context result)
  "Call FUNCTION, which evaluates RESULT in CONTEXT, and count it in RUN. => the values of FUNCTION"
  (let ((status (parachute-slot result "STATUS"))
        (failed (test-run-failed run))
        (*parachute-problem* nil))
    (when (eq status :unknown) (watch-parachute-body run result))
    (multiple-value-prog1 (funcall function context result)
      (when (and (member status '(:unknown :skipped)) (not (gethash result *parachute-results*)))
        (setf (gethash result *parachute-results*) t)
        (count-parachute-result run result context failed)))))

(defun evaluate-parachute (run function context thing)
  "Call FUNCTION, which evaluates THING, a test or a result, in CONTEXT. Results are counted in RUN. => the values of FUNCTION"
  (cond ((null *parachute-results*) (funcall function context thing))
        ((parachute-p thing "RESULT")
         (let ((*parachute-test* (if (parachute-p thing "TEST-RESULT") (parachute-slot thing "EXPRESSION") *parachute-test*)))
           (evaluate-parachute-result run function context thing)))
        (t (call-noting-problem run (lambda () (call-framework function (list context thing)))))))

(defun quiet-report-arguments (arguments)
  "ARGUMENTS of Parachute's TEST, and those that discard what its report prints."
  (let ((report (getf arguments :report))
        (plain (accessible-symbol "PLAIN" "PARACHUTE")))
    (if (and plain
             (or (null report) (or-nil (subtypep report plain)))
             (not (getf arguments :output))
             (not (getf arguments :stream)))
        (list* :output (make-broadcast-stream) arguments)
        arguments)))

(defun run-parachute (run function designator &rest arguments)
  "Call FUNCTION, Parachute's TEST, with DESIGNATOR and ARGUMENTS, and count in RUN what it evaluates. => the report"
  (if *parachute-results*
      ;; a test that runs others for itself
      (let ((*test-run* nil)) (apply function designator arguments))
      (let ((*parachute-results* (make-hash-table :test 'eq)))
        (note-framework run "Parachute")
        ;; the report also warns of errors
        (handler-bind ((warning #'muffle-warning))
          (call-framework function (cons designator (quiet-report-arguments arguments)))))))

;;; Tests

(defun parachute-tests ()
  "The tests of Parachute."
  (let ((indexes (value-if-loaded "PARACHUTE" "*TEST-INDEXES*")))
    (when (hash-table-p indexes)
      (loop for index being the hash-values of indexes
            append (loop for test being the hash-values of index
                         collect (list* (parachute-slot test "NAME") (parachute-slot test "HOME") test))))))

(defun parachute-package-runner (package)
  "A function that runs the tests in PACKAGE, or NIL."
  (and (find package (parachute-tests) :key #'cadr)
       (lambda () (call-if-loaded "PARACHUTE" "TEST" package))))

(add-framework :id "parachute"
               :tests #'parachute-tests
               :runner (lambda (tests) (call-if-loaded "PARACHUTE" "TEST" tests))
               :package-runner #'parachute-package-runner
               :wrappers '(("PARACHUTE" "TEST" run-parachute)
                           ("PARACHUTE" "EVAL-IN-CONTEXT" evaluate-parachute)))
