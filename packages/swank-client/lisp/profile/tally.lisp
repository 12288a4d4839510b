;;;; Counts samples by function, and finds the hottest path.

(in-package #:swank-client/profile)

(defconstant +rows-limit+ 20 "Most functions of a reply.")

(defconstant +path-limit+ 20 "Most functions of the hottest path.")

(defconstant +nodes-limit+ 20000 "Most nodes of the tree of calls.")

(defconstant +path-share+ 1/10 "The hottest path ends where fewer of all samples than this share go on.")

(defstruct (counted (:constructor make-counted (name info)))
  "The samples of a function. SELF: it was innermost."
  name info (self 0 :type fixnum) (cumulative 0 :type fixnum))

(defstruct (node (:constructor make-node (name)))
  "A function below certain callers. CHILDREN are those that it called."
  name (count 0 :type fixnum) (children '() :type list))

(defstruct tally
  "The samples of a run, by function."
  (counts (make-hash-table :test 'equal))
  (root (make-node nil))
  (nodes 0 :type fixnum)
  (samples 0 :type fixnum)
  ;; samples outside the package that is asked for
  (outside 0 :type fixnum)
  ;; ((THREAD . COUNT) ...) of samples in threads that are not asked for
  (elsewhere '() :type list))

;;; The program's part of a stack

(defun start-name-p (name)
  "True if NAME is that of a function with which the runtime begins the program's code."
  (member name '(call-own call-user call-framework)))

(defun outer-name-p (name)
  "True if NAME is that of a function of Lisp below the program's code in a thread."
  (or (eq name 'eval) (equal name '(lambda ())) (system-name-p name)))

(defun program-part (stack)
  "The part of STACK, ((NAME . INFO) ...), outermost first, that belongs to the program."
  (let ((start (or (position 'call-own stack :key #'car) (position-if #'start-name-p stack :key #'car))))
    (if start
        (nthcdr (1+ start) stack)
        (member-if-not #'outer-name-p stack :key #'car))))

(defun without-repetitions (stack)
  "STACK without the repetitions of functions that call themselves."
  (loop for (entry next) on stack
        unless (and next (equal (car entry) (car next))) collect entry))

(defun of-package (stack package)
  "The entries of STACK whose functions have names in PACKAGE; all if that is NIL."
  (if package
      (remove-if-not (lambda (entry)
                       (let ((symbol (name-symbol (car entry)))) (and symbol (eq package (symbol-package symbol)))))
                     stack)
      stack))

;;; Counting

(defun count-function (tally entry self-p seen)
  "Count ENTRY of a stack in TALLY, unless its name is in SEEN; it was innermost if SELF-P."
  (let ((counted (or (gethash (car entry) (tally-counts tally))
                     (setf (gethash (car entry) (tally-counts tally)) (make-counted (car entry) (cdr entry))))))
    (when self-p (incf (counted-self counted)))
    (unless (member (car entry) seen :test #'equal) (incf (counted-cumulative counted)))))

(defun count-path (tally stack)
  "Count STACK in the tree of TALLY."
  (let ((node (tally-root tally)))
    (incf (node-count node))
    (loop for (name) in stack
          do (let ((child (find name (node-children node) :key #'node-name :test #'equal)))
               (unless child
                 (when (>= (tally-nodes tally) +nodes-limit+) (return))
                 (incf (tally-nodes tally))
                 (setf child (make-node name))
                 (push child (node-children node)))
               (incf (node-count child))
               (setf node child)))))

(defun count-sample (tally stack package)
  "Count a sample with STACK, ((NAME . INFO) ...), outermost first, in TALLY. Only functions of PACKAGE count, unless that is NIL."
  (let ((stack (of-package (without-repetitions (program-part stack)) package)))
    (incf (tally-samples tally))
    (if (null stack)
        (incf (tally-outside tally))
        (let ((seen '()))
          (loop for (entry . more) on stack
                do (count-function tally entry (null more) seen)
                   (push (car entry) seen))
          (count-path tally stack)))))

(defun count-elsewhere (tally thread)
  "Count a sample in THREAD, which is not asked for."
  (let ((entry (assoc thread (tally-elsewhere tally))))
    (if entry (incf (cdr entry)) (push (cons thread 1) (tally-elsewhere tally)))))

;;; Results

(defun all-counted (tally)
  "The functions of TALLY."
  (loop for counted being the hash-values of (tally-counts tally) collect counted))

(defun most (list key count)
  "The COUNT elements of LIST with the greatest KEY that is positive."
  (let ((sorted (stable-sort (remove-if #'zerop list :key key) #'> :key key)))
    (subseq sorted 0 (min count (length sorted)))))

(defun top (list first-key second-key)
  "The elements of LIST that have the most of FIRST-KEY, most first, and then others with the most of SECOND-KEY."
  (let* ((first (most list first-key (- +rows-limit+ 6)))
         (others (set-difference (most list second-key +rows-limit+) first)))
    (append first (most others second-key (- +rows-limit+ (length first))))))

(defun top-functions (tally)
  "The functions of TALLY with the most samples, those that were innermost first."
  (top (all-counted tally) #'counted-self #'counted-cumulative))

(defun hottest-path (tally)
  "((NAME . COUNT) ...) of the calls that most samples went through."
  (loop with least = (* +path-share+ (tally-samples tally))
        for node = (tally-root tally) then next
        for next = (first (most (node-children node) #'node-count 1))
        while (and next (>= (node-count next) least))
        repeat +path-limit+
        collect (cons (node-name next) (node-count next))))
