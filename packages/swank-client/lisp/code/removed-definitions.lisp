;;;; Definitions of files that this session's forms have removed from the image.

(in-package #:swank-client/code)

(defun names-in (text names)
  "Those of NAMES that occur in TEXT, in any case."
  (remove-if-not (lambda (name) (search name text :test #'char-equal)) names))

(defun named-definitions (text form names)
  "The forms of Lisp's defining operators in FORM of TEXT, itself included, that define one of NAMES, as top-level forms."
  (loop for (start end) in (list-spans text (top-level-form-start form) (top-level-form-end form))
        when (multiple-value-bind (operator head-name) (definition-head text start end)
               (and operator head-name (head-kind operator)
                    (let ((defined (defined-text head-name)))
                      (member (parsed-name (if (setf-text-p defined) (second (element-texts defined)) (string-trim "\"" defined)))
                              names :test #'string=))))
          collect (make-top-level-form :gap start :start start :end end)))

(defun computed-specializer-p (text form)
  "True if FORM of TEXT is a DEFMETHOD with an EQL specializer that has to be evaluated, so that its method is not known."
  (multiple-value-bind (qualifiers lambda-list)
      (method-parts (loop for (from to) in (cddr (element-spans text (top-level-form-start form) (top-level-form-end form) 8))
                          collect (subseq text from to)))
    (declare (ignore qualifiers))
    (loop for specializer in (and lambda-list (lambda-list-specializers lambda-list))
          thereis (and (eql-text specializer)
                       (not (literal-text-p (second (element-texts specializer))))))))

(defun literal-text-p (text)
  "True if TEXT is a form that need not be evaluated: a keyword, a number, a quoted form, a string or a character."
  (or (find (char text 0) "':\"#")
      (digit-char-p (char text (if (and (rest (coerce text 'list)) (find (char text 0) "+-.")) 1 0)))
      (member text '("T" "NIL") :test #'string-equal)))

(defun valueless-p (definition text form)
  "True if DEFINITION is of a variable without a value, and FORM of TEXT gives it one."
  (and (member (definition-kind definition) '(:variable :constant))
       (not (boundp (definition-name definition)))
       (third (element-spans text (top-level-form-start form) (top-level-form-end form) 3))))

(defun gone-p (change text form package)
  "True if what FORM of TEXT, read in PACKAGE, defines is not in the image. CHANGE is about FORM."
  (let ((definition (change-definition change)))
    (cond ((null package) nil)
          ((eq :package (change-kind change)) nil)
          (definition (valueless-p definition text form))
          ((eq :method (change-kind change))
           (multiple-value-bind (symbol setf-p) (head-symbol (nth-value 1 (definition-head text (top-level-form-start form)
                                                                                           (top-level-form-end form)))
                                                             package)
             (not (and (computed-specializer-p text form) (fboundp (if setf-p (list 'setf symbol) symbol))))))
          (t t))))

(defun gone-from (file names)
  "The changes, :FILE-ONLY, of the forms in FILE that define one of NAMES, which the image does not have."
  (let* ((text (file-text file)) (forms (file-forms file)) (names (names-in text names)))
    (when names
      (loop for form in forms
            for number from 0
            for some = (names-in (form-text text form) names)
            for package = (and some (package-at text forms number (file-initial-package file)))
            append (loop for inner in (and some (named-definitions text form some))
                         for change = (form-change :file-only text inner number package
                                                   :file file :position (top-level-form-start inner) :file-text (form-text text inner))
                         when (gone-p change text inner package) collect change)))))

(defun removed-changes (truename program)
  "The changes that this session's forms have made by removing definitions of the file TRUENAME, by default of all files of PROGRAM."
  (let ((names (ledger-removed (session-ledger (current-session)))))
    (when names
      (loop for name in (if truename (list (sb-ext:native-namestring truename)) (program-files program))
            for file = (file-now name)
            when (and file (program-file-p file)) append (or-nil (gone-from file names))))))

(defun about-same-form-p (change other)
  "True if CHANGE and OTHER are about the same top-level form of a file."
  (and (eq (change-file change) (change-file other))
       (eql (change-number change) (change-number other))))

(defun with-removed (in-files removed states)
  "IN-FILES, changes of files, and REMOVED. A form that was never loaded is no removed one, but a guess that it is new gives way. STATES: (FILE
STATE) of the files."
  (flet ((guessed-p (change) (eq :guessed (second (assoc (change-file change) states)))))
    (let ((kept (remove-if (lambda (change)
                             (and (not (guessed-p change))
                                  (find-if (lambda (other) (and (eq :new (change-state other)) (about-same-form-p change other))) in-files)))
                           removed)))
      (append (remove-if (lambda (change)
                           (and (eq :new (change-state change)) (guessed-p change)
                                (find-if (lambda (other) (about-same-form-p change other)) kept)))
                         in-files)
              kept))))
