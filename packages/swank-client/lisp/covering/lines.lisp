;;;; From the compiler's record of a file to its lines.

(in-package #:swank-client/covering)

;;; Places of expressions

(defun past-condition (text span)
  "SPAN of TEXT, or that of the list after the feature expressions with which it begins, such as #+sbcl, and after the forms that these skip."
  (destructuring-bind (start end) span
    (if (and (< (1+ start) end) (char= #\# (char text start)) (find (char text (1+ start)) "+-"))
        (let ((list (find-if (lambda (inner) (and (= end (second inner)) (zerop (third inner)))) (list-spans text start end))))
          (if list (list (first list) end) span))
        span)))

(defun child-spans (text span known)
  "((START END) ...) of the elements of the list with SPAN in TEXT, or NIL if no list begins there. KNOWN is a table of earlier answers."
  (multiple-value-bind (spans found) (gethash span known)
    (if found
        spans
        (setf (gethash span known)
              (and (char= #\( (char text (first span)))
                   (mapcar (lambda (child) (past-condition text child))
                           (element-spans text (first span) (second span) most-positive-fixnum)))))))

(defun span-at (text form path known)
  "=> the (START END) in TEXT of what PATH leads to in FORM, a span, or of the last on the way; and those of the lists around it, inner ones first.
A quoted form is not entered: the compiler numbers more in it than the text has."
  (loop with span = form and around = '()
        for index in path
        for inner = (nth index (child-spans text span known))
        while inner do (push span around) (setf span inner)
        finally (return (values span around))))

(defun bare-name (text span)
  "The name with SPAN in TEXT, in upper case and without its package."
  (let ((name (string-upcase (subseq text (first span) (second span)))))
    (subseq name (1+ (or (position #\: name :from-end t) -1)))))

(defun operator-at (text span known)
  "The name of the operator of the list with SPAN in TEXT, in upper case and without its package, or NIL."
  (let ((first (first (child-spans text span known))))
    (and first (bare-name text first))))

(defparameter *branch-positions* '(("IF" :then 2) ("IF" :else 3) ("WHEN" :then 2) ("UNLESS" :else 2))
  "(OPERATOR BRANCH INDEX): where in a form a branch of its test begins.")

(defun branch-span (text branch index around known)
  "The span in TEXT of the form with which BRANCH begins, if one stands there, or NIL. INDEX is that of the test, in the first list of AROUND."
  (let* ((list (first around))
         (operator (and list (operator-at text list known)))
         (place (cond ((null list) nil)
                      ((eql index 1)
                       (third (find-if (lambda (entry) (and (equal operator (first entry)) (eq branch (second entry))))
                                       *branch-positions*)))
                      ;; a clause
                      ((and (eql index 0) (eq branch :then) (second around)
                            (equal "COND" (operator-at text (second around) known)))
                       1))))
    (and place (nth place (child-spans text list known)))))

;;; What is not measured

(defparameter *unmeasured-operators*
  '("DEFMACRO" "DEFINE-COMPILER-MACRO" "DEFTYPE" "DEFSETF" "DEFINE-SETF-EXPANDER" "DEFINE-SYMBOL-MACRO" "DEFVAR" "DEFGLOBAL")
  "Operators of definitions whose code runs when other code is compiled, or only if a variable has no value yet.")

(defparameter *unmarked-operators* '("DEFPACKAGE" "DEFINE-PACKAGE" "IN-PACKAGE")
  "Operators of forms that are done when their file is compiled or loaded, without a mark in the record.")

(defun inline-names (text spans known)
  "The names in TEXT, in upper case, of the functions that the top-level forms with SPANS declaim inline."
  (loop for form in spans
        when (equal "DECLAIM" (operator-at text form known))
          append (loop for declaration in (rest (child-spans text form known))
                       when (equal "INLINE" (operator-at text declaration known))
                         append (loop for span in (rest (child-spans text declaration known))
                                      collect (bare-name text span)))))

(defun unmeasured-forms (text spans records known)
  "A vector that is true for those of the top-level forms with SPANS of TEXT whose code is not measured. A function that is expanded inline has
run if its callers have: what did not run by itself is not known."
  (let* ((inline (inline-names text spans known))
         (forms (coerce spans 'vector))
         (ran (make-array (length forms) :initial-element nil)))
    (loop for (branch (number . inner) ran-p) in records
          when (and inner ran-p (null branch) (< number (length forms)))
            do (setf (aref ran number) t))
    (map 'vector
         (lambda (span ran-p)
           (let ((operator (operator-at text span known))
                 (name (second (child-spans text span known))))
             (or (member operator *unmeasured-operators* :test #'equal)
                 (and inline (not ran-p) name (equal "DEFUN" operator)
                      (member (bare-name text name) inline :test #'string=)))))
         forms ran)))

;;; Expressions

(defun path-spans (text forms records known)
  "((SPAN EXACT AROUND BRANCH INDEX RAN) ...) of RECORDS, (BRANCH PATH RAN), of what is measured: the spans of SPAN-AT in FORMS, a vector of those of
top-level forms. EXACT is true if the path led all the way, and INDEX is its last."
  (let ((unmeasured (unmeasured-forms text (coerce forms 'list) records known)))
    (loop for (branch (number . inner) ran) in records
          when (and (< number (length forms))
                    (not (if inner
                             (aref unmeasured number)
                             (member (operator-at text (aref forms number) known) *unmarked-operators* :test #'equal))))
            collect (multiple-value-bind (span around) (span-at text (aref forms number) inner known)
                      (list span (= (length around) (length inner)) around branch (first (last inner)) ran)))))

(defun expressions (text forms records)
  "((SPAN . RAN) ...) of the expressions of RECORDS, (BRANCH PATH RAN), of the top-level FORMS of TEXT. The compiler does not record each constant
by itself: one that is a branch of a test has run if that branch was taken."
  (let* ((known (make-hash-table :test 'equal))
         (places (path-spans text (map 'vector #'span forms) records known))
         (starts (make-hash-table))
         (found (loop for (span nil nil branch nil ran) in places
                      unless branch
                        do (setf (gethash (first span) starts) t)
                        and collect (cons span ran))))
    (append found
            (loop for (nil exact around branch index ran) in places
                  for span = (and branch exact around (branch-span text branch index around known))
                  when (and span (not (gethash (first span) starts)))
                    collect (cons span ran)))))

;;; Lines

(defun line-numbers (text)
  "A vector of the number of the line of each position in TEXT, and of its end."
  (let ((numbers (make-array (1+ (length text)) :element-type '(unsigned-byte 32))) (line 1))
    (dotimes (index (length text) (progn (setf (aref numbers index) line) numbers))
      (setf (aref numbers index) line)
      (when (char= #\Newline (char text index)) (incf line)))))

(defun line-states (text expressions)
  "=> a vector with, for each line of TEXT from 0, NIL if none of EXPRESSIONS begins in it, else :RAN, :MISSED or, if some ran, :PARTLY; and a
vector that is true for the other lines within expressions that did not run"
  (let* ((numbers (line-numbers text))
         (count (1+ (aref numbers (length text))))
         (states (make-array count :initial-element nil))
         (within (make-array count :initial-element nil)))
    (loop for ((start end) . ran) in expressions
          for line = (aref numbers start)
          for state = (if ran :ran :missed)
          do (setf (aref states line) (if (member (aref states line) (list nil state)) state :partly))
             (unless ran (fill within t :start line :end (1+ (aref numbers (max start (1- end)))))))
    (values states within)))

(defun line-ranges (state states within)
  "((FIRST LAST) ...) of the lines with STATE among STATES. Lines of none do not part those of :MISSED if they are WITHIN these."
  (let ((ranges '()) (open nil))
    (loop for line from 1 below (length states)
          for own = (aref states line)
          do (cond ((or (eq own state) (and (eq state :missed) (null own) (aref within line)))
                    (if open
                        (setf (second (first ranges)) line)
                        (push (list line line) ranges))
                    (setf open t))
                   (t (setf open nil))))
    (nreverse ranges)))

(defstruct covered
  "What ran of a file: its native name, the numbers of expressions that ran and of all, and the states of its lines, of LINE-STATES."
  file ran all states within)

(defun coverage-of (truename records)
  "What ran of the file TRUENAME according to RECORDS, or NIL if it cannot be read."
  (let ((file (file-now truename)))
    (when file
      (let ((expressions (expressions (file-text file) (file-forms file) records)))
        (multiple-value-bind (states within) (line-states (file-text file) expressions)
          (make-covered :file truename :ran (count-if #'cdr expressions) :all (length expressions) :states states :within within))))))

;;; LCOV

(defun write-lcov (covered stream)
  "Write the record of COVERED to STREAM. A line that ran in part has run."
  (let ((lines (loop for state across (covered-states covered)
                     for line from 0
                     when state collect (cons line (if (eq state :missed) 0 1)))))
    (format stream "SF:~a~%~:{DA:~d,~d~%~}LF:~d~%LH:~d~%end_of_record~%"
            (sb-ext:native-namestring (covered-file covered))
            (loop for (line . hits) in lines collect (list line hits))
            (length lines)
            (count 1 lines :key #'cdr))))
