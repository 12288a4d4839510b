;;;; The text of each source file as clients' code loaded it, so that later changes of the file can be found form by form. SBCL records only
;;;; the date of the file and the lengths of its forms.

(in-package #:swank-client/ledger)

(defconstant +kept-file-limit+ 4000000 "Files of this many bytes or more are not kept.")

(defconstant +kept-limit+ 64000000 "Bytes of all files that are kept.")

(defvar *loaded-texts* (make-hash-table :test 'equal :synchronized t) "(DATE . OCTETS) by native name.")

(defun file-octets (file)
  "The bytes of FILE, or NIL if they are too many."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (when (< (file-length stream) +kept-file-limit+)
      (let ((octets (make-array (file-length stream) :element-type '(unsigned-byte 8))))
        (and (= (length octets) (read-sequence octets stream)) octets)))))

(defun kept-size ()
  "The number of bytes of all files that are kept."
  (sb-ext:with-locked-hash-table (*loaded-texts*)
    (loop for (nil . octets) being the hash-values of *loaded-texts* sum (length octets))))

(defvar *seen-texts* (make-hash-table :test 'equal :synchronized t)
  "The dates of the texts that are kept, but that no client's code has loaded, by native name.")

(defun forget-text (truename)
  "Forget the text of the file TRUENAME."
  (remhash (sb-ext:native-namestring truename) *seen-texts*)
  (remhash (sb-ext:native-namestring truename) *loaded-texts*))

(defun note-text (truename &optional (octets (file-octets truename)) (date (file-write-date truename)))
  "Keep OCTETS, by default the text that the file TRUENAME has now, with its DATE: it is the one that is loaded."
  (forget-text truename)
  (when (and octets (< (+ (length octets) (kept-size)) +kept-limit+))
    (setf (gethash (sb-ext:native-namestring truename) *loaded-texts*) (cons date octets))))

(defun note-seen-text (truename)
  "Keep the text of the file TRUENAME, which another client has loaded and which has not changed since."
  (let ((date (file-write-date truename)))
    (when (note-text truename)
      (setf (gethash (sb-ext:native-namestring truename) *seen-texts*) date))))

(defun text-loaded-p (truename)
  "True if the text of the file TRUENAME is kept because clients' code has loaded it. Only then can the file have changed without its date."
  (let ((name (sb-ext:native-namestring truename)))
    (and (gethash name *loaded-texts*)
         (not (eql (gethash name *seen-texts*) (first (gethash name *loaded-texts*)))))))

(defun note-loaded-text (file source)
  "Keep the text of SOURCE, the truename of the source of FILE, which is about to be loaded; but none if FILE was compiled from an older text."
  (if (>= (file-write-date file) (file-write-date source))
      (note-text source)
      (forget-text source)))

(defun loaded-octets (truename)
  "=> the bytes of the file TRUENAME as it was loaded and its date then, or NIL"
  (destructuring-bind (&optional date . octets) (gethash (sb-ext:native-namestring truename) *loaded-texts*)
    (values octets date)))

(defun loaded-text-files ()
  "The native names of the files whose loaded text is kept."
  (sb-ext:with-locked-hash-table (*loaded-texts*)
    (loop for name being the hash-keys of *loaded-texts* collect name)))

;;; Files to which evaluated definitions were saved

(defvar *saved-files* (make-hash-table :test 'eq :weakness :key :synchronized t) "Native names of files by the origins of definitions.")

(defun note-saved-origin (origin name)
  "Note that the definition of ORIGIN was saved to the file with the native NAME."
  (setf (gethash origin *saved-files*) name))

(defun saved-file (origin)
  "The native name of the file to which the definition of ORIGIN was saved, if that exists; or NIL."
  (let ((name (gethash origin *saved-files*)))
    (and name (ignore-errors (probe-file (sb-ext:parse-native-namestring name))) name)))
