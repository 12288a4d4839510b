;;;; What test frameworks have in common: results, names of tests, and the places of their definitions.

(in-package #:swank-client/frameworks)

;;; The results of the tests that a thread runs, of any framework.

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

;;; What the image's test frameworks have in common. Each has a file of its own, which names the framework's functions and slots by their
;;; texts: a framework may be missing, or be loaded while tests run.

(defstruct framework
  "A test framework that may be in the image."
  ;; as callers name it
  id
  ;; a function without arguments => ((NAME PACKAGE . TEST) ...) of its tests and suites. NAME is a symbol or a text. It must not wait for
  ;; the compiler's lock.
  tests
  ;; a function that runs a list of TESTs
  runner
  ;; a function => a function that runs the tests in a package, or NIL if that has none
  package-runner
  ;; ((PACKAGE NAME WRAPPER) ...): while tests run, WRAPPER is called in place of the function NAME, with the run, that function and its
  ;; arguments
  wrappers)

(defvar *frameworks* '() "All frameworks, in the order in which a test is looked for.")

(defun add-framework (&rest arguments &key id &allow-other-keys)
  "Add the framework with the slots in ARGUMENTS, or replace that of the same ID."
  (setf *frameworks* (append (remove id *frameworks* :key #'framework-id :test #'string=)
                             (list (apply #'make-framework arguments)))))

(defun framework-tests-now (framework)
  "((NAME PACKAGE . TEST) ...) of the tests and suites of FRAMEWORK that are in the image."
  (or-nil (funcall (framework-tests framework))))

;;; Objects of frameworks

(defun slot-named (object package name)
  "The value of the slot of OBJECT with the symbol NAME of PACKAGE, or NIL if it is unbound or missing."
  (let ((symbol (and (find-package package) (accessible-symbol name package))))
    (and symbol
         (slot-exists-p object symbol)
         (slot-boundp object symbol)
         (slot-value object symbol))))

(defun instance-p (object package name)
  "True if OBJECT is an instance of the class with the symbol NAME of PACKAGE."
  (let* ((symbol (and (find-package package) (accessible-symbol name package)))
         (class (and symbol (find-class symbol nil))))
    (and class (typep object class))))

(defun call-binding (package bindings function arguments)
  "Apply FUNCTION to ARGUMENTS with BINDINGS, ((NAME VALUE) ...), of those variables of PACKAGE that exist."
  (let ((found (loop for (name value) in bindings
                     for symbol = (and (find-package package) (accessible-symbol name package))
                     when symbol collect (cons symbol value))))
    (progv (mapcar #'car found) (mapcar #'cdr found) (apply function arguments))))

;;; Encapsulating

(defun wrapped (run wrapper)
  "A function that is called in place of one of a framework, with that and its arguments. In the thread of RUN it calls WRAPPER."
  (lambda (function &rest arguments)
    (if (eq *test-run* run)
        (apply wrapper run function arguments)
        (apply function arguments))))

(defun ensure-wrapped (run)
  "Encapsulate for RUN the functions of the frameworks that have been loaded by now."
  (dolist (framework *frameworks*)
    (loop for (package name wrapper) in (framework-wrappers framework)
          for symbol = (and (find-package package) (accessible-symbol name package))
          when (and symbol (fboundp symbol) (not (member symbol (test-run-encapsulated run))))
            do (push symbol (test-run-encapsulated run))
               (encapsulate-function symbol (test-run-tag run) (wrapped run wrapper)))))

(defun call-collecting (run function)
  "Call FUNCTION so that RUN gets the results of the tests that this thread runs in it."
  (unwind-protect (let ((*test-run* run))
                    (ensure-wrapped run)
                    (funcall function))
    (dolist (name (test-run-encapsulated run)) (unencapsulate-function name (test-run-tag run)))))

;;; Where tests are defined. No framework records it.

(defun test-files (system)
  "The files in which the tests of SYSTEM can be, or those that are loaded if it is NIL."
  (existing-files (if system
                      (loop for name in (test-systems system)
                            append (system-files (string-downcase name)))
                      (append (loaded-files)
                              (loop for name in (or-nil (loaded-systems))
                                    append (system-files name))))))

(defun test-form (test files)
  "=> the first of FILES, preferably with code of its package, with a form with the name TEST, a symbol or a text, that no operator of Lisp
defines, and the (START END) of that form; or NIL"
  (let ((definition (test-definition test))
        (package (and (symbolp test) (home-name test)))
        (elsewhere nil))
    (dolist (name files (and elsewhere (values-list elsewhere)))
      (let* ((file (file-now name))
             (span (and file (search (string test) (file-text file) :test #'char-equal)
                        (definition-span definition file nil))))
        (when span
          ;; a test of the same name can be in another package
          (when (or (null package) (member package (file-packages file) :test #'string=))
            (return (values file span)))
          (unless elsewhere (setf elsewhere (list file span))))))))

(defun test-definition (name)
  "The definition of the test or suite NAME."
  (make-definition :kind :test :name name))

(defun test-definitions (symbol)
  "The definition of the test or suite SYMBOL, as a list; or NIL."
  (and (some (lambda (framework) (find symbol (framework-tests-now framework) :key #'first)) *frameworks*)
       (list (test-definition symbol))))

(defun test-pathname (definition)
  "The file in which the test that is DEFINITION seems to be, or NIL."
  (let ((file (test-form (definition-name definition) (test-files nil))))
    (and file (file-truename file))))
