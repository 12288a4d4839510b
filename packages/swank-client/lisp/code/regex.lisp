;;;; Searches with regular expressions, in a time that is proportional to the length of the text: all ways to match proceed together.

(in-package #:swank-client/code)

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
