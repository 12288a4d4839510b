;;;; The operator and the name with which a defining form begins, compared as text with the names of definitions.

(in-package #:swank-client/sources)

(defun definition-head (text start end)
  "=> the operator and the name with which the form between START and END of TEXT begins, as text, or NIL; and the end of the name"
  (when (and (< start end) (char= #\( (char text start)))
    (destructuring-bind (&optional operator name) (element-spans text start end 2)
      (flet ((part (span) (and span (subseq text (first span) (second span)))))
        (values (part operator) (part name) (second name))))))

(defun operator-name (text)
  "The name of the operator TEXT, upcased, without its package."
  (values (parsed-name text)))

(defun head-kind (operator)
  "The kind of definition that OPERATOR, a text, makes if it is an operator of Lisp, or NIL."
  (let* ((name (operator-name operator))
         (symbol (or (accessible-symbol name "COMMON-LISP") (accessible-symbol name "SB-EXT"))))
    (and symbol (defining-kind symbol))))

(defun setf-text-p (text)
  "True if TEXT is (SETF NAME)."
  (and (> (length text) 6) (string-equal "(setf" text :end2 5) (blank-p (char text 5))))

(defun defined-text (text)
  "The name in TEXT, the second element of a defining form: that of (NAME OPTION...) is NAME."
  (if (and (char= #\( (char text 0)) (not (setf-text-p text)))
      (let ((span (first (element-spans text 0 (length text) 1))))
        (if span (subseq text (first span) (second span)) ""))
      text))

(defun head-names-p (head-name name)
  "True if HEAD-NAME, a text from a defining form, can mean NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (let ((text (defined-text head-name))
        (setf-p (consp name)))
    (and (plusp (length text))
         (eq setf-p (and (setf-text-p text) t))
         (string= (parsed-name (string-trim "\"" text)) (string (if setf-p (second name) name))))))
