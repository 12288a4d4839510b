;;;; Kinds of definitions: which operators make them, and which definition a name has now.

(in-package #:swank-client/ledger)

(defun defining-kind (operator)
  "The kind of definition that OPERATOR makes, or NIL."
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
  "The kind and the name of the function that FORM, (SETF (FDEFINITION 'NAME) ...), defines."
  (let ((kind (getf '(fdefinition :function symbol-function :function macro-function :macro) (first (second form))))
        (quoted (second (second form))))
    (when (and kind (typep quoted '(cons (eql quote))))
      (values kind (second quoted)))))

(defun defined-thing (form)
  "The kind and the name of the definition that FORM makes."
  (let ((kind (defining-kind (first form)))
        (named (second form)))
    (case kind
      ((nil) nil)
      (:setf (when (consp named) (assigned-function form)))
      (:structure (values kind (if (consp named) (first named) named)))
      (:package (values kind (string named)))
      (t (values kind named)))))

(defun name-p (kind name)
  "True if a definition of KIND can have NAME."
  (typecase name
    (null nil)
    (symbol t)
    (string (eq kind :package))
    ((cons (eql setf) (cons symbol null)) t)))

;;; Current definitions

(defun source-kinds (kind)
  "The kinds of definitions that replace one of KIND, KIND included."
  (or (find kind '((:function :generic-function :macro)
                   (:variable :constant :symbol-macro)
                   (:class :structure :condition))
            :test #'member)
      (list kind)))

(defun exists-p (kind name)
  "True if NAME is defined as KIND."
  (case kind
    ((:function :generic-function :macro) (fboundp name))
    ((:variable :constant :symbol-macro) (or (boundp name) (not (eq (sb-int:info :variable :kind name) :unknown))))
    ((:class :structure :condition) (find-class name nil))
    (:package (find-package name))))

(defun methods-of (name)
  "The methods of NAME, if it is a generic function."
  (let ((function (and (fboundp name) (fdefinition name))))
    (when (typep function 'generic-function)
      (copy-list (sb-mop:generic-function-methods function)))))

(defun source-origin (source)
  "The origin of SOURCE, a definition source, or NIL: see evaluate/form-source.lisp."
  (getf (sb-introspect:definition-source-plist source) :emacs-buffer))

(defun definition-source (kind name)
  "The definition source of NAME as KIND, or NIL."
  (first (sb-introspect:find-definition-sources-by-name
          ;; a package is looked up by a symbol, which may be uninterned
          (if (stringp name) (make-symbol name) name)
          kind)))

(defun implicit-origin (name)
  "The origin of the first method of NAME, a generic function that a DEFMETHOD created."
  (some (lambda (method) (source-origin (sb-introspect:find-definition-source method)))
        (reverse (methods-of name))))

(defun current-definition (kind name)
  "(KIND ORIGIN) of the current definition of NAME, or NIL if there is none. ORIGIN is NIL if the definition came from a file."
  (loop for kind in (source-kinds kind)
        for source = (definition-source kind name)
        when source
          return (list kind (or (source-origin source)
                                (and (eq kind :generic-function)
                                     (null (sb-introspect:definition-source-pathname source))
                                     (implicit-origin name))))
        finally (return (and (exists-p kind name) (list kind nil)))))

(defun specializer-name (specializer)
  "The name of a class, or (EQL OBJECT)."
  (if (typep specializer 'sb-mop:eql-specializer)
      (list 'eql (sb-mop:eql-specializer-object specializer))
      (class-name specializer)))

(defun method-name (name method)
  "(NAME QUALIFIER... (SPECIALIZER...))"
  (cons name (append (method-qualifiers method)
                     (list (mapcar #'specializer-name (sb-mop:method-specializers method))))))
