;;;; Names of methods, as code writes them.

(in-package #:swank-client/stops)

(defun method-name-p (name)
  "True if NAME has the shape (METHOD NAME ...), or (:METHOD NAME ...) as in backtraces."
  (and (consp name) (member (first name) (list* 'method :method *method-function-names*)) (rest name)))

(defun specified-object (form)
  "The object of FORM in (EQL FORM): a quoted object, a literal, or the value of a variable.
Code is refused, because naming a method must not evaluate anything."
  (cond ((typep form '(cons (eql quote) (cons t null))) (second form))
        ((consp form) (error "(EQL ...) takes a literal, a quoted object or a variable, not code to evaluate: ~s" form))
        ((and (symbolp form) (not (keywordp form)))
         (if (boundp form) (symbol-value form) (error "The variable ~s in (EQL ~:*~s) has no value." form)))
        (t form)))

(defun named-specializer (specializer)
  "The specializer object for SPECIALIZER, written as in code."
  (if (consp specializer)
      (sb-mop:intern-eql-specializer (specified-object (second specializer)))
      (find-class specializer)))

(defun generic-function-named (name)
  "The generic function NAME, or NIL."
  (let ((function (and (fboundp name) (fdefinition name))))
    (and (typep function 'generic-function) function)))

(defun named-method (name)
  "The method that (METHOD NAME QUALIFIER... (SPECIALIZER...)) names, or NIL."
  (destructuring-bind (generic &rest others) (rest name)
    (let ((specializers (mapcar #'named-specializer (car (last others)))))
      (and (generic-function-named generic)
           (ignore-errors (find-method (generic-function-named generic) (butlast others) specializers nil))))))

(defun specializer-name (specializer)
  "SPECIALIZER, written as in code."
  (if (typep specializer 'sb-mop:eql-specializer)
      `(eql ,(let ((object (sb-mop:eql-specializer-object specializer)))
               (if (typep object '(or cons (and symbol (not keyword)))) `',object object)))
      (class-name specializer)))

(defun method-form (generic method)
  "The name of METHOD of GENERIC, as NAMED-METHOD takes it."
  `(method ,generic ,@(method-qualifiers method) ,(mapcar #'specializer-name (sb-mop:method-specializers method))))

(defun same-place-p (method other)
  "True if METHOD and OTHER would replace each other in a generic function."
  (and (equal (method-qualifiers method) (method-qualifiers other))
       (equal (sb-mop:method-specializers method) (sb-mop:method-specializers other))))

(defun current-method (generic method)
  "The method of the generic function named GENERIC that METHOD is, or that replaced it; NIL if there is none."
  (let ((function (generic-function-named generic)))
    (and function
         (find method (sb-mop:generic-function-methods function) :test #'same-place-p))))
