;;;; What defines what, and what a name means now.

(in-package #:@runtime@)

(defun defining-kind (operator)
  (case operator
    (defun :function)
    (defmacro :macro)
    (defgeneric :generic-function)
    (defmethod :method)
    ((defvar defparameter sb-ext:defglobal) :variable)
    (defconstant :constant)
    (define-symbol-macro :symbol-macro)
    (defclass :class)
    (defstruct :structure)
    (define-condition :condition)
    (deftype :type)
    (define-compiler-macro :compiler-macro)
    ((defsetf define-setf-expander) :setf-expander)
    (define-method-combination :method-combination)
    (defpackage :package)
    (setf :setf)))

(defun assigned-function (form)
  "The kind and the name of the function that FORM gives a definition: (SETF (FDEFINITION 'NAME) ...)."
  (let ((kind (getf '(fdefinition :function symbol-function :function macro-function :macro) (first (second form))))
        (quoted (second (second form))))
    (when (and kind (typep quoted '(cons (eql quote))))
      (values kind (second quoted)))))

(defun defined-thing (form)
  "The kind and the name of what FORM defines if its evaluation gets that far."
  (let ((kind (defining-kind (first form)))
        (named (second form)))
    (case kind
      ((nil) nil)
      (:setf (when (consp named) (assigned-function form)))
      (:structure (values kind (if (consp named) (first named) named)))
      (:package (values kind (string named)))
      (t (values kind named)))))

(defun name-p (kind name)
  (typecase name
    (null nil)
    (symbol t)
    (string (eq kind :package))
    ((cons (eql setf) (cons symbol null)) t)))

;;; What is there

(defun source-kinds (kind)
  "The kinds of what would stand in the place of a definition of KIND."
  (or (find kind '((:function :generic-function :macro)
                   (:variable :constant :symbol-macro)
                   (:class :structure :condition))
            :test #'member)
      (list kind)))

(defun exists-p (kind name)
  (case kind
    ((:function :generic-function :macro) (fboundp name))
    ((:variable :constant :symbol-macro) (or (boundp name) (not (eq (sb-int:info :variable :kind name) :unknown))))
    ((:class :structure :condition) (find-class name nil))
    (:package (find-package name))))

(defun methods-of (name)
  (let ((function (and (fboundp name) (fdefinition name))))
    (when (typep function 'generic-function)
      (copy-list (sb-mop:generic-function-methods function)))))

(defun source-origin (source)
  (getf (sb-introspect:definition-source-plist source) :emacs-buffer))

(defun definition-source (kind name)
  (first (sb-introspect:find-definition-sources-by-name
          ;; a package is looked for under a symbol, which need not be in any
          (if (stringp name) (make-symbol name) name)
          kind)))

(defun implicit-origin (name)
  "Where the first method came from of a generic function that nobody defined for itself."
  (some (lambda (method) (source-origin (sb-introspect:find-definition-source method)))
        (reverse (methods-of name))))

(defun current-definition (kind name)
  "(KIND ORIGIN) of what NAME means now, ORIGIN being NIL if it came from a file; NIL if there is nothing."
  (loop for kind in (source-kinds kind)
        for source = (definition-source kind name)
        when source
          return (list kind (or (source-origin source)
                                (and (eq kind :generic-function)
                                     (null (sb-introspect:definition-source-pathname source))
                                     (implicit-origin name))))
        finally (return (and (exists-p kind name) (list kind nil)))))

(defun method-name (name method)
  "(NAME QUALIFIER... (SPECIALIZER...))"
  (flet ((specializer-name (specializer)
           (if (typep specializer 'sb-mop:eql-specializer)
               (list 'eql (sb-mop:eql-specializer-object specializer))
               (class-name specializer))))
    (cons name (append (method-qualifiers method)
                       (list (mapcar #'specializer-name (sb-mop:method-specializers method)))))))
