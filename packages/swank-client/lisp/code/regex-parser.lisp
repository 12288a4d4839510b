;;;; Parses regular expressions: . [...] [^...] \d \w \s \D \W \S \b \B ^ $ | (...) (?:...) * + ? {m,n}. Letters match in either case.

(in-package #:swank-client/code)

(define-condition bad-pattern (error)
  ((reason :initarg :reason :reader bad-pattern-reason :documentation "What is wrong, a sentence without its full stop."))
  (:documentation "A text that is no regular expression.")
  (:report (lambda (condition stream) (write-string (bad-pattern-reason condition) stream))))

(defun refuse-pattern (control &rest arguments)
  "Signal that the pattern is bad."
  (error 'bad-pattern :reason (apply #'format nil control arguments)))

;;; Nodes are (:set PREDICATE), (:assert KIND), (:sequence NODE ...), (:either NODE ...) and (:repeat NODE LEAST MOST).

(defvar *pattern* "" "The text that is parsed.")
(defvar *at* 0 "The position in *PATTERN* of the next character.")
(defvar *groups* 0 "The number of groups around the next character.")

(defconstant +groups-limit+ 100 "Groups in each other.")

(defconstant +repetitions-limit+ 20 "Repetitions of one atom, as in a*+?.")

(defun next-char ()
  "The next character of the pattern, or NIL at its end."
  (and (< *at* (length *pattern*)) (char *pattern* *at*)))

(defun take-char ()
  "Take the next character of the pattern, which must have one."
  (prog1 (or (next-char) (refuse-pattern "The pattern ends too early"))
    (incf *at*)))

(defun take-if-char (char)
  "Take the next character if it is CHAR. => true if it was"
  (when (eql char (next-char)) (incf *at*) t))

(defun word-char-p (char)
  "True if CHAR is a letter, a digit or an underscore."
  (or (alphanumericp char) (char= char #\_)))

(defun char-matcher (char)
  "A predicate that is true of CHAR in either case."
  (lambda (other) (char-equal char other)))

(defun escaped-set (char)
  "The predicate that a backslash and CHAR mean as a set of characters, or NIL."
  (case char
    (#\d #'digit-char-p)
    (#\D (complement #'digit-char-p))
    (#\w #'word-char-p)
    (#\W (complement #'word-char-p))
    (#\s #'blank-p)
    (#\S (complement #'blank-p))))

(defun escaped-char (char)
  "The character that a backslash and CHAR mean."
  (case char
    (#\t #\Tab)
    (#\n #\Newline)
    (t (if (alphanumericp char) (refuse-pattern "\\~a has no meaning" char) char))))

(defun class-item ()
  "=> a predicate, or a character that may begin a range"
  (let ((char (take-char)))
    (if (char= char #\\)
        (let ((escaped (take-char)))
          (or (escaped-set escaped) (escaped-char escaped)))
        char)))

(defun range-end ()
  "The character after a minus in a class, or NIL if the minus stands for itself."
  (when (and (eql #\- (next-char))
             (< (1+ *at*) (length *pattern*))
             (char/= #\] (char *pattern* (1+ *at*))))
    (incf *at*)
    (class-item)))

(defun range-matcher (from to)
  "A predicate of the characters between FROM and TO, in either case."
  (unless (and (characterp to) (char<= from to)) (refuse-pattern "The range after ~a is wrong" from))
  (lambda (char) (or (char<= from (char-upcase char) to) (char<= from (char-downcase char) to))))

(defun parse-class ()
  "The node of a class, whose bracket has been taken."
  (let* ((negative (take-if-char #\^))
         (predicates (loop for first = t then nil
                           until (and (not first) (take-if-char #\]))
                           collect (let* ((item (class-item)) (end (and (characterp item) (range-end))))
                                     (cond (end (range-matcher item end))
                                           ((characterp item) (char-matcher item))
                                           (t item))))))
    (list :set (lambda (char)
                 (let ((found (some (lambda (predicate) (funcall predicate char)) predicates)))
                   (if negative (not found) found))))))

(defun parse-group ()
  "The node of a group, whose parenthesis has been taken."
  (when (take-if-char #\?)
    (unless (take-if-char #\:) (refuse-pattern "Of the groups that begin with (? only (?: is known")))
  (when (>= *groups* +groups-limit+) (refuse-pattern "It has more than ~d groups in each other; \\( matches a parenthesis" +groups-limit+))
  (prog1 (let ((*groups* (1+ *groups*))) (parse-either))
    (unless (take-if-char #\)) (refuse-pattern "A parenthesis is not closed; \\( matches one"))))

(defun parse-escape ()
  "The node of the character after a backslash."
  (let ((char (take-char)))
    (case char
      (#\b '(:assert :boundary))
      (#\B '(:assert :no-boundary))
      (t (list :set (or (escaped-set char) (char-matcher (escaped-char char))))))))

(defun parse-atom ()
  "The node of the next character, class or group."
  (let ((char (take-char)))
    (case char
      (#\. (list :set (constantly t)))
      (#\[ (parse-class))
      (#\( (parse-group))
      (#\\ (parse-escape))
      (#\^ '(:assert :start))
      (#\$ '(:assert :end))
      ((#\* #\+ #\?) (refuse-pattern "There is nothing before ~a to repeat; \\~:*~a matches the character" char))
      (t (list :set (char-matcher char))))))

(defun take-number ()
  "Take a number from the pattern, or return NIL."
  (let ((end (or (position-if-not #'digit-char-p *pattern* :start *at*) (length *pattern*))))
    (when (> end *at*)
      (prog1 (parse-integer *pattern* :start *at* :end end) (setf *at* end)))))

(defun take-counts ()
  "=> the least and the most repetitions in {M}, {M,} or {M,N}, whose brace has been taken; MOST is NIL without a limit"
  (let* ((least (or (take-number) (refuse-pattern "{ needs a number; \\{ matches the character")))
         (most (if (take-if-char #\,) (take-number) least)))
    (unless (take-if-char #\}) (refuse-pattern "{ is not closed; \\{ matches the character"))
    (when (> (max least (or most 0)) 100) (refuse-pattern "More than 100 repetitions are not counted"))
    (values least most)))

(defun repeated (node least most)
  "NODE, repeated. A lazy repetition matches the same texts."
  (take-if-char #\?)
  (list :repeat node least most))

(defun parse-repetition ()
  "The node of an atom with the repetitions after it."
  (loop with node = (parse-atom)
        for count from 0
        do (when (> count +repetitions-limit+) (refuse-pattern "It repeats an atom more than ~d times over" +repetitions-limit+))
           (cond ((take-if-char #\*) (setf node (repeated node 0 nil)))
                 ((take-if-char #\+) (setf node (repeated node 1 nil)))
                 ((take-if-char #\?) (setf node (repeated node 0 1)))
                 ((take-if-char #\{) (multiple-value-bind (least most) (take-counts)
                                       (setf node (repeated node least most))))
                 (t (return node)))))

(defun parse-sequence ()
  "The node of the pattern up to a bar, a parenthesis or its end."
  (cons :sequence (loop until (member (next-char) '(nil #\| #\))) collect (parse-repetition))))

(defun parse-either ()
  "The node of alternatives."
  (cons :either (cons (parse-sequence) (loop while (take-if-char #\|) collect (parse-sequence)))))

(defun parse-pattern (pattern)
  "The node of PATTERN, a regular expression. Signals BAD-PATTERN."
  (let ((*pattern* pattern) (*at* 0) (*groups* 0))
    (prog1 (parse-either)
      (when (next-char) (refuse-pattern "A parenthesis is closed that was not opened; \\) matches one")))))
