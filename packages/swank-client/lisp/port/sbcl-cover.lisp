;;;; SBCL's record of the expressions that ran, the contrib sb-cover, which is loaded when it is first used. These are internals of SBCL.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-cover
  (:documentation "What ran of instrumented files, without disturbing the program's own use of sb-cover.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:call-if-loaded #:symbol-if-loaded)
  (:import-from #:swank-client/sbcl-system #:require-part)
  (:variables #:sb-c #:*code-coverage-info*)
  (:names #:sb-c #:store-coverage-data)
  (:export #:begin-covering #:compile-instrumented #:compiled-pathname #:coverage-records #:covering-record #:end-covering
           #:instrumented-names #:load-cover #:source-components))

(in-package #:swank-client/sbcl-cover)

(defun missing-names ()
  "The names that this SBCL lacks."
  (append (unless (symbol-if-loaded "SB-COVER" "SAVE-COVERAGE") '("SB-COVER:SAVE-COVERAGE"))
          (unless (symbol-if-loaded "SB-C" "*CODE-COVERAGE-INFO*") '("SB-C:*CODE-COVERAGE-INFO*"))
          (unless (symbol-if-loaded "SB-C" "STORE-COVERAGE-DATA") '("SB-C:STORE-COVERAGE-DATA"))))

(defun load-cover ()
  "Load sb-cover unless it is loaded. => NIL, or a text that says what this SBCL lacks"
  (handler-case (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
                  (require-part "SB-COVER"))
    (error (problem)
      (return-from load-cover (format nil "sb-cover, which cannot be loaded: ~a" problem))))
  (let ((missing (missing-names)))
    (and missing (format nil "~{~a~^, ~}" missing))))

;;; The record: a table of the marks of each file and, in newer versions, a list of the instrumented code after it

(defun record-table ()
  "The table of the marks, by the name of the file."
  (if (consp *code-coverage-info*) (first *code-coverage-info*) *code-coverage-info*))

(defun instrumented-names ()
  "The names of the files of which instrumented code has been loaded."
  (loop for name being the hash-keys of (record-table) collect name))

(defun covering-record ()
  "The record, for END-COVERING."
  *code-coverage-info*)

(defun begin-covering ()
  "Begin an empty record."
  (let ((table (make-hash-table :test 'equal :synchronized t)))
    (setf *code-coverage-info* (if (consp *code-coverage-info*) (list table) table))))

(defun end-covering (before)
  "Forget the record, and go on with BEFORE, an earlier one."
  (setf *code-coverage-info* before))

(defun branch-and-path (record)
  "=> :THEN or :ELSE if RECORD is about a branch, else NIL; and the path, indices from the top-level form, of the expression or of the branch's test"
  (let* ((path (reverse record))
         (branch (find-if #'keywordp path)))
    (values branch (remove-if-not #'integerp path))))

(defun coverage-records ()
  "((FILE (BRANCH PATH RAN) ...) ...) of all instrumented files, by name. BRANCH and PATH are as BRANCH-AND-PATH says."
  (loop for (file . records) in (call-if-loaded "SB-COVER" "SAVE-COVERAGE")
        collect (cons file (loop for (record . mark) in records
                                 collect (multiple-value-bind (branch path) (branch-and-path record)
                                           (list branch path (eq mark t)))))))

;;; Compiling by ASDF's functions, without an action of ASDF: that would count as the compiling of the file

(defun compiling ()
  "ASDF's operation that compiles."
  (call-if-loaded "ASDF" "MAKE-OPERATION" (symbol-if-loaded "ASDF" "COMPILE-OP")))

(defun own-source-p (component)
  "True if COMPONENT is compiled from its own file. Others are from files that ASDF makes from it."
  (equal (first (call-if-loaded "ASDF" "INPUT-FILES" (compiling) component))
         (call-if-loaded "ASDF" "COMPONENT-PATHNAME" component)))

(defun source-components (system)
  "The components of SYSTEM, and of those that it depends on, that are compiled from their own files, in the order in which they are loaded."
  (remove-if-not #'own-source-p (call-if-loaded "ASDF" "REQUIRED-COMPONENTS" system :other-systems t)))

(defun compiled-pathname (component)
  "The pathname of the compiled file of COMPONENT."
  (first (call-if-loaded "ASDF" "OUTPUT-FILES" (compiling) component)))

(defmacro with-compiled-files-in ((folder) &body body)
  "Run BODY, in which ASDF keeps compiled files in FOLDER, a pathname."
  `(progv (list (symbol-if-loaded "ASDF/OUTPUT-TRANSLATIONS" "*OUTPUT-TRANSLATIONS*")) (list '())
     (call-if-loaded "ASDF" "INITIALIZE-OUTPUT-TRANSLATIONS"
                     (list :output-translations (list t (list ,folder :**/ :*.*.*)) :ignore-inherited-configuration))
     ,@body))

(defun compile-instrumented (component folder)
  "Compile COMPONENT, a file, to somewhere in FOLDER, a pathname, so that it records what ran. => the compiled file"
  (with-compiled-files-in (folder)
    (with-compilation-unit (:policy (list 'optimize (list 'store-coverage-data 3)))
      (call-if-loaded "ASDF" "PERFORM-LISP-COMPILATION" (compiling) component))
    (compiled-pathname component)))
