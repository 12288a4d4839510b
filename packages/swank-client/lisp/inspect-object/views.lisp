;;;; What an object is made of: facts about it, and parts that are objects.

(in-package #:swank-client/inspect-object)

(defstruct view
  "An object as it is shown."
  ;; what kind of object it is, for people
  (kind "object" :type string)
  ;; ((LABEL . TEXT) ...)
  (facts '() :type list)
  ;; the number of parts
  (count 0 :type integer)
  ;; a function of START and END that returns a list of parts
  (range (constantly '()) :type function))

(defstruct part
  "A part of an object."
  ;; as text
  (name "" :type string)
  value
  ;; the key of an entry of a table, in a list
  (key '() :type list)
  ;; a function that returns the expression for the part from that for the object, or NIL
  (access nil)
  ;; true if VALUE was made for the answer, so that nothing else keeps it
  (freshp nil)
  ;; :UNBOUND, :SHARED, :ASSIGNED, :CYCLE or NIL
  (mark nil))

(defun part (name value access &key mark key freshp)
  "A part. ACCESS is a format control with one argument, the expression for the object, or a function of it, or NIL."
  (make-part :name name :value value :mark mark :key key :freshp freshp
             :access (if (stringp access) (lambda (object) (format nil access object)) access)))

(defun parts-view (kind facts parts)
  "A view of KIND with FACTS and all its PARTS."
  (make-view :kind kind
             :facts (remove nil facts)
             :count (length parts)
             :range (lambda (start end) (subseq parts (min start (length parts)) (min end (length parts))))))

(defun fact (label control &rest arguments)
  "A fact. NIL if CONTROL is NIL."
  (and control (cons label (apply #'format nil control arguments))))

;;; Texts. Printing an obsolete instance would update it, which calls the user's code.

(defconstant +read-elements+ (1+ +line-elements+) "Elements of a list or vector that LINE-TEXT reads: the last one says that there are more.")

(defun obsolete-text (object)
  "The text that stands for OBJECT, an obsolete instance."
  (format nil "#<obsolete ~a>" (line-text (obsolete-name object) 200)))

(defun without-obsolete (object &optional (levels +line-levels+))
  "OBJECT, or a copy of its part that LINE-TEXT reads, LEVELS deep, with texts in place of obsolete instances."
  (cond ((obsolete-p object) (make-printed (obsolete-text object)))
        ((zerop levels) object)
        ((consp object) (list-without-obsolete object (1- levels)))
        ((and (vectorp object) (eq t (array-element-type object))) (vector-without-obsolete object (1- levels)))
        (t object)))

(defun list-without-obsolete (list levels)
  "LIST, or a copy of its beginning, for WITHOUT-OBSOLETE. Its elements are shown LEVELS deep."
  (loop for tail = list then (rest tail)
        repeat +read-elements+
        while (consp tail)
        for copy = (without-obsolete (first tail) levels)
        collect copy into copies
        count (not (eq copy (first tail))) into changed
        finally (let ((end (if (consp tail) '() (without-obsolete tail 0))))
                  (return (if (and (zerop changed) (or (consp tail) (eq end tail))) list (append copies end))))))

(defun vector-without-obsolete (vector levels)
  "VECTOR, or a copy of its beginning, for WITHOUT-OBSOLETE. Its elements are shown LEVELS deep."
  (let* ((beginning (subseq vector 0 (min +read-elements+ (length vector))))
         (copy (map 'vector (lambda (element) (without-obsolete element levels)) beginning)))
    (if (every #'eq beginning copy) vector copy)))

(defun object-text (object limit)
  "OBJECT printed on one line of at most LIMIT characters."
  (if (obsolete-p object)
      (obsolete-text object)
      (line-text-in-time (without-obsolete object) limit)))

(defun text-fact (label value)
  "A fact that is the printed VALUE, or NIL if that is NIL."
  (and value (cons label (line-text-in-time value 500))))

(defun name-expression (name)
  "NAME, a symbol, as an expression that returns it."
  (format nil "'~a" (line-text name 200)))

(defun literal-text (object)
  "OBJECT as code that makes an equal one, or NIL if there is no short one."
  (typecase object
    (keyword (line-text object 200))
    (symbol (cond ((member object '(nil t)) (line-text object 10))
                  ((symbol-package object) (name-expression object))))
    ((or integer ratio float) (and (not (huge-number-p object)) (line-text object 200)))
    (character (line-text object 40))
    (string (and (<= (length object) 100) (string-literal object)))))

(defun string-literal (string)
  "STRING as code on one line that makes an equal one, or NIL if there is none, because line breaks are shown as spaces."
  (let ((text (line-text string 300)))
    (and (equal string (or-nil (with-standard-io-syntax (read-from-string text)))) text)))

(defun reference-text (number)
  "The expression for the object NUMBER."
  (format nil "(swank-objects:ref ~d)" number))
