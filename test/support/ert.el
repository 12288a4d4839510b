;;; ert.el --- Runs ERT tests, and prints their results as JSON  -*- lexical-binding: t -*-

(require 'ert)
(require 'json)

(defun swank-test-problem (result)
  "Why RESULT of a test is no success, or nil."
  (cond ((ert-test-passed-p result) nil)
        ((ert-test-result-with-condition-p result) (format "%S" (ert-test-result-with-condition-condition result)))
        (t "The test was skipped or aborted.")))

(defun swank-test-run-ert ()
  "Run every ERT test, and print ((name problem) ...)."
  (let ((results (mapcar (lambda (test)
                           (list (symbol-name (ert-test-name test)) (swank-test-problem (ert-run-test test))))
                         (ert-select-tests t t))))
    (princ (json-encode (vconcat (mapcar (lambda (result)
                                           `((name . ,(car result)) (problem . ,(cadr result))))
                                         results))))))

(defun swank-test-warnings (file)
  "Print what the byte compiler and checkdoc say about FILE."
  (let ((byte-compile-dest-file-function (lambda (_) (make-temp-file "compiled" nil ".elc"))))
    (byte-compile-file file)
    (checkdoc-file file)))

;;; ert.el ends here
