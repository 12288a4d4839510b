;;;; Imports internals of SBCL that a version of it may lack. A missing one costs the abilities that need it, and nothing else.
;;;; A module can be loaded without it: it is bound to one SBCL anyway (see load-module.lisp), so what is missing is known when this is compiled.

(defpackage #:swank-client/sbcl-internals
  (:documentation "Imports internals of SBCL that a version of it may lack.")
  (:use #:common-lisp)
  (:export #:define-port #:missing-internal #:supported))

(in-package #:swank-client/sbcl-internals)

(define-condition missing-internal (error)
  ((name :initarg :name :reader missing-name))
  (:report (lambda (condition stream)
             (format stream "This SBCL, ~a, lacks ~a." (lisp-implementation-version) (missing-name condition))))
  (:documentation "An ability needs an internal of SBCL that this SBCL lacks. Clients know this condition by its name."))

(defun missing (name)
  "Signal that this SBCL lacks the internal NAME."
  (error 'missing-internal :name name))

(defun (setf missing) (value name)
  "Signal that this SBCL lacks the internal NAME, which would become VALUE."
  (declare (ignore value))
  (missing name))

(defmacro supported (form &optional otherwise &environment environment)
  "The value of FORM, or of OTHERWISE if this SBCL lacks what FORM needs. For refinements of what must go on without them, such as evaluation."
  (cond ((consp form) `(handler-case ,form (missing-internal () ,otherwise)))
        ;; a handler here would be in the value of the variable that holds the handlers
        ((nth-value 1 (macroexpand-1 form environment)) otherwise)
        (t form)))

(defun internal (kind package name)
  "The symbol NAME of PACKAGE if this SBCL has it as KIND, or NIL."
  (let ((symbol (and (find-package package) (find-symbol name package))))
    (and symbol
         (ecase kind
           (:functions (fboundp symbol))
           (:macros (macro-function symbol))
           ((:variables :types :names) t))
         symbol)))

(defun internals-of (clauses)
  "((KIND PACKAGE NAME) ...) of CLAUSES, those of DEFINE-PORT."
  (loop for (kind package . names) in clauses
        when (member kind '(:functions :macros :variables :types :names))
          append (loop for name in names collect (list kind (string package) (string name)))))

(defmacro define-stand-ins (package &rest internals)
  "Define the symbols of PACKAGE that stand for INTERNALS, ((KIND PACKAGE NAME) ...), which this SBCL lacks: using one signals MISSING-INTERNAL."
  `(progn
     ,@(loop for (kind home name) in internals
             for symbol = (intern name package)
             for full-name = (format nil "~a::~a" home name)
             append (ecase kind
                      (:functions
                       `((defun ,symbol (&rest arguments) "A stand-in." (declare (ignore arguments)) (missing ,full-name))
                         (defun (setf ,symbol) (&rest arguments) "A stand-in." (declare (ignore arguments)) (missing ,full-name))))
                      (:macros
                       `((defmacro ,symbol (&rest arguments) "A stand-in." (declare (ignore arguments)) '(missing ,full-name))))
                      (:variables `((define-symbol-macro ,symbol (missing ,full-name))))
                      ;; no object is of this type
                      (:types `((deftype ,symbol () "A stand-in." nil)))
                      (:names '())))))

(defmacro define-port (package &body clauses)
  "Define PACKAGE as DEFPACKAGE does, with internals of SBCL in it.
The further clauses are (KIND PACKAGE NAME ...). KIND is :FUNCTIONS, :MACROS, :VARIABLES, :TYPES, or :NAMES for symbols that are only
compared or read. Where this SBCL lacks an internal, a symbol of PACKAGE itself stands for it."
  (let* ((internals (internals-of clauses))
         ;; a name of two kinds is imported if this SBCL has both
         (missing (remove-duplicates (mapcar #'third (remove-if (lambda (each) (apply #'internal each)) internals)) :test #'string=)))
    (flet ((missing-p (internal) (member (third internal) missing :test #'string=)))
      `(progn
         (defpackage ,package
           ,@(remove-if #'internals-of clauses :key #'list)
           ,@(loop for (nil home name) in (remove-if #'missing-p internals) collect `(:import-from ,home ,name)))
         (define-stand-ins ,package ,@(remove-if-not #'missing-p internals))))))
