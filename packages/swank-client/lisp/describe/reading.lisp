;;;; Reads code as data: no code runs, and no package of the program gets a symbol.

(in-package #:swank-client/describe)

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
(defun existing-symbols (form scratch)
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
           (existing-symbols forms scratch)))))))
