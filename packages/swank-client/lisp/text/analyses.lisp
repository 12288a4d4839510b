;;;; The texts of files with their forms and the heads of these, kept between requests. A file is read again if its date, size or inode has changed.

(in-package #:swank-client/analyses)

(defconstant +kept-characters+ 2000000 "Characters of all texts that are kept.")

(defstruct analysis
  "The text of a file, read when its stamp was STAMP."
  stamp text format
  (known-forms :unread)
  (known-whole nil)
  (known-heads nil)
  (known-inner-heads nil)
  ;; the names of the packages that its forms change to
  (packages :unread)
  ;; whether it mentions readtables, or :UNREAD
  (readtable :unread)
  ;; the bytes that were loaded, if they are known to be this text
  (loaded-octets nil))

(defvar *analyses* '() "Analyses by native name, the latest used first.")

(defvar *analyses-lock* (make-lock "swank-client analyses") "Taken to read or change *ANALYSES*.")

(defun stamp-date (stamp)
  "The universal time of the last write in STAMP."
  (+ +unix-epoch+ (first stamp)))

(defun settled-stamp-p (stamp)
  "True if every later change of the file gets another stamp: dates are whole seconds, and the clocks of the file system may lag."
  (> (- (get-universal-time) +unix-epoch+) (+ 2 (second stamp))))

(defun kept-analysis (name stamp)
  "The analysis of the file NAME if that had STAMP, or NIL. It becomes the latest used."
  (with-lock (*analyses-lock*)
    (let ((entry (assoc name *analyses* :test #'string=)))
      (when entry
        (setf *analyses* (remove entry *analyses* :test #'eq))
        (when (equal stamp (analysis-stamp (cdr entry)))
          (push entry *analyses*)
          (cdr entry))))))

(defun keep-analysis (name analysis)
  "Keep ANALYSIS of the file NAME, and forget those that were not used for the longest time if there is no room."
  (with-lock (*analyses-lock*)
    (let ((entries (acons name analysis (remove name *analyses* :key #'car :test #'string=))))
      (setf *analyses* (loop for entry in entries
                             sum (length (analysis-text (cdr entry))) into size
                             while (<= size +kept-characters+)
                             collect entry)))))

(defun analysis-of-file (truename)
  "The analysis of the file TRUENAME as it is now, or NIL if it cannot be read as text."
  (let* ((name (native-name truename))
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

(defun mentions-readtable-p (analysis)
  "True if the text of ANALYSIS may set a readtable. Searching a long text takes milliseconds."
  (when (eq :unread (analysis-readtable analysis))
    (setf (analysis-readtable analysis) (and (mentions-syntax-p (analysis-text analysis)) t)))
  (analysis-readtable analysis))

;;; Heads. Finding them takes longer than comparing them.

(defun analysis-heads (analysis)
  "A vector of the heads of the top-level forms of ANALYSIS, NIL for those without one."
  (or (analysis-known-heads analysis)
      (setf (analysis-known-heads analysis)
            (map 'vector
                 (lambda (form) (text-head (analysis-text analysis) (top-level-form-start form) (top-level-form-end form)))
                 (analysis-forms analysis)))))

(defun analysis-inner-heads (analysis number)
  "FORM-INNER-HEADS for the top-level form NUMBER of ANALYSIS."
  (let* ((forms (analysis-forms analysis))
         (known (or (analysis-known-inner-heads analysis)
                    (setf (analysis-known-inner-heads analysis) (make-array (length forms) :initial-element :unread)))))
    (when (eq :unread (aref known number))
      (setf (aref known number) (form-inner-heads (analysis-text analysis) (nth number forms))))
    (aref known number)))
