;;;; Finds the definitions that use a name.

(in-package #:swank-client/code)

(defconstant +uses-limit+ 10 "Lines in one definition that are listed.")

(defconstant +names-limit+ 30 "Definitions of Lisp itself that are named.")

;;; Order

(defun record-path (definition)
  "The native name of the file of DEFINITION, or NIL."
  (let* ((record (definition-record definition))
         (pathname (and record (sb-introspect:definition-source-pathname record))))
    (and pathname (namestring pathname))))

(defun evaluation-of (definition)
  "The name of the evaluation or of the editor's buffer that DEFINITION came from, or NIL."
  (let ((record (definition-record definition)))
    (and record (getf (sb-introspect:definition-source-plist record) :emacs-buffer))))

(defun place-key (definition)
  "A list by which definitions are sorted: files below the image's directory, other files, evaluations; then by position."
  (let ((path (record-path definition)))
    (list (cond ((or (null path) (evaluation-of definition)) 2)
                ((below-p path) 0)
                (t 1))
          (or path "")
          (or (and path (form-number-of definition)) 0)
          (or (evaluation-of definition) "")
          ;; versions of SBCL list the methods of a form in different orders
          (if (definition-method definition) (princ-to-string (definition-name definition)) ""))))

(defun enclosing-form-key (definition)
  "What identifies the top-level form of DEFINITION."
  (list (record-path definition) (evaluation-of definition) (form-number-of definition)))

(defun definition-key (definition)
  "What identifies DEFINITION. Code without a name is identified by its top-level form."
  (if (eq (definition-kind definition) :code)
      (let ((form (enclosing-form-key definition)))
        ;; pieces of code without a place have only their names
        (if (some #'identity form) form (list (definition-name definition))))
      (list (definition-name definition) (definition-method definition) (record-path definition) (evaluation-of definition))))

(defun each-once (definitions)
  "DEFINITIONS, each once, without code that is inside of the form of another one. Code that uses a name twice is recorded twice."
  (let ((seen (make-hash-table :test 'equal)) (forms (make-hash-table :test 'equal)))
    (dolist (definition definitions)
      (unless (eq (definition-kind definition) :code) (setf (gethash (enclosing-form-key definition) forms) t)))
    (loop for definition in definitions
          for key = (definition-key definition)
          unless (or (gethash key seen) (gethash key forms))
            collect definition
            and do (setf (gethash key seen) t))))

(defun by-place (definitions)
  "DEFINITIONS in the order of their places."
  (mapcar #'rest (stable-sort (loop for definition in definitions collect (cons (place-key definition) definition))
                              #'nearer-p :key #'first)))

(defun symbol-of-code (name)
  "The symbol in NAME, that of code. Local functions, whose code newer SBCLs record on its own, have that of the function around them."
  (typecase name
    (symbol name)
    ((cons (eql setf)) (symbol-of-code (second name)))
    (cons (symbol-of-code (second (member :in name))))))

(defun specializer-package (specializer)
  "The package of the name of SPECIALIZER, a class, or NIL."
  (let ((name (and (typep specializer 'class) (class-name specializer))))
    (and name (symbolp name) (symbol-package name))))

(defun this-librarys-p (definition)
  "True if DEFINITION is this library's, of any version in the image."
  (let ((name (symbol-of-code (definition-name definition))))
    (some (lambda (package) (and package (runtime-package-p package)))
          (cons (and name (symbol-package name))
                (and (definition-method definition)
                     (mapcar #'specializer-package (sb-mop:method-specializers (definition-method definition))))))))

(defun lisps-own-p (definition)
  "True if DEFINITION is SBCL's or Swank's."
  (let ((path (record-path definition))
        (name (symbol-of-code (definition-name definition))))
    (or (and path (eql 0 (search "SYS:" path)))
        (let ((package (and name (symbol-package name))))
          (and package (package-name package) (implementation-package-p package) (not (added-method-p definition))))
        (and (null (definition-record definition)) (definition-method definition)
             (every #'own-specializer-p (sb-mop:method-specializers (definition-method definition)))))))

(defun added-method-p (definition)
  "True if DEFINITION is of a method that the program has added to a function of SBCL or Swank, for a class of its own."
  (let ((method (definition-method definition)))
    (and method
         (find-if (lambda (specializer)
                    (let ((package (specializer-package specializer)))
                      (and package (program-package-p package))))
                  (sb-mop:method-specializers method)))))

(defun own-specializer-p (specializer)
  "True if SPECIALIZER is a class of SBCL or of Common Lisp."
  (let ((package (specializer-package specializer)))
    (and package (package-name package)
         (or (eq package (find-package "COMMON-LISP")) (implementation-package-p package)))))

;;; Entries

(defun code-entry (definition)
  "Describe DEFINITION, code without a name."
  (let* ((record (definition-record definition))
         (pathname (and record (sb-introspect:definition-source-pathname record)))
         (file (and pathname (file-now pathname)))
         (source (and file (loaded-source pathname)))
         (number (form-number-of definition))
         (form (and number source (= (code-created source) (file-date file)) (nth number (file-forms file)))))
    (cond ((and record (stringp (getf (sb-introspect:definition-source-plist record) :emacs-string)))
           (evaluated-entry definition (sb-introspect:definition-source-plist record)))
          (form (apply #'entry definition :loaded
                       :text (subseq (file-text file) (top-level-form-start form) (top-level-form-end form))
                       (place-facts file (top-level-form-start form))))
          (t (entry definition :unrecorded :file (and pathname (record-path definition)))))))

(defun use-lines (text line name)
  "The lines after LINE, the first one of TEXT, that have the name NAME."
  (let ((lines (remove-duplicates (loop for position in (token-positions text name)
                                        collect (+ line (count #\Newline text :end position))))))
    (subseq (remove line lines) 0 (min +uses-limit+ (count line lines :test #'/=)))))

(defun reference-entry (definition used)
  "The plist that describes DEFINITION: that of DEFINITION-ENTRY, with the first line of its form as :HEAD instead of the :TEXT, and as :USES
the further lines that have the name USED, unless that is NIL."
  (let* ((*room* most-positive-fixnum)
         (entry (or (and (eq (definition-kind definition) :code) (or-nil (code-entry definition)))
                    (sound-entry definition)))
         (text (getf entry :text))
         (line (getf entry :line)))
    (remf entry :text)
    (list* :head (and text (definition-line text 0))
           :uses (and used text line (not (member (getf entry :state) '(:recorded :as-loaded))) (use-lines text line used))
           entry)))

(defun count-files (definitions)
  "The number of files that DEFINITIONS are in."
  (length (remove-duplicates (loop for definition in definitions
                                   for path = (and (null (evaluation-of definition)) (record-path definition))
                                   when path collect path)
                             :test #'string=)))

(defun split-by-owner (definitions)
  "=> those of DEFINITIONS that are the program's, and those that are Lisp's own"
  (loop for definition in definitions
        if (lisps-own-p definition) collect definition into own
        else collect definition into programs
        finally (return (values programs own))))

(defun page-entries (definitions used)
  "The entries of DEFINITIONS, which use the name USED if it is not NIL."
  (with-files ()
    (with-printing-time
      (loop for definition in definitions collect (reference-entry definition used)))))

(defun own-names (definitions)
  "The names of some of DEFINITIONS, Lisp's own, without those of the compiler's tables."
  (loop for definition in definitions
        for name = (definition-name definition)
        when (or (symbolp name) (definition-method definition))
          collect (definition-text definition) into names
          and count t into count
        until (eql count +names-limit+)
        finally (return names)))

(defun references (kind name start limit)
  "The part after the name of the reply of FIND-REFERENCES."
  (multiple-value-bind (programs own) (split-by-owner (remove-if #'this-librarys-p (each-once (or-nil (referring kind name)))))
    (let ((sorted (by-place programs)) (count (length programs)))
      (list (page-entries (subseq sorted (min start count) (min (+ start limit) count))
                          (and (member kind *kinds-by-name*) (symbol-name (if (consp name) (second name) name))))
            count
            (count-files sorted)
            (length own)
            (own-names own)
            (and (null programs) (null own) (reasons kind name))))))

(defun find-references (text package-text kind start limit)
  "The definitions that refer to the name TEXT, NAME or (setf NAME), as KIND says, from index START, at most LIMIT.
=> (:found NAME (ENTRY ...) COUNT FILES COUNT-OF-LISPS-OWN (OWN-NAME ...) (REASON ...)) | the replies of CALL-WITH-NAMED"
  (with-code-session (package-text)
    (call-with-named text
                     (lambda (symbol status package)
                       (declare (ignore status package))
                       (let ((name (if (setf-text-p (trimmed text)) (list 'setf symbol) symbol)))
                         (list* :found (name-text name) (references kind name start limit)))))))
