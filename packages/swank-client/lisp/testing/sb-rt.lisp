;;;; Tests of sb-rt, which is also named RT and REGRESSION-TEST. Its entries are lists in SBCL, and structures elsewhere.

(in-package #:swank-client/frameworks)

(defparameter *rt-packages* '("SB-RT" "REGRESSION-TEST") "The names that the package of sb-rt has.")

(defun rt (entry name &rest arguments)
  "The value of the function NAME of the sb-rt that ENTRY is of, called with ENTRY and ARGUMENTS."
  (apply #'call-if-loaded (if (listp entry) "SB-RT" "REGRESSION-TEST") name entry arguments))

(defun rt-tests ()
  "The tests of sb-rt."
  (loop for package in *rt-packages*
        append (loop for entry in (rest (value-if-loaded package "*ENTRIES*"))
                     for name = (rt entry "NAME")
                     collect (list* (if (symbolp name) name (princ-to-string name))
                                    (and (symbolp name) (symbol-package name))
                                    entry))))

(defun printed-actual (report)
  "The values that a test has returned, from the text of sb-rt's REPORT, or NIL."
  (let ((start (search "Actual value" report)))
    (and start (string-right-trim '(#\Newline #\.) (subseq report (+ 2 (position #\: report :start start)))))))

(defun rt-failure (entry report problem)
  "The failure of the test ENTRY. PROBLEM is the error that ended it; otherwise REPORT is the text that sb-rt has printed."
  (let ((test (rt entry "NAME")))
    (make-failure :test test :problem problem
                  :form (tested-form-text (rt entry "FORM") test)
                  :expected (values-text (if (listp entry) (nthcdr 3 entry) (rt entry "VALS")))
                  :actual (and (null problem) (printed-actual report)))))

(defun call-rt (function entry report)
  "Call FUNCTION, which runs the test ENTRY and prints to REPORT, and lets its errors through. => its value"
  (handler-bind ((style-warning #'muffle-warning))
    (let ((*test-run* nil))
      (call-binding (if (listp entry) "SB-RT" "REGRESSION-TEST") '(("*CATCH-ERRORS*" nil))
                    #'call-framework (list function (list entry report))))))

(defun run-rt (run function entry &rest arguments)
  "Run the test ENTRY by FUNCTION, and add the result to RUN. Errors stop the thread if RUN wants that. => the value of FUNCTION"
  (declare (ignore arguments))
  (note-framework run "sb-rt")
  (let ((report (make-string-output-stream)) (problem nil) (result nil))
    (if (test-run-stop run)
        (setf result (call-rt function entry report))
        (handler-case (setf result (call-rt function entry report))
          (error (condition) (setf problem condition))))
    ;; a test that failed, or was ended, is still pending
    (if (or problem (rt entry "PEND"))
        (meet-failure run (rt-failure entry (get-output-stream-string report) problem))
        (count-result run :passed))
    result))

(defun run-rt-entries (entries)
  "Run the tests ENTRIES."
  (dolist (entry entries) (rt entry "DO-ENTRY")))

(defun rt-package-runner (package)
  "A function that runs the tests in PACKAGE, or NIL."
  (let ((entries (loop for (nil home . entry) in (rt-tests)
                       when (eq home package) collect entry)))
    (and entries (lambda () (run-rt-entries entries)))))

(add-framework :id "sb-rt"
               :tests #'rt-tests
               :runner #'run-rt-entries
               :package-runner #'rt-package-runner
               :wrappers '(("SB-RT" "DO-ENTRY" run-rt)
                           ("REGRESSION-TEST" "DO-ENTRY" run-rt)))
