;;;; Reads code as data, within limits: no code runs, no package of the program gets a symbol, and a few characters cannot ask the reader for any amount of memory.

(in-package #:swank-client/reading)

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
                     ((nil-on error (get-dispatch-macro-character char #\! bounded) t) (bound-dispatching char bounded))
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

;;; Reads code as data: no code runs, and no package of the program gets a symbol.

;;; Names with a package that lacks them. The reader would intern them there, so they are replaced in the text by names of our own package.

(defvar *unknown-names* nil "The uninterned symbols that stand for names their packages lack, by the names that replace them in the text.")

(defun prefix-of-unknown (symbol)
  "The package prefix with which code writes SYMBOL, which stands for a name that its package lacks; or NIL."
  (and (null (symbol-package symbol)) (get symbol 'prefix)))

(defun name-read (text start end)
  "The name that the reader makes of the part of TEXT between START and END, which has no package."
  (let ((symbol (let ((*read-base* 10)) (read-from-string text nil nil :start start :end end))))
    (if (symbolp symbol) (symbol-name symbol) (subseq text start end))))

(defun unknown-name (text start end home keywords)
  "An uninterned symbol for the token between START and END of TEXT, if a package of the program would get a symbol when it is read; or NIL.
HOME is the package in which packages are named. KEYWORDS: keywords count."
  (multiple-value-bind (colon colons) (package-marker text start end)
    (let ((name-start (and colon (+ colon colons))))
      (cond ((null colon) nil)
            ((and (= name-start end) (eql #\( (and (< end (length text)) (char text end))))
             (error "~a(...) is not read, because that would intern names." (subseq text start end)))
            ((or (= name-start end) (not (eql colons (if (= colon start) 1 2)))) nil)
            ((= colon start)
             (and keywords (unknown-symbol text start name-start end (find-package "KEYWORD"))))
            (t (let ((package (package-known-in home (name-read text start colon))))
                 (and package (unknown-symbol text start name-start end package))))))))

(defun unknown-symbol (text start name-start end package)
  "An uninterned symbol with the name between NAME-START and END of TEXT if PACKAGE has none of this name. START is that of the prefix."
  (let ((name (name-read text name-start end)))
    (unless (nth-value 1 (accessible-symbol name package))
      (let ((symbol (make-symbol name)))
        (setf (get symbol 'prefix) (string-downcase (subseq text start name-start)))
        symbol))))

(defun token-char-in (readtable)
  "A predicate of the characters that can be part of a token in READTABLE."
  (lambda (char)
    (multiple-value-bind (function non-terminating) (get-macro-character char readtable)
      (not (or (blank-p char) (and function (not non-terminating)))))))

(defun without-unknown-names (text home keywords)
  "TEXT with other names for those that UNKNOWN-NAME finds; they are noted in *UNKNOWN-NAMES*."
  (let ((kept 0) (parts '()))
    (flet ((replace-unknown (start end)
             (let ((symbol (unknown-name text start end home keywords))
                   (name (format nil "SWANK-CLIENT UNKNOWN ~d" (hash-table-count *unknown-names*))))
               (when symbol
                 (setf (gethash name *unknown-names*) symbol)
                 (push (subseq text kept start) parts)
                 (push (format nil "|~a|" name) parts)
                 (setf kept end)))))
      (when (find #\: text)
        (map-tokens #'replace-unknown text (token-char-in *readtable*)))
      (format nil "~{~a~}~a" (reverse parts) (subseq text kept)))))

;;; The readtable

(defun refuse-structure (stream char parameter)
  "The reader's function for #S, which would call a constructor."
  (declare (ignore stream char parameter))
  (error "#S is not read, because it would call a constructor."))

(defun feature-p (form)
  "True if the feature expression FORM, read with its names in any package, is true."
  (flet ((head-p (name) (and (symbolp (first form)) (string= name (first form)))))
    (cond ((symbolp form) (member (accessible-symbol (symbol-name form) "KEYWORD") (remove nil *features*)))
          ((atom form) nil)
          ((head-p "NOT") (notany #'feature-p (rest form)))
          ((head-p "AND") (every #'feature-p (rest form)))
          (t (some #'feature-p (rest form))))))

(defun read-conditional (stream char parameter)
  "The reader's function for #+ and #-, which interns no feature."
  (declare (ignore parameter))
  (let ((feature (read stream t nil t)))
    (unless (unshared-size-p feature 1000) (error "A feature expression is circular or too long."))
    (cond (*read-suppress* (read stream t nil t) (values))
          ((eq (char= char #\+) (and (feature-p feature) t)) (read stream t nil t))
          (t (let ((*read-suppress* t)) (read stream t nil t)) (values)))))

(defun data-readtable (&optional readtable)
  "A copy of READTABLE, by default the standard one, without #S, and that interns no features."
  (let ((readtable (copy-readtable readtable)))
    (set-dispatch-macro-character #\# #\S #'refuse-structure readtable)
    (set-dispatch-macro-character #\# #\+ #'read-conditional readtable)
    (set-dispatch-macro-character #\# #\- #'read-conditional readtable)
    readtable))

;;; Reading in a package of our own. Making a package takes longer than reading, so these are used again.

(sb-ext:defglobal **scratch-packages** '() "Packages without symbols that no thread uses.")

(defun make-scratch-package ()
  "A new package without symbols."
  (make-package (format nil "~a/SCRATCH ~a" (package-name (symbol-package 'make-scratch-package)) (gensym "")) :use '()))

(defun call-with-scratch-package (home function)
  "Call FUNCTION with a package without symbols that has the local nicknames of the package HOME. The symbols that it interns there have no
package afterwards."
  (let ((scratch (or (sb-ext:atomic-pop **scratch-packages**) (make-scratch-package)))
        (nicknames (or-nil (sb-ext:package-local-nicknames home))))
    (unwind-protect
         (progn
           (loop for (nickname . package) in nicknames do (or-nil (sb-ext:add-package-local-nickname nickname package scratch)))
           (funcall function scratch))
      (loop for (nickname) in nicknames do (or-nil (sb-ext:remove-package-local-nickname nickname scratch)))
      (do-symbols (symbol scratch) (unintern symbol scratch))
      (sb-ext:atomic-push scratch **scratch-packages**))))

;; Forms share structure, and can be circular, so they are changed and not copied.
(defun replace-known-symbols (form scratch)
  "Replace each symbol of the package SCRATCH in FORM, which was just read, by the one that the current package has under its name, if it has
one. => FORM"
  (let ((seen (make-hash-table :test 'eq)) (pending '()))
    (labels ((existing-symbol (symbol)
               (or (gethash (symbol-name symbol) *unknown-names*)
                   (multiple-value-bind (known status) (accessible-symbol (symbol-name symbol) *package*)
                     (if status known symbol))))
             (existing (part)
               (cond ((typep part '(or cons (array t)))
                      (unless (gethash part seen)
                        (setf (gethash part seen) t)
                        (push part pending))
                      part)
                     ((and part (symbolp part)) (if (eq scratch (symbol-package part)) (existing-symbol part) part))
                     ((comma-p part) (make-comma (existing (comma-form part)) part))
                     (t part)))
             (replace-in-cons (cons)
               (let ((first (existing (car cons))) (rest (existing (cdr cons))))
                 (unless (eq first (car cons)) (setf (car cons) first))
                 (unless (eq rest (cdr cons)) (setf (cdr cons) rest))))
             (replace-in-array (array)
               (dotimes (index (array-total-size array))
                 (let* ((old (row-major-aref array index)) (new (existing old)))
                   (unless (eq old new) (setf (row-major-aref array index) new))))))
      (prog1 (existing form)
        (loop while pending
              do (let ((part (pop pending)))
                   (if (consp part) (replace-in-cons part) (replace-in-array part))))))))

(defconstant +code-size+ 1000000 "Conses and elements of code, counted as if nothing in it were shared.")

(defun read-without-interning (source readtable &key (keywords t) (most +code-size+))
  "The forms of SOURCE, read with READTABLE without running code. A name that its package lacks becomes a symbol of no package.
KEYWORDS: so does a keyword; otherwise it is interned, because macros distinguish keywords.
MOST: the conses and elements that the forms may have if nothing in them were shared, or NIL if they may be circular."
  (check-literal source)
  (call-with-scratch-package
   *package*
   (lambda (scratch)
     (let ((*read-eval* nil)
           (*readtable* (bounded-readtable readtable))
           (*unknown-names* (make-hash-table :test 'equal))
           (home *package*))
       (with-literal-limits ()
         (let ((forms (let ((*package* scratch)) (source-forms (without-unknown-names source home keywords)))))
           (unless (or (null most) (unshared-size-p forms most))
             (error "It is circular, or has more than ~:d parts if nothing in it is shared." most))
           (replace-known-symbols forms scratch)))))))

(defun source-forms (source)
  "The forms of SOURCE, read in the current package."
  (check-characters source)
  (handler-case (with-input-from-string (stream source)
                  (loop with eof = (list nil)
                        for form = (read stream nil eof)
                        until (eq form eof) collect form))
    (end-of-file () (error "The code ends in the middle of a form."))))
