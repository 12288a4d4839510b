;;;; The texts of files as they were loaded.

(in-package #:swank-client/code)

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
  "=> FILE if its text is the one that was loaded, or else a file with that text, or NIL if that is not known; and the date of that text.
CODE is a record about code of the file, or NIL."
  (multiple-value-bind (octets date latest) (loaded-octets (file-truename file))
    (when (and octets (loads-text-p latest code))
      (when (eq :unknown (file-loaded file))
        (setf (file-loaded file) (version-with octets file)))
      (values (file-loaded file) date))))

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
    (loop for file in (list beside (or-nil (call-if-loaded "ASDF" "APPLY-OUTPUT-TRANSLATIONS" beside)))
          for truename = (and file (or-nil (probe-file file)))
          when truename collect truename)))

(defun compiled-since-p (pathname)
  "True if the file PATHNAME was compiled after it was last changed, so that code from before was not loaded."
  (or-nil (some (lambda (fasl) (compiled-after-p fasl pathname)) (compiled-files pathname))))

(defun date-decides-p (pathname)
  "True if code that was compiled when the file PATHNAME had its present date is from its present text: compiled files that are not older are
from after its last change or, if there are none, the image is. A file that was edited and got its old date again is changed later."
  (or-nil
   (let ((compiled (remove (file-write-date pathname) (compiled-files pathname) :key #'file-write-date :test #'>)))
     (if compiled
         (every (lambda (fasl) (compiled-after-p fasl pathname)) compiled)
         (< (changed-at pathname) (image-start))))))
