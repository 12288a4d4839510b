;;;; Definitions of files that the image had when it loaded the file, and does not have now. The text that was loaded is compared with the
;;;; image, so it does not matter what has removed them. Where the text, or what its form defines, is not known, nothing is said.

(in-package #:swank-client/code)

(defstruct (expectation (:conc-name expected-) (:copier nil))
  "A definition that the image must have because the form NUMBER of a file made it. NAME: as it is written there. SPECIALIZED: the lists of
the qualifiers and of the specializers of a method."
  kind name package number
  (specialized '()))

(defparameter *removers* '("makunbound" "unintern" "remove-method" "find-class" "delete-package")
  "Parts of the names of functions that remove definitions. What a file removes itself is not known.")

(defun plain-text-p (text)
  "True if TEXT, the name in a defining form, can be compared with names: nothing in it is evaluated or escaped."
  (notany (lambda (char) (find char "#,`'@|\\\"")) text))

(defun lisps-operator-p (operator package)
  "True if OPERATOR, the text of a defining operator, means that of Lisp in PACKAGE, not one of the program with the same name."
  (let ((symbol (or-nil (head-symbol operator package))))
    (and symbol (defining-kind symbol) t)))

(defun known-specializer-p (text)
  "True if TEXT, a specializer of a method, can be compared with those of methods: it is a name, or EQL of a literal."
  (if (char= #\( (char text 0))
      (let ((object (second (element-texts text))))
        (and object (eql-text text) (find (char object 0) "':-+0123456789") t))
      (plain-text-p text)))

(defun specialized (text form)
  "The qualifiers and specializers of the DEFMETHOD in FORM of TEXT, as lists of texts in a list; or NIL if they cannot be compared."
  (multiple-value-bind (qualifiers lambda-list)
      (method-parts (loop for (from to) in (cddr (element-spans text (top-level-form-start form) (top-level-form-end form) 8))
                          collect (subseq text from to)))
    (let ((specializers (and lambda-list (lambda-list-specializers lambda-list))))
      (and lambda-list (every #'known-specializer-p specializers) (list qualifiers specializers)))))

(defun expectation-of (text form number package)
  "The expectation of FORM, the form NUMBER of TEXT, read in PACKAGE; or NIL if what it defines is not known."
  (multiple-value-bind (operator name-text) (definition-head text (top-level-form-start form) (top-level-form-end form))
    (let ((kind (and operator name-text package (head-kind operator))))
      (when (and (member kind '(:function :macro :generic-function :variable :constant :class :structure :condition :method))
                 (plain-text-p (defined-text name-text))
                 (lisps-operator-p operator package)
                 (case kind
                   ;; a variable without a value is not bound, and a structure with a type has no class
                   ((:variable :constant) (third (element-spans text (top-level-form-start form) (top-level-form-end form) 3)))
                   (:structure (not (search ":type" name-text :test #'char-equal)))
                   (:method (specialized text form))
                   (t t)))
        (make-expectation :kind kind :name name-text :package (package-name package) :number number
                          :specialized (and (eq kind :method) (specialized text form)))))))

(defun file-expectations (file loaded)
  "The expectations of the forms of FILE that LOADED, its text when it was loaded, has, too."
  (let ((text (file-text file)) (forms (file-forms file)))
    (unless (or (mentions-readtable-p (file-analysis file))
                (some (lambda (remover) (search remover text :test #'char-equal)) *removers*))
      (loop with changed = (and (string/= loaded text) (mapcar #'second (unmatched text forms loaded (top-level-forms loaded))))
            for (nil . name) in (texts-with-packages text forms)
            for form in forms
            for number from 0
            for package = (if name (or-nil (find-package name)) (file-initial-package file))
            for expectation = (and package (not (member number changed)) (or-nil (expectation-of text form number package)))
            when expectation collect expectation))))

(defvar *expectations* (make-hash-table :test 'equal :synchronized t)
  "(OCTETS . EXPECTATIONS) of files with the text OCTETS, which was loaded, by native name. Finding them takes longer than comparing them.")

(defun expectations (name)
  "The expectations of the file NAME, if clients' code has loaded it to its end and not all of that is unknown."
  (let ((truename (named-file name)))
    (when (and truename (text-loaded-p truename) (not (load-unfinished-p truename)))
      (let ((octets (loaded-octets truename)))
        (destructuring-bind (&optional known . expectations) (gethash name *expectations*)
          (if (and (eq octets known) (unchanged-text-p truename))
              expectations
              (let* ((file (file-now name))
                     (loaded (and file (file-whole-p file) (program-file-p file) (text-as-loaded file))))
                (when loaded
                  (let ((found (file-expectations file loaded)))
                    (when (string= loaded (file-text file))
                      (note-unchanged-text file)
                      (setf (gethash name *expectations*) (cons octets found)))
                    found)))))))))

(defun missing-p (expectation)
  "True if the image certainly does not have what EXPECTATION names."
  (let ((package (find-package (expected-package expectation))))
    (when package
      (multiple-value-bind (symbol setf-p) (head-symbol (expected-name expectation) package)
        (let ((name (if setf-p (list 'setf symbol) symbol)))
          (or (null symbol)
              (ecase (expected-kind expectation)
                ((:function :macro :generic-function) (not (fboundp name)))
                ((:variable :constant) (not (boundp symbol)))
                ((:class :structure :condition) (null (find-class symbol nil)))
                (:method (not (and (fboundp name) (method-present-p name expectation)))))))))))

(defun method-present-p (name expectation)
  "True if a method of NAME has the qualifiers and specializers of EXPECTATION."
  (destructuring-bind (qualifiers specializers) (expected-specialized expectation)
    (some (lambda (method) (and (qualifiers-match-p qualifiers method) (specializers-match-p specializers method)))
          (methods-of name))))

(defun removal (file expectation)
  "The change, :FILE-ONLY, that EXPECTATION of FILE is missing."
  (let ((form (nth (expected-number expectation) (file-forms file))))
    (form-change :file-only (file-text file) form (expected-number expectation) (find-package (expected-package expectation))
                 :file file :position (top-level-form-start form) :file-text (form-text (file-text file) form))))

(defun removed-changes (truename program)
  "The changes of definitions of the file TRUENAME, by default of all files of PROGRAM, that the image had and does not have now."
  (loop for name in (if truename (list (sb-ext:native-namestring truename)) (program-files program))
        for missing = (or-nil (remove-if-not #'missing-p (expectations name)))
        for file = (and missing (file-now name))
        when file append (loop for expectation in missing collect (removal file expectation))))
