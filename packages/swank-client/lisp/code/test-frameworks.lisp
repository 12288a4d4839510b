;;;; What the image's test frameworks have in common. Each has a file of its own, which names the framework's functions and slots by their
;;;; texts: a framework may be missing, or be loaded while tests run.

(in-package #:swank-client/code)

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
