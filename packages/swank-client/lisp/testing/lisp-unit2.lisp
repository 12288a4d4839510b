;;;; Tests of lisp-unit2, which signals a condition for each assertion.

(in-package #:swank-client/frameworks)

(defun lisp-unit2-slot (object name)
  "The value of the slot NAME of OBJECT, of lisp-unit2, or NIL."
  (slot-named object "LISP-UNIT2" name))

(defun lisp-unit2-p (object class)
  "True if OBJECT is of the CLASS of lisp-unit2, a name."
  (instance-p object "LISP-UNIT2" class))

;;; Failures

(defun lisp-unit2-reason (extras name)
  "The text of EXTRAS, (FORM VALUE ...), which a failed assertion of the test NAME gives as its reason; or NIL."
  (reason-text (format nil "~{~a~^, ~}"
                       (loop for (form value) on extras by #'cddr
                             collect (if (stringp form) form (format nil "~a = ~a" (tested-form-text form name) (name-text value)))))))

(defun lisp-unit2-failure (name failure)
  "The failure of the test NAME that FAILURE, an object of lisp-unit2, is."
  (let ((signalled-p (lisp-unit2-p failure "SIGNAL-RESULT"))
        (expected (lisp-unit2-slot failure "EXPECTED"))
        (actual (lisp-unit2-slot failure "ACTUAL")))
    (make-failure :test name
                  :form (tested-form-text (lisp-unit2-slot failure "FORM") name)
                  :expected (cond ((not signalled-p) (values-text expected))
                                  ((first expected) "the condition")
                                  (t "no such condition"))
                  :actual (if (and signalled-p (null (first actual))) "no such condition" (values-text actual))
                  :reason (lisp-unit2-reason (lisp-unit2-slot failure "EXTRAS") name))))

;;; Runs

(defun note-lisp-unit2 (run name condition)
  "Count CONDITION in RUN if it says that an assertion of the test NAME passed or failed."
  (cond ((lisp-unit2-p condition "ASSERTION-PASS") (count-result run :passed))
        ((lisp-unit2-p condition "ASSERTION-FAIL")
         (meet-failure run (lisp-unit2-failure name (lisp-unit2-slot condition "FAILURE"))))))

(defun listed (collector)
  "The elements of COLLECTOR, which lisp-unit2 has for NIL or more things."
  (if (listp collector) collector (lisp-unit2-slot collector "HEAD")))

(defun run-lisp-unit2 (run function test &rest arguments)
  "Call FUNCTION, which runs TEST of lisp-unit2, with ARGUMENTS, and add the results to RUN. => the result"
  (note-framework run "lisp-unit2")
  (let* ((name (lisp-unit2-slot test "NAME"))
         (result (handler-bind ((condition (lambda (condition)
                                             (when (eq *test-run* run) (note-lisp-unit2 run name condition)))))
                   ;; lisp-unit2 ends a test at an error unless there is a debugger hook
                   (let ((*debugger-hook* (and (test-run-stop run) (or *debugger-hook* (constantly nil)))))
                     (call-framework function (cons test arguments))))))
    (dolist (problem (listed (lisp-unit2-slot result "ERRORS")))
      (add-failure run (make-failure :test name :problem problem)))
    result))

;;; Tests

(defun lisp-unit2-tests ()
  "The tests and tags of lisp-unit2."
  (let* ((database (value-if-loaded "LISP-UNIT2" "*TEST-DB*"))
         (names (and database (lisp-unit2-slot database "NAME-INDEX")))
         (tags (and database (lisp-unit2-slot database "TAG-INDEX"))))
    (flet ((entries (table key)
             (and (hash-table-p table)
                  (loop for name being the hash-keys of table
                        when (and name (symbolp name)) collect (list name (symbol-package name) key name)))))
      (append (entries names :tests) (entries tags :tags)))))

(defun run-lisp-unit2-tests (tests)
  "Run TESTS of lisp-unit2, (:tests NAME) or (:tags TAG) each."
  (loop for (key name) in tests
        do (call-if-loaded "LISP-UNIT2" "RUN-TESTS" key (list name))))

(defun lisp-unit2-package-runner (package)
  "A function that runs the tests in PACKAGE, or NIL."
  (and (find-if (lambda (test) (and (eq package (second test)) (eq :tests (third test)))) (lisp-unit2-tests))
       (lambda () (call-if-loaded "LISP-UNIT2" "RUN-TESTS" :package package))))

(add-framework :id "lisp-unit2"
               :tests #'lisp-unit2-tests
               :runner #'run-lisp-unit2-tests
               :package-runner #'lisp-unit2-package-runner
               :wrappers '(("LISP-UNIT2" "%RUN-TEST" run-lisp-unit2)))
