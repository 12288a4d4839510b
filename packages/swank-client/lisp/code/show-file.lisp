;;;; Shows lines of a source file.

(in-package #:swank-client/code)

(defconstant +lines-limit+ 1000 "Lines shown of a file.")

(defun text-lines (text)
  "The lines of TEXT, as the list of their first positions. The last line break ends a line and begins none."
  (loop for start = 0 then (1+ end)
        for end = (and (< start (length text)) (position #\Newline text :start start))
        when (< start (length text)) collect start
        while end))

(defun head-line (file position)
  "(LINE TEXT) of the line with which the top-level form at POSITION of FILE begins, or NIL."
  (let ((number (form-number (file-forms file) position)))
    (when number
      (let ((start (top-level-form-start (nth number (file-forms file)))))
        (list (position-of (file-text file) start) (definition-line (file-text file) start))))))

(defun changed-p (file)
  "True if FILE is newer than when it was loaded; NIL also if it was not loaded."
  (let ((source (loaded-source (file-truename file))))
    (and source (/= (code-created source) (file-date file)))))

(defun file-lines (file line context)
  "The reply of SHOW-FILE for FILE."
  (let* ((text (file-text file))
         (starts (text-lines text))
         (count (length starts))
         (line (min line (max count 1)))
         (first (max 1 (- line context)))
         (last (min count (+ line context) (+ first +lines-limit+ -1)))
         (start (or (nth (1- line) starts) 0)))
    (list :file (shown-file (file-truename file)) count first
          (loop for start in (nthcdr (1- first) starts)
                repeat (1+ (- last first))
                collect (definition-line text start))
          (head-line file (or (position-if-not #'blank-p text :start start) start))
          (changed-p file))))

(defun folder-files (name)
  "Names of files in the folder of the file NAME that resemble it."
  (let* ((pathname (sb-ext:parse-native-namestring name))
         (wanted (or (pathname-name pathname) ""))
         (wild (make-pathname :name :wild :type :wild :version nil :defaults (merge-pathnames pathname (directory-of-image)))))
    (loop for file in (or-nil (directory wild))
          for other = (pathname-name file)
          when (and other (string/= "fasl" (or (pathname-type file) ""))
                    (or (search wanted other :test #'char-equal)
                        (slip-p (string-downcase wanted) (string-downcase other))))
            collect file)))

(defun loaded-namesakes (name)
  "Files that code was compiled from whose name is that of the file NAME."
  (let ((wanted (file-namestring (sb-ext:parse-native-namestring name))))
    (loop for file being the hash-keys of (code-sources)
          when (and (string-equal wanted (file-namestring (sb-ext:parse-native-namestring file))) (named-file file))
            collect (named-file file))))

(defun similar-files (name)
  "Names of files that NAME may mean, which is no file's."
  (let ((found (remove-duplicates (append (or-nil (loaded-namesakes name)) (or-nil (folder-files name))) :test #'equal)))
    (mapcar #'shown-file (subseq found 0 (min +suggestions+ (length found))))))

(defun plain-file (name)
  "The truename of the file NAME, or NIL. Folders have no text, and reading pipes and devices may take for ever."
  (let ((truename (named-file name)))
    (and truename
         (pathname-name truename)
         (not (special-file-p (sb-ext:native-namestring truename)))
         truename)))

(defun missing-file (name)
  "=> (:file-not-found NAME (FILE ...) REASON) about NAME, which is no plain file's. REASON is :FOLDER, :SPECIAL, or NIL if there is none"
  (let ((truename (named-file name)))
    (list :file-not-found name
          (unless truename (similar-files name))
          (and truename (if (pathname-name truename) :special :folder)))))

(defun show-file (name line context)
  "The CONTEXT lines before and after LINE of the file NAME, and the first line of the definition that LINE is in.
=> (:file FILE COUNT-OF-LINES FIRST (TEXT ...) (LINE TEXT) CHANGED) | (:file-not-found NAME (FILE ...) REASON)
 | (:file-unreadable NAME)"
  (with-code-session (nil)
    (with-files ()
      (let ((file (or-nil (file-now name)))
            (truename (plain-file name)))
        (cond (file (file-lines file line context))
              (truename (list :file-unreadable (shown-file truename)))
              (t (missing-file name)))))))
