;;;; Reads the name of the function or method that a breakpoint is set on.

(in-package #:swank-client/debugger)

;;; Reading

(defun use-internal-symbol (condition)
  "Accept APP:NAME if NAME is internal to APP, because people write it."
  (when (and (typep condition '(and simple-condition package-error)) (find-restart 'continue condition))
    (let ((name (first (simple-condition-format-arguments condition)))
          (package (find-package (package-error-package condition))))
      (when (and package (stringp name) (accessible-symbol name package))
        (continue condition)))))

(defun all-forms (source)
  "The forms of SOURCE. Internal symbols may be written with one colon."
  (handler-bind ((reader-error #'use-internal-symbol)) (source-forms source)))

(define-condition no-such-package (error)
  ((name :initarg :name :reader missing-package-name))
  (:report "There is no such package.")
  (:documentation "The name of a function names a package that does not exist."))

(defun name-forms (source)
  "The forms of SOURCE, the name of a function or method, read within the limits on data. No code in it is run."
  (check-literal source)
  (let ((forms (let ((*read-eval* nil) (*readtable* (bounded-readtable *readtable*)))
                 (with-literal-limits () (all-forms source)))))
    (unless (unshared-size-p forms 1000) (error "It is circular or too long."))
    forms))

(defun one-form-in (forms)
  "The only one of FORMS."
  (if (= (length forms) 1)
      (first forms)
      (error "Expected the name of one function, but got ~d forms." (length forms))))

(defun read-name (source)
  "The function's or method's name that SOURCE is in the current package: NAME, (setf NAME) or (method NAME ...). No code in it is run, and
NAME is not interned: a symbol of no package stands for an unknown one."
  (let ((text (trimmed source)) (setf-p (setf-text-p (trimmed source))))
    (cond ((and (plusp (length text)) (char= #\( (char text 0)) (not setf-p))
           (one-form-in (name-forms (with-names-spelled text))))
          (t (let ((*read-suppress* t)) (one-form-in (name-forms text)))
             (multiple-value-bind (symbol status package name prefix) (symbol-named text *package*)
               (unless package (error 'no-such-package :name prefix))
               (let ((symbol (if status symbol (make-symbol name))))
                 (if setf-p (list 'setf symbol) symbol)))))))

;;; Functions

(defun implementation-name-p (name)
  "True if NAME is that of a function that Lisp, its compiler or Swank uses all the time."
  (let* ((symbol (if (consp name) (second name) name))
         (package (symbol-package symbol)))
    (and package
         (or (sb-ext:package-locked-p package)
             (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK"))))))

(defun program-specializer-p (specializer)
  "True if SPECIALIZER is a class of the program, or an object of such a class."
  (let* ((object (if (typep specializer 'sb-mop:eql-specializer) (sb-mop:eql-specializer-object specializer) specializer))
         (name (cond ((typep object 'class) (class-name object))
                     ((symbolp object) object)
                     (t (class-name (class-of object))))))
    (and name (not (implementation-name-p name)))))

(defun unbreakable-method-reason (generic method)
  "The reason why no breakpoint can be set on METHOD of GENERIC and its kind, a keyword; or NIL.
Methods of Lisp's generic functions, such as PRINT-OBJECT, must be specialized on the program's classes."
  (cond ((null method) (values "There is no such method." :undefined))
        ((notany #'program-specializer-p (sb-mop:method-specializers method)) (unbreakable-reason generic))))

(defun unbreakable-reason (name)
  "The reason why no breakpoint can be set on NAME and its kind, a keyword; or NIL."
  (cond ((not (sb-int:legal-fun-name-p name)) (values "It is not the name of a function." :name))
        ((not (fboundp name)) (values "There is no such function." :undefined))
        ((and (symbolp name) (macro-function name))
         (values "It is a macro: it runs when code is compiled, not when that code is called." :macro))
        ((and (symbolp name) (special-operator-p name)) (values "It is a special operator." :macro))
        ((implementation-name-p name) (values "Lisp, its compiler or Swank itself calls it." :used-by-lisp))))

(defun missed-calls-text (name missed)
  "A text that says which calls of NAME an encapsulation misses, or NIL. MISSED is the predicate of these calls."
  (let* ((inline (sb-int:info :function :inlinep name))
         (reason (cond ((eq inline 'inline) "It is declared inline: calls that were compiled inline")
                       ((eq inline 'sb-ext:maybe-inline) "It is declared maybe-inline: calls that were compiled inline")
                       ((sb-int:info :function :source-transform name) "Calls compiled with knowledge of its structure are inlined and")
                       ((compiler-macro-function name) "It has a compiler macro: calls that this macro replaced"))))
    (and reason (format nil "~a ~a." reason missed))))
