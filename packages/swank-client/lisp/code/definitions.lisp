;;;; All definitions of a name.

(in-package #:swank-client/code)

(defparameter *kinds*
  '(:function :generic-function :macro :compiler-macro :variable :constant :symbol-macro :class :structure :condition :type
    :setf-expander :method-combination :package)
  "Kinds of definitions, in the order in which they are listed. Methods follow their generic function.")

(defstruct definition
  "A definition of NAME as KIND. RECORD is SBCL's record of its place, or NIL. METHOD is that of a method."
  kind name
  (record nil)
  (method nil))

(defun method-definitions (name)
  "The methods of NAME, in the order in which they were defined."
  (loop for method in (reverse (methods-of name))
        collect (make-definition :kind :method :name name :method method :record (or-nil (sb-introspect:find-definition-source method)))))

(defun found-p (source)
  "True if SOURCE, SBCL's record of a place, says anything."
  (or (sb-introspect:definition-source-pathname source) (sb-introspect:definition-source-plist source)))

(defun kind-definitions (name kind)
  "The definitions of NAME as KIND."
  (loop for source in (or-nil (sb-introspect:find-definition-sources-by-name name kind))
        collect (make-definition :kind kind :name name :record (and (found-p source) source))))

(defun built-in-operator (name)
  "The definition of NAME, an operator that SBCL records no place for, as a list; or NIL."
  (when (and (symbolp name) (fboundp name) (special-operator-p name))
    (list (make-definition :kind :special-operator :name name))))

(defun definitions-of (name)
  "All definitions of NAME, a symbol or (SETF SYMBOL)."
  (or (loop for kind in (if (symbolp name) *kinds* '(:function :generic-function :compiler-macro))
            append (kind-definitions name kind)
            when (eq kind :generic-function) append (method-definitions name))
      (built-in-operator name)))

(defun all-definitions (symbol setf-p)
  "All definitions of SYMBOL, or only those of (SETF SYMBOL) if SETF-P."
  (let ((setf-name (list 'setf symbol)))
    (append (unless setf-p (definitions-of symbol))
            (definitions-of setf-name)
            (when setf-p (kind-definitions symbol :setf-expander)))))

(defun name-text (name)
  "NAME, of a definition or a method, as code in the current package writes it."
  (with-name-syntax (*package*)
    (line-text-in-time name 300)))

(defun definition-text (definition)
  "The name of DEFINITION as code in the current package writes it."
  (let ((name (definition-name definition))
        (method (definition-method definition)))
    (name-text (if method (method-form name method) name))))
