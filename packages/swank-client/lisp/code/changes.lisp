;;;; Differences between the image and its files, and the definitions that forms of files make.

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
  (file-text nil)
  ;; of a :CONFLICT, the change of the file since it was loaded
  (in-file nil)
  ;; true if the form is in another package than when the file was loaded
  (moved nil))

(defun in-package-change-p (change)
  "True if CHANGE is about an IN-PACKAGE form."
  (let* ((text (or (change-file-text change) (change-text change)))
         (operator (and text (definition-head text 0 (length text)))))
    (and operator (string= "IN-PACKAGE" (operator-name operator)))))

(defun own-operator-p (name-text package)
  "True if NAME-TEXT is a macro of the program in PACKAGE, which may define something."
  (let ((symbol (or-nil (head-symbol name-text package))))
    (and symbol (symbol-package symbol) (program-package-p (symbol-package symbol)) (macro-function symbol) t)))

(defun head-symbol (name-text package)
  "=> the symbol that NAME-TEXT of a defining form means in PACKAGE, if there is one, and whether the name is (SETF SYMBOL)"
  (let ((text (defined-text name-text)))
    (multiple-value-bind (name prefix written) (parsed-name (string-trim "\"" text))
      (let ((home (if prefix (package-known-in package prefix) package)))
        ;; the second name is that of a readtable that keeps case
        (dolist (one (and home (list name written)))
          (multiple-value-bind (symbol status) (or-nil (accessible-symbol one home))
            (when status (return (values symbol (and (setf-text-p text) t))))))))))

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

(defun method-head (text start end)
  "(METHOD NAME QUALIFIER... (SPECIALIZER...)) for the DEFMETHOD between START and END of TEXT, as it is written there."
  (destructuring-bind (name . elements) (rest (loop for (from to) in (element-spans text start end 8) collect (subseq text from to)))
    (multiple-value-bind (qualifiers lambda-list) (method-parts elements)
      (format nil "(METHOD ~a~{ ~a~} (~{~a~^ ~}))" name qualifiers (and lambda-list (lambda-list-specializers lambda-list))))))

(defun form-change (state text form number package &rest facts)
  "A change in STATE of FORM, the form NUMBER of TEXT, read in PACKAGE."
  (let ((start (top-level-form-start form)) (end (top-level-form-end form)))
    (multiple-value-bind (operator name-text) (definition-head text start end)
      (let* ((definition (definition-of-form text start end package))
             (kind (if definition (definition-kind definition) (and operator (head-kind operator)))))
        (apply #'make-change
               :state state :number number :definition definition :kind (if (eq kind :setf) nil kind)
               :name (cond (definition (definition-text definition))
                           ((eq kind :method) (on-one-line (method-head text start end)))
                           ((and kind name-text (not (eq kind :setf))) (on-one-line (defined-text name-text)))
                           (t (on-one-line (definition-line text start))))
               facts)))))
