;;;; The files that the program was loaded from, and their texts as they were loaded.

(in-package #:swank-client/loaded-texts)

(defstruct file
  "A source file as it is now."
  truename
  analysis
  ;; the file with the text that was loaded: see LOADED-VERSION
  (loaded :unknown)
  ;; a vector of what its forms change: see FILE-SYNTAX-CHANGES
  (syntax nil)
  ;; the package in which its first forms are read
  (initial-package (user-package)))

(defun file-text (file)
  "The text of FILE."
  (analysis-text (file-analysis file)))

(defun file-format (file)
  "The external format of FILE."
  (analysis-format (file-analysis file)))

(defun file-date (file)
  "The universal time at which FILE was written."
  (stamp-date (analysis-stamp (file-analysis file))))

(defvar *files* nil "The files that this request has read, by truename.")

(defvar *code-sources* nil "The latest record about the code of each file, by native name, for this request; NIL until it is needed.")

(defmacro with-files (() &body body)
  "Run BODY, which reads each file once."
  `(let ((*files* (make-hash-table :test 'equal))
         (*code-sources* nil))
     ,@body))

(defun read-file (truename)
  "The file TRUENAME as it is now, or NIL if it cannot be read."
  (let ((analysis (analysis-of-file truename)))
    (and analysis (make-file :truename truename :analysis analysis))))

(defun file-forms (file)
  "The top-level forms of FILE."
  (values (analysis-forms (file-analysis file))))

(defun file-whole-p (file)
  "True if all of FILE can be read."
  (nth-value 1 (analysis-forms (file-analysis file))))

(defun file-now (name)
  "The file that NAME means, a pathname or native name, as it is now; or NIL if it cannot be read."
  (let ((truename (named-file name)))
    (when (and truename (pathname-name truename))
      (multiple-value-bind (file foundp) (gethash truename *files*)
        (if foundp
            file
            (setf (gethash truename *files*) (or-nil (read-file truename))))))))

(defun better-source-p (source other)
  "True if SOURCE is a later record than OTHER, or as late and with positions, which records of top-level forms lack."
  (or (> (code-created source) (code-created other))
      (and (= (code-created source) (code-created other))
           (plusp (length (code-start-positions source)))
           (zerop (length (code-start-positions other))))))

(defun keep-better (source table)
  "Keep SOURCE in TABLE, records by native name, unless that has a better one of the same file."
  (let ((known (gethash (code-file source) table)))
    (when (or (null known) (better-source-p source known))
      (setf (gethash (code-file source) table) source))))

(defun own-name-p (name)
  "True if NAME, a function's, is one of this library, of any version in the image."
  (if (consp name)
      (some #'own-name-p (list (first name) (and (consp (rest name)) (second name))))
      (let ((package (and (symbolp name) (symbol-package name))))
        (and package (package-name package) (runtime-package-p package)))))

(defun find-code-sources ()
  "The record about the code of each file but this library's, by native name: the latest that definitions use, or else the latest."
  (let ((used (make-hash-table :test 'equal))
        (all (make-hash-table :test 'equal))
        (own (make-hash-table :test 'equal)))
    (map-code-sources (lambda (source used-p names)
                        (when (some #'own-name-p names) (setf (gethash (code-file source) own) t))
                        (keep-better source all)
                        (when used-p (keep-better source used))))
    (maphash (lambda (file source) (setf (gethash file all) source)) used)
    (loop for file being the hash-keys of own do (remhash file all))
    all))

(defun code-sources ()
  "The latest record about the code of each file of the program, by native name."
  (or *code-sources*
      (setf *code-sources* (find-code-sources))))

(defun loaded-source (pathname)
  "The latest record about the code of the file PATHNAME, or NIL if it has none."
  (gethash (sb-ext:native-namestring pathname) (code-sources)))

;;; The texts of files as they were loaded.

(defun decoded (octets format)
  "The text of OCTETS in FORMAT, or in Latin-1."
  (or (or-nil (sb-ext:octets-to-string octets :external-format format))
      (sb-ext:octets-to-string octets :external-format :latin-1)))

(defun loads-text-p (latest code)
  "True if a text is that of CODE, a record about code, or of a part of it; also if there is none. LATEST: the latest date of code that is not
newer than the text."
  (or (null code) (<= (code-created code) latest)))

(defun version-with (octets file)
  "FILE if OCTETS are its text, or else a file with that text."
  (let ((analysis (file-analysis file)))
    (if (eq octets (analysis-loaded-octets analysis))
        file
        (let ((text (decoded octets (file-format file))))
          (cond ((string= text (file-text file))
                 (setf (analysis-loaded-octets analysis) octets)
                 file)
                (t (make-file :truename (file-truename file)
                              :analysis (make-analysis :stamp (analysis-stamp analysis) :text text :format (file-format file)))))))))

(defun loaded-version (file code)
  "=> FILE if its text is the one that was loaded, or else a file with that text, or NIL if that is not known; and the dates of code
from that text. CODE is a record about code of the file, or NIL."
  (multiple-value-bind (octets date latest) (loaded-octets (file-truename file))
    (declare (ignore date))
    (when (and octets (loads-text-p latest code))
      (when (eq :unknown (file-loaded file))
        (setf (file-loaded file) (version-with octets file)))
      (values (file-loaded file) (loaded-dates (file-truename file))))))

(defun dated-as-now-p (file code)
  "True if CODE, a record about code of FILE, has the date of FILE, and nothing is known of another text: dates are whole seconds, and a file can get
an old one."
  (and code
       (= (code-created code) (file-date file))
       (member (loaded-version file code) (list file nil))
       t))

(defun date-when-compiled (truename)
  "The date that the file TRUENAME had when code of it was compiled that is the latest in the image, or that forms have replaced; or NIL."
  (let ((code (loaded-source truename))
        (replaced (replaced-date (sb-ext:native-namestring truename))))
    (if code (max (code-created code) (or replaced 0)) replaced)))

(defun text-as-loaded (file)
  "The text of FILE as it was loaded, or NIL if that is not known."
  (let ((created (date-when-compiled (file-truename file))))
    (multiple-value-bind (octets date latest) (loaded-octets (file-truename file))
      (declare (ignore date))
      (cond ((and octets
                  ;; code of a load that has failed is newer than the text that was loaded last
                  (or (null created) (<= created latest) (load-unfinished-p (file-truename file))))
             (file-text (version-with octets file)))
            ((load-unfinished-p (file-truename file)) nil)
            ((and created (= created (file-date file)) (date-decides-p (file-truename file)))
             (note-text (file-truename file))
             (file-text file))))))

;;; Files that are known not to differ from what was loaded

(defvar *unchanged-texts* (make-hash-table :test 'equal :synchronized t)
  "(STAMP . OCTETS) by native name of files that had the text OCTETS, which was loaded, when their stamp was STAMP.")

(defun note-unchanged-text (file)
  "FILE has the text that was loaded. Its next comparison then need not read it."
  (let ((octets (loaded-octets (file-truename file)))
        (stamp (analysis-stamp (file-analysis file))))
    (when (and octets (settled-stamp-p stamp))
      (setf (gethash (sb-ext:native-namestring (file-truename file)) *unchanged-texts*) (cons stamp octets)))))

(defun unchanged-text-p (truename)
  "True if the file TRUENAME has the text that was loaded, as is known without reading it."
  (let ((name (sb-ext:native-namestring truename))
        (created (date-when-compiled truename)))
    (destructuring-bind (&optional stamp . known) (gethash name *unchanged-texts*)
      (multiple-value-bind (octets date latest) (loaded-octets truename)
        (declare (ignore date))
        (and stamp
             (eq octets known)
             (or (null created) (<= created latest))
             (equal stamp (or-nil (file-stamp name))))))))

;;; Files of which no text and no code is known

(defun core-without-program-p ()
  "True if the image was started from SBCL's own core, or from one that this library has built, which is named by a digest."
  (let ((name (pathname-name sb-ext:*core-pathname*)))
    (or (equal "sbcl" name)
        (and (find-package "SWANK-CLIENT/LAUNCH")
             (= 24 (length name))
             (every (lambda (char) (digit-char-p char 16)) name)))))

(defun image-start ()
  "The universal time at which the image was started, or a little before. For a core that may hold a program: when it was saved, or before."
  (let ((started (- (get-universal-time) (ceiling (get-internal-real-time) internal-time-units-per-second) 1)))
    (if (core-without-program-p)
        started
        (min started (or (or-nil (file-write-date sb-ext:*core-pathname*)) 0)))))

(defun compiled-files (pathname)
  "The existing compiled files of the file PATHNAME, beside it and where ASDF keeps them."
  (let ((beside (compile-file-pathname pathname)))
    (loop for file in (list beside (or-nil (translated-pathname beside)))
          for truename = (and file (or-nil (probe-file file)))
          when truename collect truename)))

(defun compiled-since-p (pathname)
  "True if the file PATHNAME was compiled after it was last changed, so that code from before was not loaded."
  (nil-on file-error (some (lambda (fasl) (compiled-after-p fasl pathname)) (compiled-files pathname))))

(defun date-decides-p (pathname)
  "True if code that was compiled when the file PATHNAME had its present date is from its present text: compiled files that are not older are
from after its last change or, if there are none, the image is. A file that was edited and got its old date again is changed later."
  (or-nil
   (let ((compiled (remove (file-write-date pathname) (compiled-files pathname) :key #'file-write-date :test #'>)))
     (if compiled
         (every (lambda (fasl) (compiled-after-p fasl pathname)) compiled)
         (< (changed-at pathname) (image-start))))))
