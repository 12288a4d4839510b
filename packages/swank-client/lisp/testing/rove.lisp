;;;; Tests of Rove, which records each assertion when it is made: also an error, before the stack is unwound.

(in-package #:swank-client/frameworks)

(defun rove-slot (object name &optional (package "ROVE/CORE/RESULT"))
  "The value of the slot NAME of OBJECT, of Rove's PACKAGE, or NIL."
  (slot-named object package name))

(defun rove-p (object class)
  "True if OBJECT is of Rove's CLASS of results, a name."
  (instance-p object "ROVE/CORE/RESULT" class))

;;; Failures

(defun rove-test (stats)
  "The name of the test that runs, according to STATS: that of the innermost context which is a symbol, or else the outermost text."
  (let ((names (remove nil (mapcar (lambda (context) (rove-slot context "NAME" "ROVE/CORE/STATS"))
                                   (rove-slot stats "CONTEXTS" "ROVE/CORE/STATS")))))
    (or (find-if #'symbolp names) (first (last names)) "?")))

(defun rove-labels (stats)
  "The texts of the groups in which the check is made, according to STATS, the outermost first."
  (reverse (loop for context in (rove-slot stats "CONTEXTS" "ROVE/CORE/STATS")
                 for name = (rove-slot context "NAME" "ROVE/CORE/STATS")
                 until (and name (symbolp name))
                 when (stringp name) collect name)))

(defun rove-values (assertion test)
  "The values of the arguments in the form of ASSERTION, of TEST, that are no constants: ARGUMENT = VALUE on a line each; or NIL."
  (let ((lines (loop for argument in (rove-slot assertion "ARGS")
                     for value in (rove-slot assertion "VALUES")
                     unless (constantp argument)
                       collect (format nil "~a = ~a" (tested-form-text argument test) (name-text value)))))
    (and lines (format nil "~{~a~^~%~}" lines))))

(defun rove-place (assertion)
  "The (FILE LINE COLUMN) of ASSERTION, if Rove has recorded it; or NIL."
  (let ((place (rove-slot assertion "SOURCE-LOCATION")))
    (and (typep place '(cons string (cons integer)))
         (destructuring-bind (file line &optional column) place
           (list file line (and (integerp column) (1+ column)))))))

(defun rove-failure (stats assertion)
  "The failure that ASSERTION, which STATS is to record, is."
  (let* ((test (rove-test stats))
         (form (rove-slot assertion "FORM"))
         (problem (rove-slot assertion "REASON"))
         (description (reason-text (rove-slot assertion "DESC")))
         (reasons (append (rove-labels stats) (and description (null problem) (list description)))))
    (make-failure :test test
                  :problem (and (typep problem 'condition) problem)
                  ;; what is no form has the form T
                  :form (and (not (eq form t)) (tested-form-text form test))
                  :expected (and (null problem) (not (eq form t)) (if (rove-slot assertion "NEGATIVE") "false" "true"))
                  :actual (and (null problem) (rove-values assertion test))
                  :reason (and reasons (format nil "~{~a~^: ~}" reasons))
                  :place (rove-place assertion))))

;;; Runs

(defun record-rove (run function stats object)
  "Call FUNCTION, by which Rove's STATS record OBJECT, and count that in RUN if it is an assertion. => the values of FUNCTION"
  (let ((failure (and (rove-p object "ASSERTION") (rove-p object "FAILED") (rove-failure stats object))))
    (multiple-value-prog1 (funcall function stats object)
      (when (rove-p object "ASSERTION")
        (note-framework run "Rove")
        (cond (failure (meet-failure run failure))
              ((rove-p object "PENDING") (count-result run :skipped))
              (t (count-result run :passed)))))))

(defun call-rove (run function &rest arguments)
  "Call FUNCTION, which runs tests of Rove, with ARGUMENTS, for RUN. => the values of FUNCTION"
  (note-framework run "Rove")
  (call-framework function arguments))

(defun make-quiet-reporter (run function &rest arguments)
  "Call FUNCTION, which makes a reporter of Rove for RUN, with ARGUMENTS. It prints nothing."
  (declare (ignore run))
  (call-binding "ROVE/REPORTER" (list (list "*REPORT-STREAM*" (make-broadcast-stream))) function arguments))

;;; Tests

(defun rove-tests ()
  "The tests of Rove."
  (let ((suites (value-if-loaded "ROVE/CORE/SUITE/PACKAGE" "*PACKAGE-SUITES*")))
    (when (hash-table-p suites)
      (loop for suite being the hash-values of suites
            append (loop for name in (slot-named suite "ROVE/CORE/SUITE/PACKAGE" "%TESTS")
                         when (get name (accessible-symbol "TEST" "ROVE/CORE/SUITE/PACKAGE"))
                           collect (list* name (symbol-package name) name))))))

(defun rove-package-runner (package)
  "A function that runs the tests in PACKAGE, or NIL."
  (and (call-if-loaded "ROVE" "FIND-SUITE" package)
       (lambda ()
         ;; otherwise the results would be added to those of the user's last run
         (call-if-loaded "ROVE/REPORTER" "INVOKE-REPORTER"
                         (call-if-loaded "ROVE/REPORTER" "MAKE-REPORTER" :spec)
                         (lambda () (call-if-loaded "ROVE" "RUN-SUITE" package))))))

(add-framework :id "rove"
               :tests #'rove-tests
               :runner (lambda (names) (dolist (name names) (call-if-loaded "ROVE" "RUN-TEST" name)))
               :package-runner #'rove-package-runner
               :wrappers '(("ROVE/REPORTER" "MAKE-REPORTER" make-quiet-reporter)
                           ("ROVE/REPORTER" "INVOKE-REPORTER" call-rove)
                           ("ROVE/CORE/STATS" "RECORD" record-rove)))
