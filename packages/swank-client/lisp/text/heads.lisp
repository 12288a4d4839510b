;;;; The names in the text of code, and the heads of defining forms, found without reading.

(in-package #:swank-client/forms)

;;; Finds names in the text of code, outside of strings and comments, without reading it.

(defun token-char-p (char)
  "True if CHAR can be part of a name."
  (not (or (blank-p char) (find char "()\"'`,;"))))

(defun string-end (text start)
  "The end of the string that begins at START of TEXT."
  (loop for position from (1+ start) below (length text)
        do (case (char text position)
             (#\\ (incf position))
             (#\" (return (1+ position))))
        finally (return (length text))))

(defun skipped-end (text position)
  "The end of the string, comment or character that begins at POSITION of TEXT, or NIL if none does."
  (let ((next (and (< (1+ position) (length text)) (char text (1+ position)))))
    (case (char text position)
      (#\" (string-end text position))
      (#\; (or (position #\Newline text :start position) (length text)))
      (#\# (case next
             (#\| (block-comment-end text position))
             (#\\ (min (length text) (+ position 3))))))))

(defun token-end (text start &optional (token-char-p #'token-char-p))
  "The end of the token that begins at START of TEXT. TOKEN-CHAR-P is true of characters that can be part of a token without being escaped."
  (loop with quoted = nil
        with position = start
        while (< position (length text))
        do (let ((char (char text position)))
             (case char
               (#\\ (incf position))
               (#\| (setf quoted (not quoted)))
               (t (unless (or quoted (funcall token-char-p char)) (return position))))
             (incf position))
        finally (return (length text))))

(defun dispatched-start (text position)
  "The position in TEXT after the character #, the digits and the character at POSITION that choose a reader function."
  (let ((sub (position-if-not #'digit-char-p text :start (1+ position))))
    (cond ((null sub) (length text))
          ((token-char-p (char text sub)) (1+ sub))
          (t sub))))

(defun map-tokens (function text token-char-p)
  "Call FUNCTION with the start and the end of each token of TEXT, except uninterned symbols. TOKEN-CHAR-P is as in TOKEN-END."
  (loop with position = 0
        while (< position (length text))
        do (let ((char (char text position))
                 (skipped (skipped-end text position)))
             (setf position
                   (cond (skipped)
                         ((eql position (search "#:" text :start2 position :end2 (min (length text) (+ position 2))))
                          (token-end text (+ position 2) token-char-p))
                         ((char= char #\#) (dispatched-start text position))
                         ((funcall token-char-p char)
                          (let ((end (token-end text position token-char-p)))
                            (funcall function position end)
                            end))
                         (t (1+ position)))))))

(defun package-marker (text start end)
  "=> the position of the first colon in the token between START and END of TEXT that is not escaped, and the number of colons there; or NIL"
  (loop with quoted = nil
        with position = start
        while (< position end)
        do (case (char text position)
             (#\\ (incf position))
             (#\| (setf quoted (not quoted)))
             (#\: (unless quoted
                    (return (values position
                                    (- (or (position #\: text :start position :end end :test #'char/=) end) position))))))
           (incf position)))

(defun token-names-p (text start end name)
  "True if the token between START and END of TEXT is NAME, with or without a package."
  (and (<= (length name) (- end start))
       (search name text :start2 start :end2 end :test #'char-equal)
       (multiple-value-bind (parsed prefix written) (parsed-name (subseq text start end))
         (declare (ignore prefix))
         (one-of-names-p (cons parsed written) name))))

(defun token-positions (text name)
  "The positions in TEXT of the name NAME, a symbol's."
  (let ((position 0) (found '()))
    (loop while (< position (length text))
          do (let ((end (or (skipped-end text position)
                            (and (token-char-p (char text position)) (token-end text position)))))
               (when (and end (token-names-p text position end name))
                 (push position found))
               (setf position (or end (1+ position)))))
    (nreverse found)))

;;; The operator and the name with which a defining form begins, compared as text with the names of definitions.

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
         (symbol (lisp-operator name)))
    (and symbol (defining-kind symbol))))

(defun defined-text (text)
  "The name in TEXT, the second element of a defining form: that of (NAME OPTION...) is NAME."
  (if (and (char= #\( (char text 0)) (not (setf-text-p text)))
      (let ((span (first (element-spans text 0 (length text) 1))))
        (if span (subseq text (first span) (second span)) ""))
      text))

(defun name-in-head (head-name)
  "=> (NAME . AS-WRITTEN) of the name in HEAD-NAME, a text from a defining form, without its package, or NIL; and whether it is that of (SETF NAME)"
  (let ((text (defined-text head-name)))
    (values (and (plusp (length text))
                 (multiple-value-bind (name prefix written) (parsed-name (string-trim "\"" text))
                   (declare (ignore prefix))
                   (cons name written)))
            (and (setf-text-p text) t))))

(defun same-name-p (plain setf-p name)
  "True if the values PLAIN and SETF-P of NAME-IN-HEAD can mean NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (and plain
       (eq setf-p (consp name))
       (one-of-names-p plain (string (if setf-p (second name) name)))))

(defun head-names-p (head-name name)
  "True if HEAD-NAME, a text from a defining form, can mean NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (multiple-value-bind (plain setf-p) (name-in-head head-name)
    (same-name-p plain setf-p name)))

;;; Heads

(defstruct head
  "The beginning of a form: the kind of definition that it makes, if its operator is one of Lisp; whether its operator is one of Lisp that only
uses names; the TEXT of its second element; and the values of NAME-IN-HEAD for that."
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
      (multiple-value-bind (plain setf-p) (name-in-head name)
        (make-head :made-kind (head-kind operator) :uses-only-p (uses-only-p operator) :text name :plain plain :setf-p setf-p)))))

(defun head-means-p (head name)
  "True if HEAD can be that of a definition of NAME: a symbol, (SETF SYMBOL), or a string. Packages are not compared."
  (same-name-p (head-plain head) (head-setf-p head) name))

(defun form-inner-heads (text form)
  "((START END HEAD) ...) of the lists inside FORM of TEXT that begin with defining operators of Lisp, in the order in which they begin."
  (loop for (start end depth) in (list-spans text (top-level-form-start form) (top-level-form-end form))
        for head = (and (plusp depth) (text-head text start end))
        when (and head (head-made-kind head)) collect (list start end head)))
