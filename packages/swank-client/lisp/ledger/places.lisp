;;;; The files and forms of definitions that evaluated forms have replaced. SBCL then records only the new place.

(in-package #:swank-client/ledger)

(defvar *replaced-places* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "((KIND NAME . PLACE) ...) of replaced definitions, by the symbol in their names.")

(defvar *replaced-dates* (make-hash-table :test 'equal :synchronized t)
  "The dates that files had when they were compiled, by native name, as replaced functions had recorded them.")

(defstruct (place (:constructor make-place (file number)) (:copier nil))
  "The native name of the FILE that a definition was loaded from, and the NUMBER of its top-level form there, or NIL."
  file number)

(defun place-symbol (name)
  "The symbol in NAME: SYMBOL, (SETF SYMBOL), or one of them with what METHOD-NAME adds. NIL for the name of a package."
  (typecase name
    (symbol name)
    ((cons (eql setf) (cons symbol null)) (second name))
    (cons (place-symbol (first name)))))

(defun place-of-source (source)
  "The place of SOURCE, a definition source, or NIL if it is in no file. An editor names the file of the text that it compiles."
  (let ((path (sb-introspect:definition-source-pathname source))
        (plist (sb-introspect:definition-source-plist source)))
    (if (getf plist :emacs-string)
        (let ((file (getf plist :emacs-filename)))
          (and (stringp file) (make-place file nil)))
        (let ((file (and path (not (typep path 'logical-pathname)) (probe-file path))))
          (and file
               (make-place (sb-ext:native-namestring file) (first (sb-introspect:definition-source-form-path source))))))))

(defun note-date (source file)
  "Note the date that FILE, a native name, had when the definition of SOURCE was compiled from it. Keep its text if it has that date still:
the last code that records the date may be about to go."
  (let ((date (sb-introspect:definition-source-file-write-date source))
        (truename (sb-ext:parse-native-namestring file)))
    (when date
      (setf (gethash file *replaced-dates*) (max date (gethash file *replaced-dates* 0)))
      (when (and (null (loaded-octets truename)) (eql date (file-write-date truename)))
        (note-text truename)))))

(defun place-entry (kind name)
  "The entry of *REPLACED-PLACES* for NAME as KIND or a kind that replaces it, or NIL."
  (find-if (lambda (entry) (and (member (first entry) (source-kinds kind)) (equal name (second entry))))
           (gethash (place-symbol name) *replaced-places*)))

(defun note-replaced (kind name source)
  "Note the place of SOURCE, that of the definition of NAME as KIND that a form replaces, if it is a file."
  (let ((place (and source (place-symbol name) (ignore-errors (place-of-source source)))))
    (when place
      (ignore-errors (note-date source (place-file place)))
      (sb-ext:with-locked-hash-table (*replaced-places*)
        (let ((entry (place-entry kind name)))
          (if entry
              (setf (cddr entry) place)
              (push (list* kind name place) (gethash (place-symbol name) *replaced-places*))))))))

(defun replaced-place (kind name)
  "The place of the latest definition of NAME as KIND that was in a file and that an evaluated form has replaced, or NIL."
  (cddr (place-entry kind name)))

(defun replaced-date (file)
  "The date that FILE, a native name, had when it was compiled, as functions that forms have replaced had recorded it; or NIL."
  (values (gethash file *replaced-dates*)))
