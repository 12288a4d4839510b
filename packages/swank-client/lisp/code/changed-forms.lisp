;;;; Compares the forms of a file with those that were loaded from it.

(in-package #:swank-client/code)

(defstruct change
  "A difference between the image and its files. STATE says which; KIND and NAME are of the definition that differs, if it is one."
  state
  (kind nil)
  (name nil)
  (definition nil)
  (file nil)
  ;; the position in FILE, and the number of the top-level form
  (position nil)
  (number nil)
  ;; the texts in the image and in the file, as far as they are known
  (text nil)
  (file-text nil))

;;; Definitions that forms make

(defun own-operator-p (name-text package)
  "True if NAME-TEXT is a macro of the program in PACKAGE, which may define something."
  (let ((symbol (or-nil (head-symbol name-text package))))
    (and symbol (symbol-package symbol) (program-package-p (symbol-package symbol)) (macro-function symbol) t)))

(defun head-symbol (name-text package)
  "=> the symbol that NAME-TEXT of a defining form means in PACKAGE, if there is one, and whether the name is (SETF SYMBOL)"
  (let ((text (defined-text name-text)))
    (multiple-value-bind (name prefix) (parsed-name (string-trim "\"" text))
      (let ((home (if prefix (package-known-in package prefix) package)))
        (multiple-value-bind (symbol status) (and home (or-nil (accessible-symbol name home)))
          (and status (values symbol (and (setf-text-p text) t))))))))

(defun definition-of-form (text start end package)
  "The definition in the image that the form between START and END of TEXT makes, or NIL."
  (multiple-value-bind (operator name-text) (definition-head text start end)
    (when (and operator name-text package (not (eq :setf (head-kind operator))))
      (multiple-value-bind (symbol setf-p) (or-nil (head-symbol name-text package))
        (when symbol
          (let ((all (or-nil (all-definitions symbol setf-p))))
            (flet ((found (answer)
                     (find answer all :key (lambda (definition) (or-nil (defines-p definition text start end))))))
              (or (found t) (and (own-operator-p operator package) (found :maybe))))))))))

(defun form-change (state text form number package &rest facts)
  "A change in STATE of FORM, the form NUMBER of TEXT, read in PACKAGE."
  (let ((start (top-level-form-start form)) (end (top-level-form-end form)))
    (multiple-value-bind (operator name-text) (definition-head text start end)
      (let* ((definition (definition-of-form text start end package))
             (kind (if definition (definition-kind definition) (and operator (head-kind operator)))))
        (apply #'make-change
               :state state :number number :definition definition :kind (if (eq kind :setf) nil kind)
               :name (cond (definition (definition-text definition))
                           ((and kind name-text (not (eq kind :setf))) (on-one-line (defined-text name-text)))
                           (t (on-one-line (definition-line text start))))
               facts)))))

;;; With the text that was loaded

(defun decoded (octets format)
  "The text of OCTETS in FORMAT, or in Latin-1."
  (or (or-nil (sb-ext:octets-to-string octets :external-format format))
      (sb-ext:octets-to-string octets :external-format :latin-1)))

(defun text-as-loaded (file)
  "The text of FILE as it was loaded, or NIL if that is not known."
  (let ((code (loaded-source (file-truename file))))
    (multiple-value-bind (octets date) (loaded-octets (file-truename file))
      (cond ((and octets (or (null code) (<= (code-created code) date))) (decoded octets (file-format file)))
            ((and code (= (code-created code) (file-date file)))
             (note-text (file-truename file))
             (file-text file))))))

(defun form-key (text form)
  "What tells the definition that FORM of TEXT makes from those of other forms, as a list of texts; NIL if FORM is no list."
  (let ((start (top-level-form-start form)) (end (top-level-form-end form)))
    (multiple-value-bind (operator name) (definition-head text start end)
      (when (and operator name)
        (list* (operator-name operator) (parsed-name (defined-text name)) (and (setf-text-p name) t)
               (when (eq :method (head-kind operator))
                 (multiple-value-bind (qualifiers lambda-list)
                     (method-parts (loop for (from to) in (cddr (element-spans text start end 8)) collect (subseq text from to)))
                   (append qualifiers (and lambda-list (lambda-list-specializers lambda-list))))))))))

(defun form-text (text form)
  "The text of FORM in TEXT, without the comments before it."
  (subseq text (top-level-form-start form) (top-level-form-end form)))

(defun unmatched (text forms other-text other-forms)
  "((FORM NUMBER) ...) of FORMS in TEXT whose text none of OTHER-FORMS in OTHER-TEXT has."
  (let ((counts (make-hash-table :test 'equal)))
    (dolist (form other-forms) (incf (gethash (form-text other-text form) counts 0)))
    (loop for form in forms
          for number from 0
          unless (<= 0 (decf (gethash (form-text text form) counts 0))) collect (list form number))))

(defun compared-changes (file loaded)
  "The changes of FILE since LOADED, its text then: :CHANGED, :NEW and :DELETED."
  (let* ((text (file-text file)) (forms (file-forms file))
         (old-forms (top-level-forms loaded))
         (old (unmatched loaded old-forms text forms)))
    (append
     (loop for (form number) in (unmatched text forms loaded old-forms)
           for key = (form-key text form)
           for match = (and key (find key old :test #'equalp :key (lambda (pair) (form-key loaded (first pair)))))
           do (when match (setf old (remove match old)))
           collect (form-change (if match :changed :new) text form number (package-at text forms number)
                                :file file :position (top-level-form-start form)
                                :file-text (form-text text form) :text (and match (form-text loaded (first match)))))
     (loop for (form number) in old
           for change = (form-change :deleted loaded form number (package-at loaded old-forms number)
                                     :file file :text (form-text loaded form))
           when (change-definition change) collect change))))

;;; Without it

(defun length-state (definition file number)
  "The state of DEFINITION, whose form is NUMBER in FILE now, by its length; NIL if it is as it was loaded."
  (case (text-state definition (code-source-of definition (file-truename file)) file number)
    ((:loaded :same-form) nil)
    (:same-length :maybe-changed)
    (t (if (recorded-length (code-source-of definition (file-truename file)) (or (form-number-of definition) 0))
           :changed
           :maybe-changed))))

(defun package-form-p (change)
  "True if the form of CHANGE defines a package that exists."
  (and (eq :package (change-kind change))
       (or-nil (find-package (designated-name (change-name change))))))

(defun guessed-changes (file definitions)
  "The changes of FILE, whose loaded text is not known, by its forms and by DEFINITIONS, those that were loaded from it."
  (let* ((text (file-text file)) (forms (file-forms file))
         (name (sb-ext:native-namestring (file-truename file))))
    (append
     (loop for form in forms
           for number from 0
           for change = (form-change :new text form number (package-at text forms number)
                                     :file file :position (top-level-form-start form) :file-text (form-text text form))
           for definition = (change-definition change)
           for from-here = (and definition (equal name (definition-file-name definition)))
           for state = (cond (from-here (length-state definition file number))
                             ((and (null definition) (change-kind change) (not (package-form-p change))) :new))
           when state collect (progn (setf (change-state change) state) change))
     (loop for definition in definitions
           unless (or (made-with-type-p definition definitions) (definition-span definition file nil))
             collect (make-change :state :deleted :definition definition :kind (definition-kind definition)
                                  :name (definition-text definition) :file file :text (lambda-text definition))))))

(defun made-with-type-p (definition definitions)
  "True if DEFINITION was made by the form of a type or a generic function among DEFINITIONS, as an accessor is."
  (let ((number (form-number-of definition)))
    (and (member (definition-kind definition) '(:function :generic-function :method :setf-expander))
         (or (null number)
             (find-if (lambda (other)
                        (and (member (definition-kind other) '(:class :structure :condition))
                             (eql number (form-number-of other))))
                      definitions)))))

(defun file-changes (file definitions)
  "=> the changes of FILE since it was loaded, in the order of the file, and whether the text that was loaded is known
DEFINITIONS are those that were loaded from it."
  (let ((loaded (text-as-loaded file)))
    (cond ((null loaded) (values (guessed-changes file definitions) nil))
          ((string= loaded (file-text file)) (values '() t))
          (t (values (compared-changes file loaded) t)))))
