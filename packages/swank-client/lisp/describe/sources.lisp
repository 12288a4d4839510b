;;;; Finds the sources of definitions, in files and in evaluated text.

(in-package #:swank-client/describe)

(defconstant +source-form-limit+ 4000 "Characters shown of a definition that is in no file.")

(defun place-in-file (file form-number offset)
  "=> position and line in FILE of its top-level form FORM-NUMBER, or of the form at OFFSET if they cannot be counted; NIL if FILE cannot be read"
  (let* ((analysis (or-nil (analysis-of-file file)))
         (text (and analysis (analysis-text analysis)))
         (form (and text form-number (nth form-number (analysis-forms analysis))))
         (start (if form
                    (top-level-form-start form)
                    (and text (form-after text offset)))))
    (when start
      (values start (position-of text start)))))

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
