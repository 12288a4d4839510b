;;;; Parses regular expressions: . [...] [^...] \d \w \s \D \W \S \b \B ^ $ | (...) (?:...) * + ? {m,n}. Letters match in either case.

(in-package #:swank-client/text)

;;; Time. A long pattern takes its length for each character of the text.

(defvar *search-end* nil "The internal real time at which a search ends, or NIL.")

(defun search-time-left-p ()
  "True unless the time of the search is over."
  (or (null *search-end*) (< (get-internal-real-time) *search-end*)))

(defun end-late-search (position)
  "Leave the search at POSITION of a text if its time is over: throw NIL to LATE-SEARCH."
  (unless (or (logtest position 255) (search-time-left-p)) (throw 'late-search nil)))

(defmacro within-search-time ((seconds) &body body)
  "Run BODY with SECONDS for all its searches."
  `(let ((*search-end* (+ (get-internal-real-time) (* ,seconds internal-time-units-per-second))))
     ,@body))

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

;;; Searches with regular expressions, in a time that is proportional to the length of the text: all ways to match proceed together.

(defconstant +program-limit+ 5000 "Instructions of a compiled pattern.")

;;; A program is a vector of instructions: a predicate, (:split NEXT OTHER), (:jump NEXT), (:assert KIND) or :MATCH.

(defun emit (program instruction)
  "Add INSTRUCTION to PROGRAM. => its index"
  (when (>= (fill-pointer program) +program-limit+) (refuse-pattern "The pattern is too long"))
  (vector-push-extend instruction program))

(defun emit-optional (program emitter)
  "Add to PROGRAM instructions that EMITTER emits and that may be skipped."
  (let ((split (emit program nil)))
    (funcall emitter)
    (setf (aref program split) (list :split (1+ split) (fill-pointer program)))))

(defun emit-repetition (program node least most)
  "Add the instructions of NODE, repeated, to PROGRAM."
  (loop repeat least
        for start = (fill-pointer program)
        do (emit-node program node)
        ;; the empty text, repeated, is the empty text: repetitions of repetitions of it would take for ever
        until (= start (fill-pointer program)))
  (if most
      (loop repeat (- most least) do (emit-optional program (lambda () (emit-node program node))))
      (let ((split (emit program nil)))
        (emit-node program node)
        (emit program (list :jump split))
        (setf (aref program split) (list :split (1+ split) (fill-pointer program))))))

(defun emit-either (program nodes)
  "Add the instructions of the alternatives NODES to PROGRAM."
  (if (rest nodes)
      (let ((split (emit program nil)))
        (emit-node program (first nodes))
        (let ((jump (emit program nil)))
          (setf (aref program split) (list :split (1+ split) (fill-pointer program)))
          (emit-either program (rest nodes))
          (setf (aref program jump) (list :jump (fill-pointer program)))))
      (emit-node program (first nodes))))

(defun emit-node (program node)
  "Add the instructions of NODE to PROGRAM."
  (destructuring-bind (kind . parts) node
    (ecase kind
      (:set (emit program (first parts)))
      (:assert (emit program node))
      (:sequence (dolist (part parts) (emit-node program part)))
      (:either (emit-either program parts))
      (:repeat (apply #'emit-repetition program parts)))))

(defun compile-pattern (pattern)
  "The program of PATTERN, a simple vector. Signals BAD-PATTERN."
  (let ((program (make-array 32 :adjustable t :fill-pointer 0)))
    (emit-node program (parse-pattern pattern))
    (emit program :match)
    (coerce program 'simple-vector)))

(defun boundary-p (text start end position)
  "True if a word begins or ends at POSITION of TEXT between START and END."
  (flet ((word-p (index) (and (<= start index) (< index end) (word-char-p (char text index)))))
    (not (eq (and (word-p (1- position)) t) (and (word-p position) t)))))

(defun holds-p (kind text start end position)
  "True if the assertion KIND holds at POSITION of TEXT between START and END."
  (ecase kind
    (:start (= position start))
    (:end (= position end))
    (:boundary (boundary-p text start end position))
    (:no-boundary (not (boundary-p text start end position)))))

(defstruct (threads (:constructor make-threads (size &aux (places (make-array size)) (starts (make-array size)))))
  "The instructions at which ways to match have arrived, and the positions at which they began."
  (count 0 :type fixnum)
  (places nil :type simple-vector)
  (starts nil :type simple-vector))

(defun pattern-searcher (pattern)
  "A function of a text, a start and an end, which returns the position of the first match in it, or NIL. Signals BAD-PATTERN."
  (let* ((program (compile-pattern pattern))
         (size (length program))
         (now (make-threads size))
         (later (make-threads size))
         (marks (make-array size :element-type 'fixnum :initial-element -1))
         (generation 0))
    (declare (type fixnum generation))
    (lambda (text from to)
      (declare (type (simple-array character (*)) text) (type fixnum from to))
      (block search-text
       (labels ((add (threads place start position)
                 (declare (type fixnum place))
                 (unless (= (aref marks place) generation)
                   (setf (aref marks place) generation)
                   (let ((instruction (svref program place)))
                     (if (consp instruction)
                         (ecase (first instruction)
                           (:jump (add threads (second instruction) start position))
                           (:split (add threads (second instruction) start position)
                            (add threads (third instruction) start position))
                           (:assert (when (holds-p (second instruction) text from to position)
                                      (add threads (1+ place) start position))))
                         (let ((count (threads-count threads)))
                           (setf (svref (threads-places threads) count) place
                                 (svref (threads-starts threads) count) start
                                 (threads-count threads) (1+ count))))))))
        (setf (threads-count now) 0)
        (incf generation)
        (loop for position of-type fixnum from from to to
              do (end-late-search position)
                 ;; ways that are under way come first, since they began earlier
                 (add now 0 position position)
                 (incf generation)
                 (setf (threads-count later) 0)
                 (loop for index from 0 below (threads-count now)
                       for place of-type fixnum = (svref (threads-places now) index)
                       for start = (svref (threads-starts now) index)
                       for instruction = (svref program place)
                       do (cond ((eq instruction :match) (return-from search-text start))
                                ((and (< position to) (funcall (the function instruction) (schar text position)))
                                 (add later (1+ place) start (1+ position)))))
                 (rotatef now later))
        nil)))))

;;; Patterns without special characters

(defun text-searcher (pattern)
  "A function as PATTERN-SEARCHER returns, for PATTERN as a text, in either case."
  (let* ((pattern (coerce pattern '(simple-array character (*))))
         (length (length pattern))
         (first (if (plusp length) (schar pattern 0) #\Nul)))
    (lambda (text from to)
      (declare (type (simple-array character (*)) text) (type fixnum from to))
      (if (zerop length)
          from
          (loop for position of-type fixnum from from to (- to length)
                do (end-late-search position)
                when (and (char-equal first (schar text position))
                          (loop for index from 1 below length
                                always (char-equal (schar pattern index) (schar text (+ position index)))))
                  return position)))))

(defun searcher (pattern regexp-p)
  "The function that searches for PATTERN, a regular expression if REGEXP-P. Signals BAD-PATTERN."
  (if regexp-p (pattern-searcher pattern) (text-searcher pattern)))

(defmacro with-searcher ((variable pattern regexp-p) &body body)
  "Run BODY with VARIABLE bound to the function that searches for PATTERN. => its value, or (:bad-pattern REASON)"
  `(handler-case (searcher ,pattern ,regexp-p)
     (bad-pattern (problem) (list :bad-pattern (bad-pattern-reason problem)))
     (:no-error (,variable) ,@body)))
