;;;; Limits on what a text that is read as data can build. A few characters can ask the reader for any amount of memory and time.

(in-package #:swank-client/sessions)

(defconstant +literal-length+ 1000000 "Characters of a text that is read as data.")

(defconstant +token-length+ 10000 "Characters of a number or a name in it: the reader's time grows with their square.")

(defconstant +literal-levels+ 1000 "Levels of nesting.")

(defconstant +literal-elements+ 100000 "Elements of all arrays whose sizes the text states, as in #1000(0) or #2A((1) (2)).")

(defconstant +array-rank+ 7 "Dimensions of an array.")

(defvar *levels-left* +literal-levels+ "Levels of nesting that the text that is read may still have.")

(defvar *elements-left* +literal-elements+ "Elements that arrays of the text that is read may still have.")

(defun longest-token (text)
  "The most characters in a row of TEXT that can be a number or a name. Strings do not count."
  (loop with longest = 0
        with length = 0
        with quote = nil
        with position = 0
        while (< position (length text))
        do (let ((char (char text position)))
             (cond ((char= char #\\) (incf position) (incf length 2))
                   (quote (when (char= char quote) (setf quote nil)) (when (eql quote #\|) (incf length)))
                   ((find char "\"|") (setf quote char))
                   ((or (blank-p char) (find char "()\"'`,;")) (setf length 0))
                   (t (incf length)))
             (when (and (char= char #\") (null quote)) (setf length 0))
             (setf longest (max longest length))
             (incf position))
        finally (return longest)))

(defun check-literal (text)
  "Signal an error if TEXT is too long to be read as data, or has a number or name that is."
  (when (> (length text) +literal-length+)
    (error "It has ~:d characters; at most ~:d are read." (length text) +literal-length+))
  (let ((longest (longest-token text)))
    (when (> longest +token-length+)
      (error "It has a number or name of ~:d characters; at most ~:d are read." longest +token-length+))))

(defun take-elements (count)
  "Count COUNT elements of an array that is to be made. Signals an error if there would be too many."
  (when (minusp (decf *elements-left* count))
    (error "It would make arrays with more than ~:d elements, which are not read." +literal-elements+)))

(defun unshared-size-p (form most)
  "True if FORM would have at most MOST conses and elements if nothing in it were shared. Circular data would have more."
  (let ((left most) (pending (list form)))
    (flet ((take (count) (when (minusp (decf left count)) (return-from unshared-size-p nil))))
      (loop while pending
            do (let ((part (pop pending)))
                 (loop while (consp part)
                       do (take 1)
                          (push (car part) pending)
                          (setf part (cdr part)))
                 (cond ((comma-p part) (take 1) (push (comma-form part) pending))
                       ((typep part '(array t))
                        (take (array-total-size part))
                        (dotimes (index (array-total-size part)) (push (row-major-aref part index) pending)))))))
    t))

(defun array-dimensions-in (contents rank)
  "The dimensions of the array of RANK that has CONTENTS, as nested sequences."
  (loop repeat rank
        for part = contents then (if (zerop length) '() (elt part 0))
        for length = (if (typep part 'sequence) (length part) (error "~d dimensions need nested lists." rank))
        collect length))

(defun read-array (stream char rank)
  "The reader's function for #nA, which limits the size of the array."
  (declare (ignore char))
  (let ((contents (read stream t nil t)))
    (cond (*read-suppress* nil)
          ((null rank) (error "#A is read only with a number of dimensions, as in #2A((1 2) (3 4))."))
          ((> rank +array-rank+) (error "#~dA is not read: arrays can have at most ~d dimensions here." rank +array-rank+))
          ((not (unshared-size-p contents +literal-elements+)) (take-elements +literal-elements+) (take-elements 1))
          (t (let ((dimensions (array-dimensions-in contents rank)))
               (take-elements (reduce #'* dimensions))
               (make-array dimensions :initial-contents contents))))))

(defun call-one-level-deeper (function &rest arguments)
  "Call FUNCTION, a reader's function, with ARGUMENTS, unless the text is nested too deep."
  (let ((*levels-left* (1- *levels-left*)))
    (when (minusp *levels-left*) (error "It is nested more than ~:d levels deep." +literal-levels+))
    (apply function arguments)))

(defun bounded-dispatch (function)
  "A reader's function like FUNCTION, that of # and a character, within the limits."
  (lambda (stream char number)
    (when (and number (find char "(*") (not *read-suppress*)) (take-elements number))
    (call-one-level-deeper function stream char number)))

(defun bound-dispatching (char readtable)
  "Set limits to what CHAR and a character after it read in READTABLE."
  (loop for code from 33 below 127
        for sub = (code-char code)
        for function = (and (char= sub (char-upcase sub))
                            (not (digit-char-p sub))
                            (get-dispatch-macro-character char sub readtable))
        when function do (set-dispatch-macro-character char sub (bounded-dispatch function) readtable)))

(defun bounded-readtable (readtable)
  "A copy of READTABLE that reads within the limits on data, if CHECK-LITERAL accepts the text and WITH-LITERAL-LIMITS is around it."
  (let ((bounded (copy-readtable readtable)))
    (set-dispatch-macro-character #\# #\A #'read-array bounded)
    (loop for code from 33 below 127
          for char = (code-char code)
          do (multiple-value-bind (function non-terminating) (get-macro-character char bounded)
               (cond ((or (null function) (find char ")\";")))
                     ((ignore-errors (get-dispatch-macro-character char #\! bounded) t) (bound-dispatching char bounded))
                     (t (let ((function function))
                          (set-macro-character char
                                               (lambda (stream char) (call-one-level-deeper function stream char))
                                               non-terminating bounded))))))
    bounded))

(defmacro with-literal-limits (() &body body)
  "Run BODY, which reads one text as data with a BOUNDED-READTABLE."
  `(let ((*levels-left* +literal-levels+)
         (*elements-left* +literal-elements+))
     ,@body))
