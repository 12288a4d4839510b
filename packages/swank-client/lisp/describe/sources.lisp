;;;; Finds the sources of definitions, in files and in evaluated text.

(in-package #:swank-client/describe)

(defconstant +source-file-limit+ 4000000 "Files of this many bytes or more are not searched for a definition.")

(defconstant +source-form-limit+ 4000 "Characters shown of a definition that is in no file.")

(defun decoded-text (file format)
  "The text of FILE, which is encoded in FORMAT, or NIL if it is too large."
  (with-open-file (stream file :external-format format)
    (when (< (file-length stream) +source-file-limit+)
      (let ((text (make-string (file-length stream))))
        (subseq text 0 (read-sequence text stream))))))

(defun file-text (file)
  "The text of FILE, or NIL if that is too large. Without the name of an encoding, it is UTF-8, or Latin-1 if it cannot be UTF-8."
  (let ((format (swank/backend:guess-external-format file)))
    (if format
        (decoded-text file format)
        (or (or-nil (decoded-text file :utf-8)) (decoded-text file :latin-1)))))

(defun noting-list-reader (note)
  "A macro function for #\\( that calls NOTE with the position of an outermost list, and reads the list."
  (let ((list-reader (get-macro-character #\())
        (depth 0))
    (lambda (stream char)
      (when (zerop depth) (funcall note (1- (file-position stream))))
      (incf depth)
      (unwind-protect (funcall list-reader stream char)
        (decf depth)))))

(defun form-start (text number)
  "The position in TEXT of the top-level form NUMBER, from 0, or NIL. Evaluates and interns nothing."
  (let ((*read-suppress* t)
        (*readtable* (copy-readtable nil))
        (start nil))
    (with-input-from-string (stream text)
      (loop repeat number do (read-preserving-whitespace stream))
      ;; only the reader knows what it skips: white space, comments, forms for other Lisps
      (set-macro-character #\( (noting-list-reader (lambda (position) (setf start position))))
      (read-preserving-whitespace stream)
      start)))

(defun form-after (text offset)
  "The position of the first list in TEXT at or after OFFSET, or NIL. OFFSET may be in the white space before it."
  (and offset (<= offset (length text)) (position #\( text :start offset)))

(defun place-in-file (file form-number offset)
  "=> position and line in FILE of its top-level form FORM-NUMBER, or of the form at OFFSET if they cannot be counted; NIL if FILE cannot be read"
  (let* ((text (or-nil (file-text file)))
         (start (and text
                     (or (and form-number (or-nil (form-start text form-number)))
                         (form-after text offset)))))
    (when start
      (values start (1+ (count #\Newline text :end start))))))

(defun file-source (source)
  "(:file FILE POSITION LINE) for SOURCE, a definition source."
  (let* ((path (sb-introspect:definition-source-pathname source))
         (file (or-nil (probe-file (translate-logical-pathname path))))
         (offset (sb-introspect:definition-source-character-offset source)))
    (multiple-value-bind (position line)
        (and file (place-in-file file (first (sb-introspect:definition-source-form-path source)) offset))
      (list :file
            (if (typep path 'logical-pathname) (namestring path) (sb-ext:native-namestring path))
            (or position offset)
            line))))

(defun evaluated-source (plist)
  "(:evaluation NAME POSITION TEXT) for PLIST, the source plist of a form that was evaluated."
  (destructuring-bind (&key emacs-buffer emacs-string (emacs-position 1) &allow-other-keys) plist
    (list :evaluation emacs-buffer (1- emacs-position)
          (if (> (length emacs-string) +source-form-limit+)
              (concatenate 'string (subseq emacs-string 0 +source-form-limit+) "...")
              emacs-string))))

(defun described-source (source)
  "The description of SOURCE, a definition source, or NIL."
  (let ((plist (sb-introspect:definition-source-plist source)))
    (cond ((getf plist :emacs-string) (evaluated-source plist))
          ((sb-introspect:definition-source-pathname source) (file-source source)))))

(defun first-method-source (name)
  "The definition source of the first method of NAME, or NIL."
  (let ((method (first (last (methods-of name)))))
    (and method (sb-introspect:find-definition-source method))))

(defun source-entry (kind name)
  "The source of NAME as KIND: (:file FILE POSITION LINE), (:evaluation NAME POSITION TEXT) or NIL."
  (flet ((entry (source) (and source (described-source source))))
    (or-nil
     (or (entry (definition-source kind name))
         ;; a generic function that was created by its first method
         (and (eq kind :generic-function) (entry (first-method-source name)))))))
