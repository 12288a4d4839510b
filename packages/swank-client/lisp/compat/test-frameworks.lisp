;;;; What FiveAM and sb-rt (also named RT) know about tests. They may be missing, and much of it is not exported.

(defpackage #:swank-client/test-frameworks
  (:documentation "Tests of FiveAM and sb-rt.")
  (:use #:common-lisp #:swank-client/sbcl)
  (:export #:fiveam-condition
           #:fiveam-form
           #:fiveam-quiet-variables
           #:fiveam-reason
           #:fiveam-run
           #:fiveam-status
           #:fiveam-stop-variables
           #:fiveam-test
           #:fiveam-tests
           #:rt-catch-variables
           #:rt-entries
           #:rt-expected
           #:rt-failed-p
           #:rt-form
           #:rt-name
           #:rt-run
           #:rt-runners))

(in-package #:swank-client/test-frameworks)

(defun symbols-of (packages name)
  "The symbols NAME of those PACKAGES that exist."
  (loop for package in packages
        for symbol = (and (find-package package) (find-symbol name package))
        when symbol collect symbol))

;;; FiveAM

(defun fiveam (name &rest arguments)
  "The value of FiveAM's function NAME, called with ARGUMENTS, or NIL if it fails: a slot of a result may be unbound."
  (ignore-errors (apply #'call-if-loaded "IT.BESE.FIVEAM" name arguments)))

(defun fiveam-run ()
  "The name of the function that runs a test or suite of FiveAM and returns its results, or NIL."
  (first (symbols-of '("IT.BESE.FIVEAM") "RUN")))

(defun fiveam-tests ()
  "The names of FiveAM's tests and suites."
  (remove nil (fiveam "TEST-NAMES")))

(defun fiveam-quiet-variables ()
  "The variables of the stream to which FiveAM reports."
  (symbols-of '("IT.BESE.FIVEAM") "*TEST-DRIBBLE*"))

(defun fiveam-stop-variables ()
  "The variables that decide, with the value :DEBUG, that FiveAM stops at failures."
  (append (symbols-of '("IT.BESE.FIVEAM") "*ON-FAILURE*") (symbols-of '("IT.BESE.FIVEAM") "*ON-ERROR*")))

(defun fiveam-status (result)
  "Whether RESULT is :PASSED, :SKIPPED or :FAILED."
  (cond ((fiveam "TEST-PASSED-P" result) :passed)
        ((fiveam "TEST-SKIPPED-P" result) :skipped)
        (t :failed)))

(defun fiveam-test (result)
  "The name of the test of RESULT."
  (fiveam "NAME" (fiveam "TEST-CASE" result)))

(defun fiveam-form (result)
  "The form that RESULT is about, or NIL."
  (fiveam "TEST-EXPR" result))

(defun fiveam-reason (result)
  "The text that says why RESULT is no success."
  (fiveam "REASON" result))

(defun fiveam-condition (result)
  "The error that ended the test of RESULT, or NIL."
  (fiveam "ACTUAL-CONDITION" result))

;;; sb-rt. Its entries are lists in SBCL, and structures elsewhere.

(defparameter *rt-packages* '("SB-RT" "REGRESSION-TEST") "The names that the package of sb-rt has.")

(defun rt (entry name &rest arguments)
  "The value of the function NAME of the sb-rt that ENTRY is of, called with ENTRY and ARGUMENTS."
  (apply #'call-if-loaded (if (listp entry) "SB-RT" "REGRESSION-TEST") name entry arguments))

(defun rt-runners ()
  "The names of the functions that run an entry."
  (symbols-of *rt-packages* "DO-ENTRY"))

(defun rt-catch-variables ()
  "The variables that decide, with the value NIL, that errors of tests are not handled."
  (symbols-of *rt-packages* "*CATCH-ERRORS*"))

(defun rt-entries ()
  "The entries of all tests."
  (loop for variable in (symbols-of *rt-packages* "*ENTRIES*")
        append (rest (symbol-value variable))))

(defun rt-name (entry)
  "The name of the test ENTRY."
  (rt entry "NAME"))

(defun rt-form (entry)
  "The form of the test ENTRY."
  (rt entry "FORM"))

(defun rt-failed-p (entry)
  "True if the test ENTRY has failed, or has not run."
  (rt entry "PEND"))

(defun rt-expected (entry)
  "The values that the test ENTRY expects, as a list."
  (if (listp entry) (nthcdr 3 entry) (rt entry "VALS")))

(defun rt-run (entry)
  "Run the test ENTRY."
  (rt entry "DO-ENTRY"))
