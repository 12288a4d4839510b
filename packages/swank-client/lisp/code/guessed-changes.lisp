;;;; Compares a file with the definitions that were loaded from it, if the text that was loaded is not known.

(in-package #:swank-client/code)

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
           for change = (form-change :new text form number (package-at text forms number (file-initial-package file))
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
  (let ((loaded (text-as-loaded file))
        (known (and (null (file-packages file)) (find-if (lambda (definition) (named-span definition file nil)) definitions))))
    ;; a file that names no package was loaded in that of its definitions
    (when known (setf (file-initial-package file) (definition-home known)))
    (cond ((null loaded) (values (guessed-changes file definitions) nil))
          ((string= loaded (file-text file))
           (note-unchanged-text file)
           (values '() t))
          (t (values (compared-changes file loaded) t)))))
