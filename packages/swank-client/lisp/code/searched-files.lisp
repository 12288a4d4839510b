;;;; The files in which source code is searched: those of a folder, of a system, or of everything that is loaded.

(in-package #:swank-client/code)

(defparameter *source-types* '("lisp" "lsp" "cl" "l" "asd") "Types of files with Lisp code.")

(defconstant +searched-files-limit+ 5000 "Files that one search looks at.")

(defun source-file-p (pathname)
  "True if PATHNAME has the type of a file with Lisp code."
  (member (pathname-type pathname) *source-types* :test #'equalp))

;;; Systems. ASDF need not be loaded.

(defun component-files (component)
  "The source files of COMPONENT, a component of a system, and of its parts."
  (let ((pathname (or-nil (call-if-loaded "ASDF" "COMPONENT-PATHNAME" component)))
        (children (or-nil (call-if-loaded "ASDF" "COMPONENT-CHILDREN" component))))
    (append (and pathname (pathname-name pathname) (source-file-p pathname) (list pathname))
            (loop for child in children append (component-files child)))))

(defun system-files (name)
  "The source files of the system NAME, and the file that defines it."
  (let* ((system (or-nil (registered-system name)))
         (definition (and system (or-nil (call-if-loaded "ASDF" "SYSTEM-SOURCE-FILE" system)))))
    (append (and definition (list definition))
            (and system (component-files system)))))

(defun family-names (name)
  "The names of the system NAME and of systems that are defined with it, as in NAME/TESTS."
  (let ((prefix (concatenate 'string name "/")))
    (remove-if-not (lambda (other) (or (string= name other) (eql 0 (search prefix other)))) (system-names))))

(defun similar-systems (name)
  "Names of systems that are similar to NAME."
  (let ((found (remove-if-not (lambda (other) (or (search name other) (slip-p name other))) (system-names))))
    (subseq found 0 (min +suggestions+ (length found)))))

;;; Everything that is loaded

(defun swank-folder ()
  "The folder of Swank's own code, or NIL."
  (let* ((source (or-nil (function-code-source #'swank:connection-info)))
         (file (and source (code-file source))))
    (and file (namestring (make-pathname :name nil :type nil :version nil :defaults (sb-ext:parse-native-namestring file))))))

(defun contrib-folder ()
  "The folder of the parts of SBCL that REQUIRE loads, or NIL."
  (let ((home (or-nil (sb-int:sbcl-homedir-pathname))))
    (and home (or-nil (namestring (truename (merge-pathnames "contrib/" home)))))))

(defun loaded-files ()
  "The files of which code is loaded, except Lisp's own, Swank's and this library's."
  (let ((folders (remove nil (list (swank-folder) (contrib-folder)))))
    (remove-if (lambda (file)
                 (or (equal "fasl" (pathname-type file))
                     (some (lambda (folder) (eql 0 (search folder (namestring file)))) folders)))
               (append (loop for name being the hash-keys of (code-sources)
                             unless (eql 0 (search "SYS:" name))
                               collect (sb-ext:parse-native-namestring name))
                       (loop for (kind name) in (ledger-loads (session-ledger (current-session)))
                             when (eq kind :file) collect name)))))

;;; All

(defun below-p (file)
  "True if FILE, a truename, is below the image's directory."
  (not (eq :absolute (first (pathname-directory (pathname (enough-namestring file (directory-of-image))))))))

(defun existing-files (pathnames)
  "The truenames of those PATHNAMES that exist, each once: those below the image's directory first, then by name."
  (let ((seen (make-hash-table :test 'equal)) (keys '()))
    (dolist (pathname pathnames)
      (let* ((file (named-file pathname))
             (name (and file (namestring file))))
        (when (and file (pathname-name file) (not (gethash name seen)))
          (setf (gethash name seen) t)
          (push (list (if (below-p file) 0 1) name file) keys))))
    (mapcar #'third (sort keys (lambda (one other)
                                 (if (= (first one) (first other))
                                     (and (string< (second one) (second other)) t)
                                     (< (first one) (first other))))))))

(defun folder-entries (folder)
  "The names of what is in FOLDER, a native name."
  (let ((directory (sb-posix:opendir folder)))
    (unwind-protect
         (loop for entry = (sb-posix:readdir directory)
               until (sb-alien:null-alien entry)
               collect (sb-posix:dirent-name entry))
      (sb-posix:closedir directory))))

(defun readable-entries (folder)
  "The names in FOLDER, a native name, without its own and that of the folder around it; :UNREADABLE if it cannot be read."
  (handler-case (set-difference (folder-entries folder) '("." "..") :test #'equal)
    (error () :unreadable)))

(defun source-name-p (name)
  "True if NAME, of a file, has the type of a file with Lisp code."
  (let ((dot (position #\. name :from-end t)))
    (and dot (plusp dot) (member (subseq name (1+ dot)) *source-types* :test #'equalp))))

(defun file-identity (file)
  "=> what FILE, a native name, is, links followed: :FOLDER, :FILE or NIL for others; and the device and number by which folders are told apart"
  (multiple-value-bind (found device inode mode) (sb-unix:unix-stat file)
    (values (and found (case (logand mode #o170000) (#o040000 :folder) (#o100000 :file)))
            (list device inode))))

;; A pipe, a device or a socket is no source file, whatever its name. Links can make a folder contain itself.
(defun folder-source-files (folder)
  "The source files below FOLDER, a truename, those of outer folders first.
=> the files; :TIME or :FILES if there can be more, else NIL; and the number of folders that could not be read"
  (let* ((root (sb-ext:native-namestring folder))
         (folders (list root)) (later '()) (files '()) (count 0) (unreadable 0)
         (seen (make-hash-table :test 'equal)))
    (flet ((end (reason) (return-from folder-source-files (values (nreverse files) reason unreadable))))
      (setf (gethash (nth-value 1 (file-identity root)) seen) t)
      (loop
        (unless folders (setf folders (nreverse later) later '()))
        (unless folders (end nil))
        (let* ((outer (pop folders)) (names (readable-entries outer)))
          (when (eq names :unreadable) (incf unreadable) (setf names '()))
          (dolist (name (sort names #'string<))
            (unless (search-time-left-p) (end :time))
            (let ((file (concatenate 'string outer name)))
              (multiple-value-bind (kind identity) (file-identity file)
                (cond ((and (eq kind :folder) (not (gethash identity seen)))
                       (setf (gethash identity seen) t)
                       (push (concatenate 'string file "/") later))
                      ((and (eq kind :file) (source-name-p name))
                       (when (>= count +searched-files-limit+) (end :files))
                       (incf count)
                       (push (sb-ext:parse-native-namestring file) files)))))))))))

(defun named-folder (name)
  "The truename of the folder NAME, or NIL."
  (let ((pathname (or-nil (sb-ext:parse-native-namestring name nil *default-pathname-defaults* :as-directory t))))
    (and pathname (or-nil (probe-file (merge-pathnames pathname (directory-of-image)))))))

(defun searched-files (system folder)
  "=> the files that a search in SYSTEM or FOLDER looks at, or NIL and the reply if there is no such system or folder; why there can be more
files, as FOLDER-SOURCE-FILES says; and the number of folders that could not be read, or NIL"
  (cond (folder
         (let ((truename (named-folder folder)))
           (if (and truename (null (pathname-name truename)))
               (multiple-value-bind (files cut unreadable) (folder-source-files truename)
                 (values (existing-files files) nil cut unreadable))
               (values nil (list :folder-not-found folder)))))
        (system
         (let ((names (family-names (string-downcase system))))
           (if names
               (existing-files (mapcan #'system-files names))
               (values nil (list :system-not-found system (similar-systems (string-downcase system)))))))
        (t (existing-files (loaded-files)))))
