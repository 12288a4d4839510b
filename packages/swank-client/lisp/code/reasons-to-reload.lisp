;;;; What cannot be loaded form by form, and what is left to do after a form was loaded.

(in-package #:swank-client/code)

(defun change-operator (change)
  "The name of the operator of the form of CHANGE in its file, or NIL."
  (let* ((text (change-file-text change))
         (operator (and text (definition-head text 0 (length text)))))
    (and operator (operator-name operator))))

(defun reason-to-reload (change moved)
  "The reason for not loading the form of CHANGE alone, or NIL. MOVED: the number of forms of its file that did not change and are in another
package now."
  (let ((operator (change-operator change))
        (text (change-file-text change)))
    (cond ((null operator) nil)
          ((and (change-definition change) (string= operator "DEFSTRUCT")) :structure)
          ((and (change-definition change) (string= operator "DEFCONSTANT")) :constant)
          ((and (null (head-kind operator)) (reader-form-p text)) :reader)
          ((and (string= operator "IN-PACKAGE") (plusp moved)) :package))))

(defun texts-with-packages (text forms)
  "((TEXT . NAME) ...): the texts of FORMS, and the name of the package in which each is read, or NIL."
  (loop with name = nil
        for form in forms
        do (setf name (or (or-nil (in-package-name text form)) name))
        collect (cons (form-text text form) name)))

(defun moved-forms (file)
  "The number of forms of FILE that have not changed since it was loaded and are in another package now."
  (let ((loaded (text-as-loaded file)))
    (if (or (null loaded) (string= loaded (file-text file)))
        0
        (let* ((forms (file-forms file))
               (old (texts-with-packages loaded (top-level-forms loaded)))
               (moved (set-difference (texts-with-packages (file-text file) forms) old :test #'equal)))
          (count-if (lambda (pair) (find (car pair) old :key #'car :test #'string=)) moved)))))

;;; What is left to do

(defconstant +macros-limit+ 20 "Most macros and inline functions whose users are looked up. Each takes up to 0.1 s.")

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
