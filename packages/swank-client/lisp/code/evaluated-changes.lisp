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

(defun has-package-p (file package)
  "True if FILE may have forms in PACKAGE."
  (or (null package)
      ;; the file may use a nickname
      (member package (or (file-packages file) '("COMMON-LISP-USER")) :key (lambda (name) (or-nil (find-package name))))))

(defun defined-in (definition names package &optional number)
  "=> the first file of NAMES that has a form of DEFINITION in PACKAGE or, if that is NIL, in any package, the span of the form, and the number
of its top-level form, of several that nearest to NUMBER; or NIL"
  (dolist (name names)
    (let ((file (file-now name)))
      (when (and file (has-package-p file package))
        (multiple-value-bind (span number) (named-span definition file number)
          (when span (return (values file span number))))))))

(defun place-replaced (definition)
  "The place in a file of what DEFINITION, which was evaluated, has replaced, as this library's sessions have noted it; or NIL."
  (let ((name (definition-name definition)) (method (definition-method definition)))
    (replaced-place (definition-kind definition) (if method (method-name name method) name))))

(defun place-in-program (definition program package)
  "The values of DEFINED-IN for DEFINITION, which was evaluated: in the file of the editor that sent it, in the one that it was loaded from
before, in another one of PROGRAM with forms in PACKAGE, or in one that definitions were saved to and that need not have been loaded."
  (let* ((plist (definition-plist definition))
         (editor-file (getf plist :emacs-filename))
         (place (place-replaced definition)))
    (flet ((look (names package &optional number)
             (multiple-value-bind (file span number) (defined-in definition names package number)
               (when file (return-from place-in-program (values file span number))))))
      (when (stringp editor-file) (look (list editor-file) package))
      (when place (look (list (place-file place)) nil (place-number place)))
      (look (saved-files (getf plist :emacs-buffer)) package)
      (look (home-candidates package program) package)
      (look (files-saved-to) package))))

(defun evaluated-change (definition program)
  "The change that DEFINITION, which was evaluated from text, is to its file; NIL if the file has the same text."
  (let ((text (or-nil (own-form definition)))
        (package (definition-home definition)))
    (when (and text package)
      (multiple-value-bind (file span number) (place-in-program definition program package)
        (multiple-value-bind (text span) (if file (with-closure definition text span file number) (values text span))
          (let ((file-text (and file (subseq (file-text file) (first span) (second span)))))
            (unless (and file (string= (trimmed-end text) (trimmed-end file-text)))
              (make-change :state (if file :differs :image-only) :kind (definition-kind definition)
                           :name (definition-text definition) :definition definition
                           :file file :position (and span (first span)) :number number :text text :file-text file-text))))))))

(defparameter *transparent-operators* '("PROGN" "EVAL-WHEN" "LOCALLY")
  "Operators of top-level forms whose inner definitions do not depend on what is around them.")

(defun form-operator (text)
  "The name of the operator of the form TEXT, or NIL."
  (let ((operator (definition-head text 0 (length text))))
    (and operator (operator-name operator))))

(defun with-closure (definition text span file number)
  "=> the text and the span in FILE to compare for DEFINITION, whose own forms are TEXT and SPAN: those of the top-level forms around them if
both are inside of the same operator, such as LET"
  (let* ((whole (form-of-plist (definition-plist definition) (form-number-of definition)))
         (top (span (nth number (file-forms file))))
         (operator (form-operator whole)))
    (if (and operator
             (string/= whole text)
             (not (equal span top))
             (not (member operator *transparent-operators* :test #'string=))
             (equal operator (form-operator (subseq (file-text file) (first top) (second top)))))
        (values whole top)
        (values text span))))

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

(defun evaluated-package (definition)
  "The package in which the text of DEFINITION was evaluated, or NIL if it is not known."
  (let* ((plist (definition-plist definition))
         (name (or (getf plist :package) (getf plist :emacs-package)))
         (text (getf plist :emacs-string)))
    (and (stringp name)
         (package-at text (top-level-forms text) (form-number-of definition)
                     (or-nil (find-package (parsed-package (string-trim "\"" name))))))))

(defun valueless-p (definition)
  "True if DEFINITION is of a variable that has lost the value which its form gave it."
  (let ((text (and (member (definition-kind definition) '(:variable :constant))
                   (not (boundp (definition-name definition)))
                   (or-nil (own-form definition)))))
    (and text (third (element-spans text 0 (length text) 3)))))

(defun made-at-run-time-p (definition)
  "True if DEFINITION is of a class that a function has made while an evaluated form ran, and the text of the form does not name it."
  (when (eq :class (definition-kind definition))
    (let* ((text (getf (definition-plist definition) :emacs-string))
           (operator (or-nil (definition-head text 0 (length text))))
           (symbol (and operator (or-nil (head-symbol operator (or (evaluated-package definition) *package*))))))
      (and (not (and symbol (macro-function symbol)))
           (null (token-positions text (symbol-name (definition-name definition))))))))

(defun image-changes (program)
  "The changes that evaluated definitions of PROGRAM are to their files."
  (loop for definition in (program-definitions program)
        for change = (or-nil (cond ((null (definition-plist definition)) (unrecorded-change definition))
                                   ((not (or (valueless-p definition) (made-at-run-time-p definition)))
                                    (evaluated-change definition program))))
        when change collect change into changes
        finally (return (delete-duplicates (sort changes #'string< :key #'change-name) :test #'same-closure-p :from-end t))))

(defun same-closure-p (change other)
  "True if CHANGE and OTHER are definitions in the same form, which is one change."
  (and (change-file change)
       (eq (change-file change) (change-file other))
       (eql (change-position change) (change-position other))
       (equal (change-text change) (change-text other))))
