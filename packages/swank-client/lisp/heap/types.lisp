;;;; Types of what is in the heap: their names, and which belong to a type that a client names.

(in-package #:swank-client/heap)

(defun type-name-of (type)
  "The name of TYPE, a type specifier, class or NIL, as a symbol or list that TYPE-TEXT prints, or a text if it has none."
  (typecase type
    (null "other")
    (class (let ((name (class-name type)))
             (if (and name (eq type (find-class name nil))) name (format nil "~(~a~) without a name" (class-kind type)))))
    (t type)))

(defun class-kind (class)
  "What kind of class CLASS is."
  (if (typep class 'structure-class) "structure class" "class"))

(defun type-text (name)
  "NAME, a result of TYPE-NAME-OF, as text."
  (if (stringp name) name (line-text name 200)))

;; SBCL takes a union apart, in a time that grows with the square of its parts
(defconstant +type-size+ 1000 "Conses of a type that a client names.")

(defun read-type (text)
  "=> the type that TEXT names, or NIL and a list that says why not, (:no-type TEXT REASON)"
  (handler-case
      (let ((forms (read-without-interning text (data-readtable *readtable*) :most +type-size+)))
        (cond ((/= 1 (length forms)) (values nil (list :no-type text "It is not one type.")))
              ((by-value-p (first forms)) (values nil (list :no-type text "Only types that classes and tags tell apart can be found.")))
              ((sb-ext:valid-type-specifier-p (first forms)) (first forms))
              (t (values nil (list :no-type text "")))))
    (storage-condition () (restore-guard-page) (values nil (list :no-type text "It is too complex.")))
    (error (problem) (values nil (list :no-type text (line-text-in-time (princ-to-string problem) 200))))))

(defun of-type-p (type asked)
  "True if objects of TYPE, a type specifier, class or NIL, are of the type ASKED. Instances of subclasses are not of TYPE here."
  (case (and (consp asked) (first asked))
    (and (every (lambda (part) (of-type-p type part)) (rest asked)))
    (or (some (lambda (part) (of-type-p type part)) (rest asked)))
    (not (not (of-type-p type (second asked))))
    (t (and type (or (eq asked t) (values (or-nil (subtypep type asked))))))))

(defun by-value-p (type)
  "True if TYPE depends on more than the classes of objects and the element types of arrays."
  (let ((type (sb-ext:typexpand type)))
    (if (atom type)
        (member type '(keyword bit standard-char))
        (destructuring-bind (name &rest parts) type
          (case name
            ((and or not) (some #'by-value-p parts))
            ((eql member satisfies) t)
            ((array simple-array vector) (restricted-p (second parts)))
            (t (some #'restricted-p parts)))))))

(defun restricted-p (part)
  "True if PART of a type, the dimensions of arrays or the restriction of other types, excludes some."
  (not (or (member part '(nil *))
           (and (consp part) (every (lambda (dimension) (eq dimension '*)) part)))))

(defun of-type (counted asked)
  "The entries of COUNTED, ((KEY COUNT BYTES) ...), whose objects are of the type ASKED."
  (if (eq asked t)
      counted
      (remove-if-not (lambda (entry) (of-type-p (key-type (first entry)) asked)) counted)))

(defun by-type (counted)
  "((NAME COUNT BYTES) ...) from COUNTED, ((KEY COUNT BYTES) ...). A redefined class has several keys."
  (let ((entries (make-hash-table :test 'equal)))
    (loop for (key count bytes) in counted
          for name = (type-name-of (key-type key))
          for entry = (or (gethash name entries) (setf (gethash name entries) (list name 0 0)))
          do (incf (second entry) count)
             (incf (third entry) bytes))
    (loop for entry being the hash-values of entries collect entry)))
