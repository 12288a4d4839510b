;;;; Lists the differences between the image and the files of the program.

(in-package #:swank-client/code)

(defconstant +changes-limit+ 500 "Changes that are listed.")

;;; Files of definitions that were evaluated

(defun definitions-by-file (definitions)
  "Those of DEFINITIONS that were loaded from files, by the native name of the file."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (definition definitions table)
      (let ((name (definition-file-name definition)))
        (when name (push definition (gethash name table)))))))

(defun known-files (by-file)
  "The native names of all files that the program was loaded from and that exist. BY-FILE has those of live definitions."
  (mapcar #'sb-ext:native-namestring
          (existing-files (append (loop for name being the hash-keys of by-file
                                        unless (eql 0 (search "SYS:" name)) collect (sb-ext:parse-native-namestring name))
                                  (mapcar #'sb-ext:parse-native-namestring (loaded-text-files))
                                  (loaded-files)))))

(defstruct program
  "The program in the image: its definitions, those of each file by native name, and the native names of its files."
  definitions by-file files)

(defun the-program ()
  "The program as it is now."
  (let* ((definitions (definitions-of-program))
         (by-file (definitions-by-file definitions)))
    (make-program :definitions definitions :by-file by-file :files (known-files by-file))))

(defun home-candidates (package program)
  "The native names of files that may define names of PACKAGE: those that do so now, and those of which no definition is alive."
  (loop for name in (program-files program)
        for definitions = (gethash name (program-by-file program))
        when (or (null definitions)
                 (find package definitions :key #'definition-home))
          collect name))

(defun defined-in (definition names package)
  "=> the first file of NAMES that has a form of DEFINITION in PACKAGE, the span of the form and the number of its top-level form; or NIL"
  (dolist (name names)
    (let ((file (file-now name)))
      (when (and file (member (package-name package) (file-packages file) :test #'string=))
        (multiple-value-bind (span number) (named-span definition file nil)
          (when span (return (values file span number))))))))

(defun evaluated-change (definition program)
  "The change that DEFINITION, which was evaluated from text, is to its file; NIL if the file has the same text."
  (let* ((text (or-nil (own-form definition)))
         (package (definition-home definition))
         (editor-file (getf (definition-plist definition) :emacs-filename)))
    (when (and text package)
      (multiple-value-bind (file span number)
          (defined-in definition (append (and (stringp editor-file) (list editor-file)) (home-candidates package program)) package)
        (let ((file-text (and file (subseq (file-text file) (first span) (second span)))))
          (unless (and file (string= (trimmed-end text) (trimmed-end file-text)))
            (make-change :state (if file :differs :image-only) :kind (definition-kind definition)
                         :name (definition-text definition) :definition definition
                         :file file :position (and span (first span)) :number number :text text :file-text file-text)))))))

(defun trimmed-end (text)
  "TEXT without white space at its ends of lines."
  (string-trim '(#\Space #\Newline #\Return #\Tab) (remove #\Return text)))

(defun unrecorded-change (definition)
  "The change that DEFINITION is if Lisp has not recorded where it came from, as at the prompt of the REPL; or NIL."
  (when (and (member (definition-kind definition) '(:function :macro))
             (not (typep (or-nil (fdefinition (definition-name definition))) 'generic-function))
             (or (null (definition-record definition))
                 (null (sb-introspect:definition-source-pathname (definition-record definition)))))
    (make-change :state :image-only :kind (definition-kind definition) :name (definition-text definition)
                 :definition definition :text (lambda-text definition))))

(defun image-changes (program)
  "The changes that evaluated definitions of PROGRAM are to their files."
  (loop for definition in (program-definitions program)
        for change = (or-nil (if (definition-plist definition)
                                 (evaluated-change definition program)
                                 (unrecorded-change definition)))
        when change collect change))

;;; All changes

(defun same-text-evaluated-p (change)
  "True if the form of CHANGE has been evaluated since it was changed in the file, as an editor does."
  (let* ((definition (change-definition change))
         (text (and definition (definition-plist definition) (or-nil (own-form definition)))))
    (and text (change-file-text change)
         (string= (trimmed-end text) (trimmed-end (change-file-text change))))))

(defun replaced-p (change)
  "True if the definition of CHANGE, which its file no longer has, came from elsewhere since."
  (let* ((definition (change-definition change))
         (name (definition-file-name definition)))
    (or (definition-plist definition)
        (and name (not (equal name (sb-ext:native-namestring (file-truename (change-file change)))))))))

(defun shown-changes (changes)
  "CHANGES without those that later evaluations or files have undone."
  (remove-if (lambda (change)
               (case (change-state change)
                 ((:changed :new :maybe-changed) (same-text-evaluated-p change))
                 (:deleted (replaced-p change))))
             changes))

(defun unchanged-date-p (name)
  "True if the file NAME has the date that it had when its code was compiled, and no text is kept of it."
  (let ((code (gethash name (code-sources))))
    (and code
         (null (loaded-octets (named-file name)))
         (eql (code-created code) (or-nil (file-write-date (named-file name)))))))

(defun wanted-files (truename program)
  "The files to compare, as they are now: TRUENAME or, if that is NIL, all of PROGRAM that can have changed."
  (loop for name in (if truename (list (sb-ext:native-namestring truename)) (program-files program))
        for file = (and (or truename (not (unchanged-date-p name))) (file-now name))
        when file collect file))

(defun undated-p (file)
  "True if it is not recorded when FILE was loaded."
  (and (null (loaded-source (file-truename file)))
       (null (loaded-octets (file-truename file)))))

(defun definitions-from (file program)
  "The definitions of PROGRAM that were loaded from FILE."
  (gethash (sb-ext:native-namestring (file-truename file)) (program-by-file program)))

(defun listed-changes (file program)
  "=> the changes in FILE that are still to be loaded, and how it was compared: :COMPARED, :GUESSED, :UNDATED, or NIL if it has not changed"
  (if (undated-p file)
      (values '() :undated)
      (multiple-value-bind (changes known) (file-changes file (definitions-from file program))
        (values (shown-changes changes) (and changes (if known :compared :guessed))))))

(defun of-file-p (change truename)
  "True if CHANGE is in the file TRUENAME, or TRUENAME is NIL."
  (or (null truename)
      (and (change-file change) (equal truename (file-truename (change-file change))))))

(defun twice-p (change in-image)
  "True if the form of CHANGE differs from the image's by one of IN-IMAGE, too: it is listed once, with the image's text."
  (find-if (lambda (other)
             (and (eq :differs (change-state other))
                  (eq (change-file other) (change-file change))
                  (eql (change-number other) (change-number change))))
           in-image))

(defun in-order (changes)
  "CHANGES by file and position, those in no file last and by name."
  (flet ((place (change)
           (let ((file (change-file change)))
             (if file (sb-ext:native-namestring (file-truename file)) (string (code-char #x10ffff))))))
    (sort changes (lambda (one other)
                    (let ((a (place one)) (b (place other))
                          (p (or (change-position one) -1)) (q (or (change-position other) -1)))
                      (cond ((string/= a b) (and (string< a b) t))
                            ((/= p q) (< p q))
                            (t (and (string< (change-name one) (change-name other)) t))))))))

(defun all-changes (truename)
  "=> the changes of the image and of the file TRUENAME, by default of all files; and (FILE STATE) of each file that was compared"
  (let* ((program (the-program))
         (in-image (image-changes program))
         (states '())
         (in-files (loop for file in (wanted-files truename program)
                         append (multiple-value-bind (changes state) (listed-changes file program)
                                  (when state (push (list file state) states))
                                  changes))))
    (values (in-order (append (remove-if-not (lambda (change) (of-file-p change truename)) in-image)
                              (remove-if (lambda (change) (twice-p change in-image)) in-files)))
            (nreverse states))))

(defun change-entry (change)
  "The plist that describes CHANGE."
  (list* :state (change-state change)
         :kind (change-kind change)
         :name (change-name change)
         :text (bounded (change-text change))
         :file-text (bounded (change-file-text change))
         :from-client (and (change-definition change) (own-definition-p (change-definition change)))
         (cond ((null (change-file change)) '())
               ((change-position change) (place-facts (change-file change) (change-position change)))
               (t (list :file (shown-file (file-truename (change-file change))))))))

(defun own-definition-p (definition)
  "True if this session evaluated DEFINITION."
  (let ((plist (definition-plist definition)))
    (and plist (own-origin-p (session-ledger (current-session)) (getf plist :evaluation)) t)))

(defun assigned-entries ()
  "((NAME VALUE) ...) of the global variables that this session has assigned, oldest first."
  (loop for symbol in (reverse (ledger-assigned (session-ledger (current-session))))
        when (boundp symbol) collect (list (name-text symbol) (line-text-in-time (symbol-value symbol) 100))))

(defmacro with-wanted-file ((truename name) &body body)
  "Run BODY with TRUENAME bound to that of the file NAME, NIL if NAME is NIL. => its value | (:file-not-found NAME (FILE ...))"
  `(let ((,truename (and ,name (or-nil (named-file ,name)))))
     (if (and ,name (not (and ,truename (pathname-name ,truename))))
         (list :file-not-found ,name (similar-files ,name))
         (progn ,@body))))

(defun list-changes (name)
  "The differences between the image and the file NAME, or all files and what no file has.
=> (:changes (ENTRY ...) LEFT-OUT ((FILE STATE) ...) ((VARIABLE VALUE) ...)) | (:file-not-found NAME (FILE ...))"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename name)
        (multiple-value-bind (changes states) (all-changes truename)
          (let ((*room* +texts-limit+))
            (with-printing-time
              (list :changes
                    (loop for change in changes repeat +changes-limit+ collect (change-entry change))
                    (max 0 (- (length changes) +changes-limit+))
                    (loop for (file state) in states collect (list (shown-file (file-truename file)) state))
                    (unless name (assigned-entries))))))))))
