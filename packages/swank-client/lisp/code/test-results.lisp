;;;; The results of the tests that a thread runs, of any framework.

(in-package #:swank-client/code)

(defconstant +failures-limit+ 100 "Most failures that a reply has.")

(defstruct failure
  "A failed check or test. TEST is its name, a symbol or a text. FORM is a text. PROBLEM is the error that ended the test, or NIL. PLACE is
(FILE LINE COLUMN) of the check, if the framework records it."
  test (form nil) (expected nil) (actual nil) (reason nil) (problem nil) (place nil))

(defstruct test-run
  "The results of tests. STOP: each failure stops the thread."
  stop
  (frameworks '()) (passed 0) (failed 0) (skipped 0)
  ;; the latest first
  (failures '())
  ;; the names of the encapsulated functions, and the tag of their encapsulations
  (encapsulated '())
  (tag (make-symbol "TESTS"))
  ;; failures are described as code in it writes names
  (package *package*)
  ;; when progress was last reported, in internal real time
  (told (get-internal-real-time)))

(defvar *test-run* nil "The run whose tests this thread runs, or NIL.")

;;; Counts

(defun tell-of-tests (run)
  "Tell the client how far RUN has come, at most twice a second."
  (let ((now (get-internal-real-time)))
    (when (and *evaluation* (> (- now (test-run-told run)) (/ internal-time-units-per-second 2)))
      (setf (test-run-told run) now)
      (report-progress *evaluation* "~d passed, ~d failed" (test-run-passed run) (test-run-failed run)))))

(defun count-result (run status)
  "Count a result of RUN that is :PASSED, :FAILED or :SKIPPED."
  (ecase status
    (:passed (incf (test-run-passed run)))
    (:failed (incf (test-run-failed run)))
    (:skipped (incf (test-run-skipped run))))
  (tell-of-tests run))

(defun note-framework (run name)
  "Note that RUN gets results of the framework NAME."
  (pushnew name (test-run-frameworks run) :test #'string=))

;;; Texts

(defun test-name-text (test)
  "TEST, the name of a test, as code in the current package writes it."
  (if (stringp test) test (name-text test)))

(defun tested-form-text (form test)
  "FORM as the package of TEST, a name, writes it."
  (pretty-text form (or (and (symbolp test) (symbol-package test)) *package*)))

(defun values-text (values)
  "VALUES, each on a line."
  (format nil "~{~a~^~%~}" (mapcar #'name-text values)))

(defun reason-text (reason)
  "REASON without white space around it, if it is a text that says something; otherwise NIL."
  (and (stringp reason)
       (let ((text (string-trim '(#\Newline #\Space) reason)))
         (and (plusp (length text)) text))))

;;; Failures

(defun add-failure (run failure)
  "Count FAILURE, and keep it in RUN unless that has enough."
  (count-result run :failed)
  (when (<= (test-run-failed run) +failures-limit+)
    (push failure (test-run-failures run))))

(defun failure-condition (failure)
  "The error of FAILURE, or one that describes it."
  (or (failure-problem failure)
      (make-condition 'simple-error
                      :format-control "Test ~a failed.~@[~%Form: ~a~]~@[~%Expected: ~a~]~@[~%Actual: ~a~]~@[~%~a~]"
                      :format-arguments (list (test-name-text (failure-test failure)) (failure-form failure)
                                              (failure-expected failure) (failure-actual failure) (failure-reason failure)))))

(defun stop-at (run failure)
  "Enter the debugger because of FAILURE in RUN. Nothing is signalled: a framework would handle that, and end the test."
  (with-simple-restart (continue "Go on with the tests.")
    (invoke-debugger (let ((*package* (test-run-package run))) (failure-condition failure)))))

(defun meet-failure (run failure)
  "Count and keep FAILURE, and stop at it if RUN wants that."
  (add-failure run failure)
  (when (test-run-stop run) (stop-at run failure)))
