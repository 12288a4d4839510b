;;;; What a breakpoint can stand on: names of functions and of methods, and the code of conditions.

(in-package #:@module@)

;;; Reading

(defun use-internal-symbol (condition)
  "People write APP:NAME also where NAME is not exported."
  (when (and (typep condition '(and simple-condition package-error)) (find-restart 'continue condition))
    (let ((name (first (simple-condition-format-arguments condition)))
          (package (find-package (package-error-package condition))))
      (when (and package (stringp name) (find-symbol name package))
        (continue condition)))))

(defun all-forms (source)
  (handler-bind ((reader-error #'use-internal-symbol)) (source-forms source)))

(defun read-name (source)
  (let ((forms (let ((*read-eval* nil)) (all-forms source))))
    (if (= (length forms) 1)
        (first forms)
        (error "The name of one function is wanted, not of ~d." (length forms)))))

(defun compile-condition (source)
  "A function of the argument list, which the code knows as ARGS."
  (let ((forms (all-forms source))
        (args (intern "ARGS")))
    (unless forms (error "The condition holds no code."))
    (compile nil `(lambda (,args) (declare (ignorable ,args)) ,@forms))))

;;; Methods

(defun method-name-p (name)
  (and (consp name) (eq (first name) 'method) (rest name)))

(defun specified-object (form)
  "The object that FORM in (EQL FORM) stands for: what is quoted, a literal, or a variable's value. No code runs to find it: naming a
method is no evaluation."
  (cond ((typep form '(cons (eql quote) (cons t null))) (second form))
        ((consp form) (error "In (EQL ...) a literal, a quoted object or a variable is wanted, not code to evaluate: ~s" form))
        ((and (symbolp form) (not (keywordp form)))
         (if (boundp form) (symbol-value form) (error "The variable ~s in (EQL ~:*~s) has no value." form)))
        (t form)))

(defun named-specializer (specializer)
  (if (consp specializer)
      (sb-mop:intern-eql-specializer (specified-object (second specializer)))
      (find-class specializer)))

(defun named-method (name)
  "The method that (METHOD NAME QUALIFIER... (SPECIALIZER...)) names, or NIL."
  (destructuring-bind (generic &rest others) (rest name)
    (let ((specializers (mapcar #'named-specializer (car (last others)))))
      (and (fboundp generic)
           (typep (fdefinition generic) 'generic-function)
           (ignore-errors (find-method (fdefinition generic) (butlast others) specializers nil))))))

(defun specializer-name (specializer)
  (if (typep specializer 'sb-mop:eql-specializer)
      `(eql ,(let ((object (sb-mop:eql-specializer-object specializer)))
               (if (typep object '(or cons (and symbol (not keyword)))) `',object object)))
      (class-name specializer)))

(defun method-name (generic method)
  "As NAMED-METHOD takes it."
  `(method ,generic ,@(method-qualifiers method) ,(mapcar #'specializer-name (sb-mop:method-specializers method))))

(defun same-place-p (method other)
  "True if one of the two takes the place of the other in a generic function."
  (and (equal (method-qualifiers method) (method-qualifiers other))
       (equal (sb-mop:method-specializers method) (sb-mop:method-specializers other))))

;;; Functions

(defun implementation-name-p (name)
  "True of functions that Lisp, the compiler or Swank itself needs at every step."
  (let* ((symbol (if (consp name) (second name) name))
         (package (symbol-package symbol)))
    (and package
         (or (sb-ext:package-locked-p package)
             (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK"))))))

(defun unfit (name)
  "Why no breakpoint can stand on NAME, or NIL."
  (cond ((not (sb-int:legal-fun-name-p name)) "It is not the name of a function.")
        ((not (fboundp name)) "There is no such function.")
        ((and (symbolp name) (macro-function name)) "It is a macro: it runs when code is compiled, not when that code is called.")
        ((and (symbolp name) (special-operator-p name)) "It is a special operator.")
        ((implementation-name-p name) "Lisp, its compiler or Swank need it at every step.")))

(defun misses (name)
  "Which calls an encapsulation of NAME does not see, or NIL."
  (cond ((eq (sb-int:info :function :inlinep name) 'inline)
         "It is declared inline: calls that were compiled inline do not stop.")
        ((sb-int:info :function :source-transform name)
         "Calls compiled with knowledge of its structure are inlined and do not stop.")))
