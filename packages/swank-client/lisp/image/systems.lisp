;;;; The files and systems of the program, and which system a definition comes from.

(in-package #:swank-client/image)

;;; The files in which source code is searched: those of a folder, of a system, or of everything that is loaded.

(defparameter *source-types* '("lisp" "lsp" "cl" "l" "asd") "Types of files with Lisp code.")

(defconstant +searched-files-limit+ 5000 "Files that one search looks at.")

(defun source-file-p (pathname)
  "True if PATHNAME has the type of a file with Lisp code."
  (member (pathname-type pathname) *source-types* :test #'equalp))

;;; Systems

(defun system-files (name)
  "The source files of the system NAME, and the file that defines it."
  (let* ((system (or-nil (registered-system name)))
         (definition (and system (or-nil (system-definition-file system)))))
    (append (and definition (list definition))
            (and system (remove-if-not #'source-file-p (component-files system))))))

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
  (let ((home (or-nil (sbcl-homedir-pathname))))
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
               until (null-alien entry)
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
  (multiple-value-bind (found device inode mode) (unix-stat file)
    (values (and found (case (logand mode #o170000) (#o040000 :folder) (#o100000 :file)))
            (list device inode))))

(defun folder-outside (file root)
  "The folder outside of ROOT to which FILE, a native name, leads, or in which the file is to which it leads, if it is a symbolic link."
  (when (= #o120000 (logand #o170000 (or (nth-value 3 (unix-lstat file)) 0)))
    (let* ((target (or-nil (probe-file (sb-ext:parse-native-namestring file))))
           (folder (if target
                       (sb-ext:native-namestring (make-pathname :name nil :type nil :version nil :defaults target))
                       file)))
      (and (not (and target (eql 0 (search root folder)))) folder))))

(defconstant +targets-limit+ 2 "Targets of links that a search names.")

;; A pipe, a device or a socket is no source file, whatever its name. Links can make a folder contain itself, or lead out of it.
(defun folder-source-files (folder)
  "The source files below FOLDER, a truename, those of outer folders first.
=> the files; :TIME or :FILES if there can be more, else NIL; the number of folders that could not be read; and (COUNT (FOLDER ...)) of links
to files and folders elsewhere, which are not followed, with the first folders to which they lead"
  (let* ((root (sb-ext:native-namestring folder))
         (folders (list root)) (later '()) (files '()) (count 0) (unreadable 0) (links 0) (targets '())
         (seen (make-hash-table :test 'equal)))
    (flet ((end (reason) (return-from folder-source-files (values (nreverse files) reason unreadable (list links (reverse targets))))))
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
                (cond ((not (or (eq kind :folder) (and (eq kind :file) (source-name-p name)))))
                      ((let ((target (folder-outside file root)))
                         (when target
                           (incf links)
                           (when (< (length targets) +targets-limit+) (pushnew target targets :test #'string=))
                           t)))
                      ((and (eq kind :folder) (not (gethash identity seen)))
                       (setf (gethash identity seen) t)
                       (push (concatenate 'string file "/") later))
                      ((eq kind :file)
                       (when (>= count +searched-files-limit+) (end :files))
                       (incf count)
                       (push (sb-ext:parse-native-namestring file) files)))))))))))

(defun named-folder (name)
  "The truename of the folder NAME, or NIL."
  (let ((pathname (or-nil (sb-ext:parse-native-namestring name nil *default-pathname-defaults* :as-directory t))))
    (and pathname (or-nil (probe-file (merge-pathnames pathname (directory-of-image)))))))

(defun searched-files (system folder)
  "=> the files that a search in SYSTEM or FOLDER looks at, or NIL and the reply if there is no such system or folder; why there can be more
files, as FOLDER-SOURCE-FILES says; the number of folders that could not be read; and the links that lead elsewhere, or NIL"
  (cond (folder
         (let ((truename (named-folder folder)))
           (if (and truename (null (pathname-name truename)))
               (multiple-value-bind (files cut unreadable outside) (folder-source-files truename)
                 (values (existing-files files) nil cut unreadable outside))
               (values nil (list :folder-not-found folder)))))
        (system
         (let ((names (family-names (string-downcase system))))
           (if names
               (existing-files (mapcan #'system-files names))
               (values nil (list :system-not-found system (similar-systems (string-downcase system)))))))
        (t (existing-files (loaded-files)))))

;;; Which system a definition comes from

(defvar *file-systems* nil "For this request, ((SYSTEM . PATHNAME) ...) of the files of systems, by their names without folders.")

(defun known-file-systems ()
  "The value of *FILE-SYSTEMS* for the systems that ASDF knows. The files are not looked up, which takes longer than all else."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (name (reverse (system-names)) table)
      (dolist (file (or-nil (system-files name)))
        (push (cons name file) (gethash (file-namestring file) table))))))

(defun system-of-file (truename)
  "The name of the first system that has the file TRUENAME, or NIL."
  (let ((namesakes (gethash (file-namestring truename) *file-systems*)))
    (car (or (find truename namesakes :key #'cdr :test #'equal)
             ;; a folder may be a link
             (find truename namesakes :key (lambda (entry) (named-file (cdr entry))) :test #'equal)))))

(defun compiler-free-p ()
  "True if no other thread holds the compiler's lock, or none does a moment later: compiling a form takes some milliseconds."
  (loop repeat 100
        thereis (not (world-lock-taken-p))
        do (sleep 0.01)))

(defmacro with-file-systems ((&optional (knownp (gensym "KNOWN"))) &body body)
  "Run BODY, which asks for the systems of files. KNOWNP is false if no system is found because another thread holds the compiler's lock,
without which ASDF's methods may wait."
  `(let* ((,knownp (compiler-free-p))
          (*file-systems* (if ,knownp (known-file-systems) (make-hash-table :test 'equal))))
     (declare (ignorable ,knownp))
     ,@body))

(defun system-of (definition)
  "The name of the system that DEFINITION comes from, or NIL."
  (let* ((path (path-now definition))
         (truename (and path (or-nil (named-file (pathname path))))))
    (and truename (system-of-file truename))))

(defun foreign-classes (definition)
  "((NAME SYSTEM) ...) of the classes on which the method of DEFINITION specializes that come from another system than it."
  (let ((system (system-of definition)))
    (loop for specializer in (sb-mop:method-specializers (definition-method definition))
          for class-system = (and (typep specializer 'class) (or-nil (system-of (class-definition specializer))))
          when (and class-system (not (equal class-system system)))
            collect (list (name-text (class-name specializer)) class-system))))

;;; Finds the sources of definitions, in files and in evaluated text.

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

(defun physical-pathname (pathname)
  "PATHNAME, or the file that it means if it is a logical pathname, as those of SBCL's own sources, and the file is there."
  (or (and (typep pathname 'logical-pathname) (named-file pathname)) pathname))

(defun file-source (source)
  "(:file FILE POSITION LINE) for SOURCE, a definition source."
  (let* ((path (physical-pathname (sb-introspect:definition-source-pathname source)))
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

(defun described-source (definition)
  "The description of the source of DEFINITION, or NIL."
  (let ((source (definition-record definition)) (plist (definition-plist definition)))
    (cond (plist
           (multiple-value-bind (file position) (recording-faults (with-files () (evaluated-place definition)))
             (if file
                 (list :file (sb-ext:native-namestring (file-truename file)) position (values (position-of (file-text file) position)))
                 (evaluated-source plist))))
          ((and source (sb-introspect:definition-source-pathname source)) (file-source source)))))

(defun source-entry (kind name)
  "The source of NAME as KIND: (:file FILE POSITION LINE), (:evaluation NAME POSITION TEXT) or NIL."
  (or-nil
   (or (described-source (make-definition :kind kind :name name :record (definition-source kind name)))
       ;; a generic function that was created by its first method
       (and (eq kind :generic-function) (some #'described-source (method-definitions name))))))
