;;;; The operator and the name with which a defining form begins, compared as text with the names of definitions. Those of a file are kept with
;;;; its analysis, because finding them takes longer than comparing them.

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

(defun defined-text (text)
  "The name in TEXT, the second element of a defining form: that of (NAME OPTION...) is NAME."
  (if (and (char= #\( (char text 0)) (not (setf-text-p text)))
      (let ((span (first (element-spans text 0 (length text) 1))))
        (if span (subseq text (first span) (second span)) ""))
      text))

(defun plain-name (head-name)
  "=> (NAME . AS-WRITTEN) of the name in HEAD-NAME, a text from a defining form, without its package, or NIL; and whether it is that of (SETF NAME)"
  (let ((text (defined-text head-name)))
    (values (and (plusp (length text))
                 (multiple-value-bind (name prefix written) (parsed-name (string-trim "\"" text))
                   (declare (ignore prefix))
                   (cons name written)))
            (and (setf-text-p text) t))))

(defun same-name-p (plain setf-p name)
  "True if the values PLAIN and SETF-P of PLAIN-NAME can mean NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (and plain
       (eq setf-p (consp name))
       (one-of-names-p plain (string (if setf-p (second name) name)))))

(defun head-names-p (head-name name)
  "True if HEAD-NAME, a text from a defining form, can mean NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (multiple-value-bind (plain setf-p) (plain-name head-name)
    (same-name-p plain setf-p name)))

;;; Heads

(defstruct head
  "The beginning of a form: the kind of definition that it makes, if its operator is one of Lisp; whether its operator is one of Lisp that only
uses names; the TEXT of its second element; and the values of PLAIN-NAME for that."
  made-kind uses-only-p text plain setf-p)

(defun uses-only-p (operator)
  "True if OPERATOR, a text, is an operator of Lisp that defines nothing, as IN-PACKAGE."
  (let ((symbol (accessible-symbol (operator-name operator) "COMMON-LISP")))
    (and symbol
         (null (defining-kind symbol))
         (not (eql 0 (search "DEF" (symbol-name symbol)))))))

(defun text-head (text start end)
  "The head of the form between START and END of TEXT, or NIL if that has no operator or no second element."
  (multiple-value-bind (operator name) (definition-head text start end)
    (when (and operator name)
      (multiple-value-bind (plain setf-p) (plain-name name)
        (make-head :made-kind (head-kind operator) :uses-only-p (uses-only-p operator) :text name :plain plain :setf-p setf-p)))))

(defun head-means-p (head name)
  "True if HEAD can be that of a definition of NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (same-name-p (head-plain head) (head-setf-p head) name))

(defun analysis-heads (analysis)
  "A vector of the heads of the top-level forms of ANALYSIS, NIL for those without one."
  (or (analysis-known-heads analysis)
      (setf (analysis-known-heads analysis)
            (map 'vector
                 (lambda (form) (text-head (analysis-text analysis) (top-level-form-start form) (top-level-form-end form)))
                 (analysis-forms analysis)))))

(defun form-inner-heads (text form)
  "((START END HEAD) ...) of the lists inside FORM of TEXT that begin with defining operators of Lisp, in the order in which they begin."
  (loop for (start end depth) in (list-spans text (top-level-form-start form) (top-level-form-end form))
        for head = (and (plusp depth) (text-head text start end))
        when (and head (head-made-kind head)) collect (list start end head)))

(defun analysis-inner-heads (analysis number)
  "FORM-INNER-HEADS for the top-level form NUMBER of ANALYSIS."
  (let* ((forms (analysis-forms analysis))
         (known (or (analysis-known-inner-heads analysis)
                    (setf (analysis-known-inner-heads analysis) (make-array (length forms) :initial-element :unread)))))
    (when (eq :unread (aref known number))
      (setf (aref known number) (form-inner-heads (analysis-text analysis) (nth number forms))))
    (aref known number)))
