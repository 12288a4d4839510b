;;;; Compares definitions that were evaluated with the files of the program.

(in-package #:swank-client/code)

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
      (when (and file (member (package-name package) (or (file-packages file) '("COMMON-LISP-USER")) :test #'string=))
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
