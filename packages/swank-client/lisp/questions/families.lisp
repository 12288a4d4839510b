;;;; Groups the methods of a generic function that has many, so that one of each group can stand for the others.

(in-package #:swank-client/questions)

(defconstant +methods-shown+ 12 "Methods of a name that are shown without groups.")

(defconstant +families-shown+ 20 "Families that are told apart by classes; if there are more, by the packages of these.")

(defconstant +family-names+ 8 "Methods named of a family.")

(defun home-of-class (class)
  "The package of the name of CLASS, or NIL."
  (let ((name (class-name class)))
    (and name (symbolp name) (symbol-package name))))

(defun general-class-p (class)
  "True if CLASS says little about its subclasses: one that all have, or an internal one of Lisp."
  (let ((home (home-of-class class)))
    (or (member (class-name class) '(t standard-object structure-object))
        (null home)
        (implementation-package-p home))))

(defun class-and-superclasses (class)
  "CLASS and its superclasses, general ones after those that have them. Those of a class that has never been used are not in order yet."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (remove-duplicates (cons class (loop for superclass in (sb-mop:class-direct-superclasses class)
                                           append (class-and-superclasses superclass))))))

(defun family-of-class (class)
  "What CLASS has in common with the others of its family: the most general superclass in the program, or else in the package COMMON-LISP;
:INTERNAL for classes that have only internal ones of Lisp."
  (let ((telling (remove-if #'general-class-p (class-and-superclasses class))))
    (cond ((eq class (find-class t)) class)
          ((find (find-package "COMMON-LISP") telling :key #'home-of-class :test-not #'eq :from-end t))
          ((first (last telling)))
          (t :internal))))

(defun family-of-specializer (specializer)
  "What SPECIALIZER has in common with the others of its family."
  (typecase specializer
    (sb-mop:eql-specializer (list :eql (family-of-class (class-of (sb-mop:eql-specializer-object specializer)))))
    (class (family-of-class specializer))
    (t specializer)))

(defun family-key (definition)
  "An object that is equal for the definitions of methods of one family: those with equal qualifiers and related specializers."
  (let ((method (definition-method definition)))
    (list* (definition-name definition) (method-qualifiers method)
           (mapcar #'family-of-specializer (sb-mop:method-specializers method)))))

(defun coarse-key (key)
  "KEY, of FAMILY-KEY, with packages in place of classes."
  (destructuring-bind (name qualifiers . families) key
    (flet ((coarse (family) (if (typep family 'class) (home-of-class family) family)))
      (list* name qualifiers
             (loop for family in families
                   collect (if (consp family) (mapcar #'coarse family) (coarse family)))))))

(defun grouped (definitions key)
  "The lists of those of DEFINITIONS for which KEY returns equal objects, in order."
  (let ((groups '()) (table (make-hash-table :test 'equal)))
    (dolist (definition definitions)
      (let* ((value (funcall key definition))
             (group (or (gethash value table)
                        (first (push (setf (gethash value table) (list nil)) groups)))))
        (push definition (rest group))))
    (mapcar (lambda (group) (reverse (rest group))) (reverse groups))))

(defun families (methods)
  "METHODS, definitions, grouped."
  (let ((groups (grouped methods #'family-key)))
    (if (> (length groups) +families-shown+)
        (grouped methods (lambda (definition) (coarse-key (family-key definition))))
        groups)))

(defun representative (family)
  "The one of FAMILY for the class that the others have in common, or the first."
  (or (find-if (lambda (definition)
                 (every (lambda (specializer) (eq specializer (family-of-specializer specializer)))
                        (sb-mop:method-specializers (definition-method definition))))
               family)
      (first family)))

(defun family-entry (family shown)
  "(NAME COUNT (NAME ...)) for the others of FAMILY than SHOWN: its name, their number, and the names of the first."
  (let ((others (remove shown family)))
    (list (definition-text shown) (length others)
          (loop for other in others repeat +family-names+ collect (definition-text other)))))

(defun with-families (definitions)
  "=> DEFINITIONS with one method of each family, if there are many methods, and the entries of the families that have others"
  (let ((methods (remove :method definitions :key #'definition-kind :test-not #'eq)))
    (if (<= (length methods) +methods-shown+)
        (values definitions '())
        (loop for family in (families methods)
              for shown = (representative family)
              collect shown into all-shown
              when (rest family) collect (family-entry family shown) into entries
              finally (return (values (remove-if (lambda (definition)
                                                   (and (definition-method definition) (not (member definition all-shown))))
                                                 definitions)
                                      entries))))))
