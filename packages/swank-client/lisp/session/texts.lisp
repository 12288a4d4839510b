;;;; The text of each source file as clients' code loaded it. SBCL records only the date of the file and the lengths of its forms.

(in-package #:swank-client/texts)

(defconstant +kept-file-limit+ 4000000 "Files of this many bytes or more are not kept.")

(defconstant +kept-limit+ 64000000 "Bytes of all files that are kept.")

(defvar *loaded-texts* (make-hash-table :test 'equal :synchronized t) "(DATE . OCTETS) by native name.")

(defun file-octets (file)
  "The bytes of FILE, or NIL if they are too many."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (when (< (file-length stream) +kept-file-limit+)
      (let ((octets (make-array (file-length stream) :element-type '(unsigned-byte 8))))
        (and (= (length octets) (read-sequence octets stream)) octets)))))

(defun kept-size (&optional (texts *loaded-texts*))
  "The number of bytes of all files that are kept in TEXTS."
  (sb-ext:with-locked-hash-table (texts)
    (loop for (nil . octets) being the hash-values of texts sum (length octets))))

(defvar *seen-texts* (make-hash-table :test 'equal :synchronized t)
  "The dates of the texts that are kept, but that no client's code has loaded, by native name.")

(defvar *load-times* (make-hash-table :test 'equal :synchronized t)
  "When the image had the texts that are kept, as universal times by native name: when clients' code loaded or saved them. A text can have an
older date than code of its file that was loaded before.")

(defvar *earlier-dates* (make-hash-table :test 'equal :synchronized t)
  "By native name, the dates of the texts from which the text that is kept differs only in definitions that were saved to the file. Code with
these dates is from forms that the kept text has, too, with the same numbers.")

(defun forget-text (truename)
  "Forget the text of the file TRUENAME."
  (remhash (sb-ext:native-namestring truename) *earlier-dates*)
  (remhash (sb-ext:native-namestring truename) *load-times*)
  (remhash (sb-ext:native-namestring truename) *seen-texts*)
  (remhash (sb-ext:native-namestring truename) *loaded-texts*))

(defun note-text (truename &optional (octets (file-octets truename)) (date (file-write-date truename)))
  "Keep OCTETS, by default the text that the file TRUENAME has now, with its DATE: it is the one that is loaded."
  (forget-text truename)
  (when (and octets (< (+ (length octets) (kept-size)) +kept-limit+))
    (setf (gethash (sb-ext:native-namestring truename) *loaded-texts*) (cons date octets))))

(defun note-image-text (truename octets date &key earlier-dates)
  "NOTE-TEXT for OCTETS with DATE, the text that the image has now, whatever dates its code of the file TRUENAME has. EARLIER-DATES: see
*EARLIER-DATES*."
  (let ((latest (max (get-universal-time) (or (nth-value 2 (loaded-octets truename)) 0)))
        (name (sb-ext:native-namestring truename)))
    (when (note-text truename octets date)
      (setf (gethash name *load-times*) latest
            (gethash name *earlier-dates*) earlier-dates))))

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

;;; The texts of compiled files

(defvar *compiled-file-texts* (make-hash-table :test 'equal :synchronized t)
  "(DATE . OCTETS) of the text from which clients' code has compiled a file, by the identity of the compiled file.")

(defun contents-identity (file)
  "What tells the contents of FILE, a compiled file, from those of others, also after it is renamed."
  (let ((stat (sb-posix:stat (sb-ext:native-namestring file))))
    (list (sb-posix:stat-dev stat) (sb-posix:stat-ino stat) (sb-posix:stat-mtime stat) (sb-posix:stat-size stat))))

(defun note-compiled-text (file octets date)
  "Note that FILE was compiled from OCTETS, the text that its source had with DATE."
  (unless (< (+ (length octets) (kept-size *compiled-file-texts*)) +kept-limit+)
    (clrhash *compiled-file-texts*))
  (setf (gethash (contents-identity file) *compiled-file-texts*) (cons date octets)))

(defun contains-date-p (octets date)
  "True if OCTETS, those of a compiled file, contain DATE as SBCL records that of the source: a number of eight bytes."
  (declare (type (simple-array (unsigned-byte 8) (*)) octets) (optimize speed))
  (let ((one (ldb (byte 8 0) date)) (two (ldb (byte 8 8) date)) (three (ldb (byte 8 16) date)) (four (ldb (byte 8 24) date)))
    (declare (type (unsigned-byte 8) one two three four))
    (loop for index of-type fixnum from 0 below (- (length octets) 3)
          thereis (and (= one (aref octets index))
                       (= two (aref octets (+ index 1)))
                       (= three (aref octets (+ index 2)))
                       (= four (aref octets (+ index 3)))))))

(defconstant +largest-compiled-file+ 100000000 "Compiled files of this many bytes or more are not read.")

(defun changed-at (source)
  "The universal time at which the file SOURCE, its date or its name was last changed. Nobody can set it, unlike the date of the file."
  (+ +unix-epoch+ (sb-posix:stat-ctime (sb-posix:stat (sb-ext:native-namestring source)))))

(defun compiled-after-p (file source)
  "True if the compiled FILE was written later than in the second in which SOURCE was last changed, even if SOURCE got its old date again. Of a
FILE that was itself unpacked or copied with its date, only the dates tell: the times of change are those of the unpacking."
  (let ((date (file-write-date file)))
    (and (> date (file-write-date source))
         (or (> date (changed-at source))
             (> (changed-at file) (1+ date))))))

(defun compiled-from-present-p (file source)
  "True if the compiled FILE is from the text that SOURCE has now: it records the date of SOURCE, and was written after that was last changed."
  (and (compiled-after-p file source)
       (with-open-file (stream file :element-type '(unsigned-byte 8))
         (when (< (file-length stream) +largest-compiled-file+)
           (let ((octets (make-array (file-length stream) :element-type '(unsigned-byte 8))))
             (read-sequence octets stream)
             (contains-date-p octets (file-write-date source)))))))

(defun text-of-compiled (file source)
  "=> the text of SOURCE from which FILE was compiled, as bytes, and the date of SOURCE then; NIL if that is not known"
  (destructuring-bind (&optional date . octets) (gethash (contents-identity file) *compiled-file-texts*)
    (cond (octets (values octets date))
          ((compiled-from-present-p file source) (values (file-octets source) (file-write-date source))))))

(defun text-to-load (file source)
  "=> the text of SOURCE that loading FILE loads, SOURCE itself or compiled from it; and its date. NIL if that is not known"
  (if (equal file source)
      (values (file-octets source) (file-write-date source))
      (text-of-compiled file source)))

;;; Files that were not loaded to their end

(defvar *unfinished-loads* (make-hash-table :test 'equal :synchronized t)
  "T by the native name of each file that clients' code has begun to compile or load, and has not loaded to its end since.")

(defun note-load-begun (truename)
  "Note that the file TRUENAME is about to be compiled or loaded."
  (setf (gethash (sb-ext:native-namestring truename) *unfinished-loads*) t))

(defun note-load-ended (truename octets date)
  "Note that the file TRUENAME was loaded to its end. OCTETS was its text, with DATE; NIL if that is not known."
  (remhash (sb-ext:native-namestring truename) *unfinished-loads*)
  (if octets
      (note-image-text truename octets date)
      (forget-text truename)))

(defun load-unfinished-p (truename)
  "True if clients' code has begun to load the file TRUENAME, and has not loaded it to its end since."
  (values (gethash (sb-ext:native-namestring truename) *unfinished-loads*)))

(defun unfinished-loads ()
  "The native names of the files for which LOAD-UNFINISHED-P is true."
  (sb-ext:with-locked-hash-table (*unfinished-loads*)
    (loop for name being the hash-keys of *unfinished-loads* collect name)))

;;; The texts of system definitions

(defvar *definition-texts* (make-hash-table :test 'equal :synchronized t)
  "The bytes of each system definition as clients' code has loaded it, by native name.")

(defun note-system-definition (truename)
  "Note that the system definition TRUENAME is about to be loaded."
  (setf (gethash (sb-ext:native-namestring truename) *definition-texts*) (file-octets truename)))

(defun changed-system-definitions ()
  "The truenames of the system definitions that have another text than the one that clients' code has loaded."
  (let ((texts (sb-ext:with-locked-hash-table (*definition-texts*)
                 (loop for name being the hash-keys of *definition-texts* using (hash-value octets) collect (cons name octets)))))
    (loop for (name . octets) in texts
          for file = (nil-on file-error (probe-file (sb-ext:parse-native-namestring name)))
          when (and file (not (equalp octets (nil-on (or file-error stream-error) (file-octets file))))) collect file)))

;;; The texts that were loaded

(defun loaded-octets (truename)
  "=> the bytes of the file TRUENAME as it was loaded, its date then, and the latest date of code of it that is not newer; or NIL"
  (let ((name (sb-ext:native-namestring truename)))
    (destructuring-bind (&optional date . octets) (gethash name *loaded-texts*)
      (values octets date (and date (max date (gethash name *load-times* 0)))))))

(defun loaded-dates (truename)
  "The dates of code that is from the forms of the file TRUENAME as it was loaded."
  (let ((name (sb-ext:native-namestring truename)))
    (destructuring-bind (&optional date . octets) (gethash name *loaded-texts*)
      (and octets (cons date (gethash name *earlier-dates*))))))

(defun loaded-text-files ()
  "The native names of the files whose loaded text is kept."
  (sb-ext:with-locked-hash-table (*loaded-texts*)
    (loop for name being the hash-keys of *loaded-texts* collect name)))

;;; When no client is left

(defun forget-texts ()
  "Let go of all texts."
  (mapc #'clrhash (list *loaded-texts* *seen-texts* *load-times* *earlier-dates* *compiled-file-texts* *definition-texts*)))

;;; Files to which evaluated definitions were saved

(defvar *saved-files* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "Lists of the native names of files by the origins of definitions, the latest first.")

(defvar *files-saved-to* (make-hash-table :test 'equal :synchronized t)
  "Lists of the texts that were saved, by the native name of the file.")

(defun existing-names (names)
  "Those of the native NAMES whose files exist."
  (remove-if-not (lambda (name) (nil-on file-error (probe-file (sb-ext:parse-native-namestring name)))) names))

(defun note-saved-origin (origin name text replaced)
  "Note that TEXT, a definition of ORIGIN, was saved to the file with the native NAME, and has replaced the text REPLACED there, or none if NIL."
  (setf (gethash name *files-saved-to*) (cons text (remove replaced (gethash name *files-saved-to*) :test #'equal)))
  (setf (gethash origin *saved-files*) (cons name (remove name (gethash origin *saved-files*) :test #'string=))))

(defun saved-files (origin)
  "The native names of the existing files to which definitions of ORIGIN were saved, the latest first."
  (existing-names (gethash origin *saved-files*)))

(defun saved-texts (name)
  "The texts of the definitions that were saved to the file with the native NAME."
  (values (gethash name *files-saved-to*)))

(defun files-saved-to ()
  "The native names of all existing files to which definitions were saved. They may never have been loaded."
  (existing-names (sb-ext:with-locked-hash-table (*files-saved-to*)
                    (loop for name being the hash-keys of *files-saved-to* collect name))))
