;;;; What cannot be loaded form by form, and what is left to do after a form was loaded.

(in-package #:swank-client/code)

(defun change-operator (change)
  "The name of the operator of the form of CHANGE in its file, or NIL."
  (let* ((text (change-file-text change))
         (operator (and text (definition-head text 0 (length text)))))
    (and operator (operator-name operator))))

(defun package-of-change (change)
  "The package in which the form of CHANGE is read in its file, or NIL."
  (let ((file (change-file change)))
    (package-at (file-text file) (file-forms file) (change-number change) (file-initial-package file))))

(defun reason-to-reload (change moved)
  "The reason for not loading the form of CHANGE alone, or NIL. MOVED: the number of forms of its file that did not change and are in another
package now, and of deleted IN-PACKAGE forms."
  (let ((operator (change-operator change))
        (text (change-file-text change)))
    (cond ((null operator) nil)
          ((and (change-definition change) (string= operator "DEFSTRUCT")) :structure)
          ((and (change-definition change) (string= operator "DEFCONSTANT")) :constant)
          ((or (reader-form-p text (package-of-change change))
               (syntax-unknown-p (change-file change) (change-number change)))
           :reader)
          ((and (plusp moved) (or (change-moved change) (string= operator "IN-PACKAGE"))) :package))))

;;; What is left to do

(defconstant +macros-limit+ 20 "Most macros and inline functions whose users are looked up. Each takes up to 0.1 s.")

(defun code-of-definition (definition)
  "The function of DEFINITION, a function, macro or method; or NIL."
  (let ((name (definition-name definition)))
    (case (definition-kind definition)
      (:function (fdefinition name))
      (:macro (macro-function name))
      (:method (method-code (definition-method definition))))))

(defun names-compiled-in (definition)
  "The names by which code that is compiled refers to DEFINITION, a structure or a constant."
  (let ((name (definition-name definition)))
    (if (eq :structure (definition-kind definition))
        (cons name (structure-functions name))
        (list name))))

(defun users-of-old-data (change program)
  "((USER . FUNCTION) ...): the functions of PROGRAM that were compiled with the structure or constant of CHANGE."
  (let* ((changed (change-definition change))
         (names (names-compiled-in changed)))
    (loop for definition in (program-definitions program)
          for function = (or-nil (code-of-definition definition))
          when (and function (not (made-with-p definition changed)) (or-nil (function-uses-p function names)))
            collect (let ((method (definition-method definition)) (name (definition-name definition)))
                      (if method
                          (cons (cons (first *method-function-names*) (method-name name method)) method)
                          (cons name function))))))

(defun made-with-p (definition other)
  "True if the form that made OTHER made DEFINITION, too."
  (and (form-number-of definition)
       (eql (form-number-of definition) (form-number-of other))
       (equal (definition-file-name definition) (definition-file-name other))))

(defun users-before (change)
  "((USER . FUNCTION) ...): the functions that use the old macro or inline function of CHANGE."
  (let ((definition (change-definition change)))
    (when (and definition (member (change-kind change) '(:macro :function)))
      (or-nil (compiled-users (definition-name definition) (change-kind change))))))

(defun remark-on (change)
  "What has to be known about CHANGE after it was loaded: :OLD-EXPANSION, :VALUE-KEPT, :PACKAGE-KEPT, or NIL."
  (when (change-definition change)
    (case (change-kind change)
      ((:compiler-macro :type :setf-expander :symbol-macro) :old-expansion)
      (:variable (and (equal "DEFVAR" (change-operator change)) (boundp (definition-name (change-definition change))) :value-kept))
      (:package (and (not (eq :maybe-changed (change-state change))) :package-kept)))))
