;;;; The texts of files and the forms in them, kept between requests. A file is read again if its date, size or inode has changed.

(in-package #:swank-client/sources)

(defconstant +kept-characters+ 2000000 "Characters of all texts that are kept.")

(defconstant +unix-epoch+ (encode-universal-time 0 0 0 1 1 1970 0) "The universal time at which Unix time begins.")

(defstruct analysis
  "The text of a file, read when its stamp was STAMP."
  stamp text format
  (known-forms :unread)
  (known-whole nil)
  ;; see sources/heads.lisp
  (known-heads nil)
  (known-inner-heads nil)
  ;; the names of the packages that its forms change to
  (packages :unread)
  ;; whether it mentions readtables, or :UNREAD
  (readtable :unread)
  ;; the bytes that were loaded, if they are known to be this text
  (loaded-octets nil))

(defvar *analyses* '() "Analyses by native name, the latest used first.")
(defvar *analyses-lock* (sb-thread:make-mutex :name "swank-client analyses") "Taken to read or change *ANALYSES*.")

(defun file-stamp (name)
  "(WRITE-DATE CHANGE-DATE SIZE INODE) of the file with the native NAME, in Unix time."
  (let ((stat (sb-posix:stat name)))
    (list (sb-posix:stat-mtime stat) (sb-posix:stat-ctime stat) (sb-posix:stat-size stat) (sb-posix:stat-ino stat))))

(defun stamp-date (stamp)
  "The universal time of the last write in STAMP."
  (+ +unix-epoch+ (first stamp)))

(defun settled-stamp-p (stamp)
  "True if every later change of the file gets another stamp: dates are whole seconds, and the clocks of the file system may lag."
  (> (- (get-universal-time) +unix-epoch+) (+ 2 (second stamp))))

(defun kept-analysis (name stamp)
  "The analysis of the file NAME if that had STAMP, or NIL. It becomes the latest used."
  (with-system-mutex (*analyses-lock*)
    (let ((entry (assoc name *analyses* :test #'string=)))
      (when entry
        (setf *analyses* (remove entry *analyses* :test #'eq))
        (when (equal stamp (analysis-stamp (cdr entry)))
          (push entry *analyses*)
          (cdr entry))))))

(defun keep-analysis (name analysis)
  "Keep ANALYSIS of the file NAME, and forget those that were not used for the longest time if there is no room."
  (with-system-mutex (*analyses-lock*)
    (let ((entries (acons name analysis (remove name *analyses* :key #'car :test #'string=))))
      (setf *analyses* (loop for entry in entries
                             sum (length (analysis-text (cdr entry))) into size
                             while (<= size +kept-characters+)
                             collect entry)))))

(defun analysis-of-file (truename)
  "The analysis of the file TRUENAME as it is now, or NIL if it cannot be read as text."
  (let* ((name (sb-ext:native-namestring truename))
         ;; a file that changes while it is read counts as the older one
         (stamp (file-stamp name)))
    (or (kept-analysis name stamp)
        (let ((settled (settled-stamp-p stamp)))
          (multiple-value-bind (text format) (source-text truename)
            (when text
              (let ((analysis (make-analysis :stamp stamp :text text :format format)))
                (when settled (keep-analysis name analysis))
                analysis)))))))

(defun analysis-forms (analysis)
  "=> the top-level forms of ANALYSIS, and whether all of its text can be read"
  (when (eq :unread (analysis-known-forms analysis))
    (multiple-value-bind (forms whole) (top-level-forms (analysis-text analysis))
      ;; another thread that sees the forms must see this too
      (setf (analysis-known-whole analysis) whole
            (analysis-known-forms analysis) forms)))
  (values (analysis-known-forms analysis) (analysis-known-whole analysis)))

(defparameter *words-of-syntax* '("readtable" "-syntax" "macro-character" "syntax-from-char")
  "Parts of the names of operators and variables that change the syntax of code.")

(defun mentions-syntax-p (text)
  "True if TEXT, code, names something that changes the syntax of code."
  (some (lambda (word) (search word text :test #'char-equal)) *words-of-syntax*))

(defun mentions-readtable-p (analysis)
  "True if the text of ANALYSIS may set a readtable. Searching a long text takes milliseconds."
  (when (eq :unread (analysis-readtable analysis))
    (setf (analysis-readtable analysis) (and (mentions-syntax-p (analysis-text analysis)) t)))
  (analysis-readtable analysis))
