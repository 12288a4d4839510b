;;;; Where definitions came from, as far as text and files tell.

(in-package #:@module@)

(defconstant +source-file-limit+ 4000000 "Larger files are not searched for a definition.")
(defconstant +source-form-limit+ 4000)

(defun file-text (file)
  (with-open-file (stream file :external-format (or (swank/backend:guess-external-format file) '(:utf-8 :replacement #\?)))
    (when (< (file-length stream) +source-file-limit+)
      (let ((text (make-string (file-length stream))))
        (subseq text 0 (read-sequence text stream))))))

(defun noting-list-reader (note)
  "Reads lists as ever, after it called NOTE with where the outermost one begins."
  (let ((list-reader (get-macro-character #\())
        (depth 0))
    (lambda (stream char)
      (when (zerop depth) (funcall note (1- (file-position stream))))
      (incf depth)
      (unwind-protect (funcall list-reader stream char)
        (decf depth)))))

(defun form-start (text number)
  "Where the top-level form NUMBER, from 0, begins in TEXT, or NIL. Nothing is evaluated or interned by it."
  (let ((*read-suppress* t)
        (*readtable* (copy-readtable nil))
        (start nil))
    (with-input-from-string (stream text)
      (loop repeat number do (read-preserving-whitespace stream))
      ;; only the reader knows what it skips: white space, comments, forms for other Lisps
      (set-macro-character #\( (noting-list-reader (lambda (position) (setf start position))))
      (read-preserving-whitespace stream)
      start)))

(defun place-in-file (file form-number)
  "=> position and line of a top-level form of FILE, or NIL if they cannot be found out"
  (let* ((text (or-nil (file-text file)))
         (start (and text form-number (or-nil (form-start text form-number)))))
    (when start
      (values start (1+ (count #\Newline text :end start))))))

(defun file-source (source)
  (let* ((path (sb-introspect:definition-source-pathname source))
         (file (or-nil (probe-file (translate-logical-pathname path)))))
    (multiple-value-bind (position line)
        (and file (place-in-file file (first (sb-introspect:definition-source-form-path source))))
      (list :file
            (if (typep path 'logical-pathname) (namestring path) (sb-ext:native-namestring path))
            (or position (sb-introspect:definition-source-character-offset source))
            line))))

(defun evaluated-source (plist)
  (destructuring-bind (&key emacs-buffer emacs-string (emacs-position 1) &allow-other-keys) plist
    (list :evaluation emacs-buffer (1- emacs-position)
          (if (> (length emacs-string) +source-form-limit+)
              (concatenate 'string (subseq emacs-string 0 +source-form-limit+) "...")
              emacs-string))))

(defun described-source (source)
  (let ((plist (sb-introspect:definition-source-plist source)))
    (cond ((getf plist :emacs-string) (evaluated-source plist))
          ((sb-introspect:definition-source-pathname source) (file-source source)))))

(defun first-method-source (name)
  (let ((method (first (last (methods-of name)))))
    (and method (sb-introspect:find-definition-source method))))

(defun source-entry (kind name)
  "(:file FILE POSITION LINE), (:evaluation NAME POSITION TEXT) or NIL."
  (flet ((entry (source) (and source (described-source source))))
    (or-nil
     (or (entry (definition-source kind name))
         ;; a generic function that its first method has made
         (and (eq kind :generic-function) (entry (first-method-source name)))))))
