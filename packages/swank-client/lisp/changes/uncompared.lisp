;;;; What a session has evaluated and what is not compared as a definition of the program: definitions of packages and of names that belong to Lisp or
;;;; ASDF, and calls of macros that define something of a kind that Lisp does not record, such as a test. Only their texts are looked for in files.

(in-package #:swank-client/changes)

;;; Definitions

(defun compared-p (definition program)
  "True if DEFINITION is one of PROGRAM, which IMAGE-CHANGES compares."
  (let ((name (definition-name definition)) (method (definition-method definition)))
    (cond ((eq :package (definition-kind definition)) nil)
          (method (find method (program-definitions program) :key #'definition-method))
          (t (let ((package (symbol-package (if (consp name) (second name) name))))
               (and package (program-package-p package)))))))

(defun package-form (name files)
  "=> the first of FILES that has a form which defines the package NAME, the number of the form, and the form; or NIL"
  (dolist (file files)
    (when (search name (file-text file) :test #'char-equal)
      (loop for form in (file-forms file)
            for number from 0
            do (multiple-value-bind (operator text)
                   (definition-head (file-text file) (top-level-form-start form) (top-level-form-end form))
                 (when (and operator text (eq :package (head-kind operator)) (equal name (designated-name text)))
                   (return-from package-form (values file number form))))))))

(defun definition-change (definition files)
  "The change that DEFINITION, which is not compared otherwise, is to FILES; NIL if one of them has its text."
  (let* ((package-p (eq :package (definition-kind definition)))
         (text (or (or-nil (own-form definition)) (form-of-plist (definition-plist definition) (form-number-of definition))))
         (package (and (not package-p) (evaluated-package definition))))
    (unless (some (lambda (file) (text-in-file-p text file package)) files)
      (multiple-value-bind (file number form) (and package-p (package-form (definition-name definition) files))
        (make-change :state :uncompared :kind (definition-kind definition) :definition definition
                     :name (if package-p (definition-name definition) (definition-text definition))
                     :file file :number number :position (and form (top-level-form-start form))
                     :text text :file-text (and file (form-text (file-text file) form)))))))

(defun definition-changes (program files)
  "The changes that this session's definitions which are not compared otherwise are to FILES, those of PROGRAM."
  (loop for entry in (reverse (ledger-entries (session-ledger (current-session))))
        for definition = (recording-faults (entry-definition entry))
        for change = (and definition
                          (own-definition-p definition)
                          (not (compared-p definition program))
                          (recording-faults (definition-change definition files)))
        when change collect change))

;;; Calls of macros

(defconstant +expansions-limit+ 5 "Most expansions of a call that are looked at.")

(defun quotes-p (form name)
  "True if FORM, an expansion, quotes NAME."
  (let ((left 2000))
    (labels ((found-p (part)
               (loop while (consp part)
                     do (when (minusp (decf left)) (return-from quotes-p nil))
                        (when (equal part (list 'quote name)) (return-from quotes-p t))
                        (found-p (car part))
                        (setf part (cdr part)))))
      (found-p form)
      nil)))

(defun defines-unrecorded-p (form)
  "True if FORM, a call of a macro, defines something by a name, and none of the kinds that Lisp records: its expansion quotes the name."
  (let ((name (call-name form)) (quoted nil))
    (loop repeat +expansions-limit+
          while (call-name form)
          do (setf form (or-nil (macroexpand-1 form)))
             (when (mentions-definition-p form) (return nil))
             (when (quotes-p form name) (setf quoted t))
          finally (return quoted))))

(defun loaded-since-p (text date files)
  "True if one of FILES was loaded after DATE and has a form that makes what TEXT makes."
  (let ((key (span-key text 0 (length text))))
    (and key
         (some (lambda (file)
                 (let ((time (nth-value 2 (loaded-octets (file-truename file)))))
                   (and time
                        (> time date)
                        (some (lambda (form) (equalp key (form-key (file-text file) form))) (file-forms file)))))
               files))))

(defun call-changes (files)
  "The changes that calls of this session, which define something of a kind that Lisp does not record, are to FILES."
  (loop for call in (reverse (ledger-calls (session-ledger (current-session))))
        for form = (named-call-form call)
        for text = (named-call-text call)
        for package = (named-call-package call)
        when (and (not (boundp (call-name form)))
                  (package-name package)
                  (notany (lambda (file) (text-in-file-p text file package)) files)
                  (not (recording-faults (loaded-since-p text (named-call-date call) files)))
                  (let ((*package* package)) (recording-faults (defines-unrecorded-p form))))
          collect (make-change :state :uncompared :name (on-one-line (definition-line text 0)) :text text)))

(defun uncompared-changes (program)
  "The changes of this session to the files of PROGRAM that IMAGE-CHANGES does not find."
  (let ((ledger (session-ledger (current-session))))
    (when (or (ledger-entries ledger) (ledger-calls ledger))
      (let ((files (loop for name in (append (program-files program) (files-saved-to))
                         for file = (file-now name)
                         when file collect file)))
        (append (definition-changes program files) (call-changes files))))))
