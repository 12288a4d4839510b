;;;; The files that the program was loaded from, as they are now, and when they were loaded.

(in-package #:swank-client/code)

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
