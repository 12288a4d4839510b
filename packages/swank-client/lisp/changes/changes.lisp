;;;; Differences between the image and its files, form by form.

(in-package #:swank-client/changes)

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
  ;; true if TEXT is that of a form around the definition, on which its meaning may depend
  (around nil)
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
                     (find answer all :key (lambda (definition) (recording-faults (defines-p definition text start end))))))
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

;;; Compares the forms of a file with those of the text that was loaded from it.

(defun form-key (text form)
  "SPAN-KEY of FORM of TEXT."
  (span-key text (top-level-form-start form) (top-level-form-end form)))

(defun span-key (text start end)
  "What tells the definition that the form between START and END of TEXT makes from those of other forms, as a list of texts; NIL if that is no
list."
  (multiple-value-bind (operator name) (definition-head text start end)
    (when (and operator name)
      (when (string= "IN-PACKAGE" (operator-name operator)) (return-from span-key '("IN-PACKAGE")))
      ;; a function that has become a macro has changed
      (list* (or (first (source-kinds (head-kind operator))) (operator-name operator))
             (parsed-name (defined-text name)) (and (setf-text-p name) t)
             (when (eq :method (head-kind operator))
               (multiple-value-bind (qualifiers lambda-list)
                   (method-parts (loop for (from to) in (cddr (element-spans text start end 8)) collect (subseq text from to)))
                 (append qualifiers (and lambda-list (lambda-list-specializers lambda-list)))))))))

(defun definition-keys (text start end &key (wanted-p (constantly t)))
  "The SPAN-KEYs of the definitions in the form between START and END of TEXT for whose starts and ends WANTED-P is true."
  (loop for (from to) in (list-spans text start end)
        for operator = (definition-head text from to)
        for key = (and operator
                       (not (member (head-kind operator) '(nil :setf)))
                       (funcall wanted-p from to)
                       (span-key text from to))
        when key collect key))

(defparameter *binding-operators* '("LET" "LET*" "FLET" "LABELS" "MACROLET" "SYMBOL-MACROLET")
  "Operators whose forms for definitions follow their bindings.")

(defun body-spans (text start end operator)
  "The spans of the forms in the form of OPERATOR between START and END of TEXT that are evaluated as those of a body."
  (let ((elements (element-spans text start end most-positive-fixnum)))
    (if (member (operator-name operator) *binding-operators* :test #'string=) (cddr elements) (rest elements))))

(defun call-keys (text start end package)
  "(OPERATOR NAME) of each call in the form between START and END of TEXT of a macro of the program in PACKAGE that may define something: it is
in a body, and contains no definition."
  (multiple-value-bind (operator name) (definition-head text start end)
    (let ((own-p (and operator (own-operator-p operator package))))
      (cond ((null operator) '())
            ((and own-p (null (definition-keys text start end)))
             (list (list (operator-name operator) (and name (parsed-name (defined-text name))))))
            ((or own-p (transparent-operator-p operator) (member (operator-name operator) *binding-operators* :test #'string=))
             (loop for (from to) in (body-spans text start end operator)
                   append (call-keys text from to package)))))))

(defun missing-keys (keys others)
  "Those of KEYS that OTHERS do not have, as often as they are missing."
  (loop for key in keys
        for found = (member key others :test #'equalp)
        if found do (setf others (append (ldiff others found) (rest found)))
        else collect key))

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

(defun texts-with-packages (text forms)
  "((TEXT . NAME) ...): the texts of FORMS, and the name of the package in which each is read, or NIL."
  (loop with name = nil
        for form in forms
        do (setf name (or (or-nil (in-package-name text form)) name))
        collect (cons (form-text text form) name)))

(defun moved-forms (file)
  "The number of forms of FILE that have not changed since it was loaded and are in another package now."
  (let ((loaded (text-as-loaded file)))
    (if (or (null loaded) (string= loaded (file-text file)))
        0
        (let* ((forms (file-forms file))
               (old (texts-with-packages loaded (top-level-forms loaded)))
               (moved (set-difference (texts-with-packages (file-text file) forms) old :test #'equal)))
          (count-if (lambda (pair) (find (car pair) old :key #'car :test #'string=)) moved)))))

(defun lost-in-package-p (change file changes)
  "True if CHANGE is an IN-PACKAGE form that FILE no longer has, and forms are in another package without it, among CHANGES or unchanged."
  (and (in-package-change-p change)
       (or (some #'change-moved changes) (plusp (moved-forms file)))))

(defun changed-in-text (file loaded old-forms old)
  "=> the :CHANGED and :NEW forms of FILE since LOADED, its text with OLD-FORMS; and those of OLD, unmatched forms, that are in none of them"
  (let ((text (file-text file)) (forms (file-forms file)) (initial (file-initial-package file)))
    (values
     (loop for (form number) in (unmatched text forms loaded old-forms)
           for key = (form-key text form)
           for match = (and key (find key old :test #'equalp :key (lambda (pair) (form-key loaded (first pair)))))
           for package = (package-at text forms number initial)
           do (when match (setf old (remove match old)))
           collect (form-change (if match :changed :new) text form number package
                                :file file :position (top-level-form-start form)
                                :file-text (form-text text form) :text (and match (form-text loaded (first match)))
                                :moved (and match (not (eq package (package-at loaded old-forms (second match) initial))))))
     old)))

(defun compared-changes (file loaded)
  "The changes of FILE since LOADED, its text then: :CHANGED, :NEW and :DELETED."
  (let ((old-forms (top-level-forms loaded)))
    (multiple-value-bind (changes old)
        (changed-in-text file loaded old-forms (unmatched loaded old-forms (file-text file) (file-forms file)))
      (append
       changes
       (loop for (form number) in old
             for change = (form-change :deleted loaded form number (package-at loaded old-forms number (file-initial-package file))
                                       :file file :text (form-text loaded form))
             when (or (change-definition change) (lost-in-package-p change file changes)) collect change)))))

;;; Compares definitions that were evaluated with the files of the program.

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

(defun own-definition-p (definition)
  "True if this session evaluated DEFINITION."
  (let ((plist (definition-plist definition)))
    (and plist (own-origin-p (session-ledger (current-session)) (getf plist :evaluation)) t)))

(defun evaluated-change (definition program)
  "The change that DEFINITION, which was evaluated from text, is to its file; NIL if the file has the same text."
  (multiple-value-bind (text around) (own-text definition)
    (let ((package (definition-home definition)))
      (when (and text package)
        (multiple-value-bind (file own number) (place-in-program definition program package)
          (let* ((span (and file (or (and around (apply #'enclosing-span (file-text file) own (span (nth number (file-forms file))))) own)))
                 (file-text (and file (subseq (file-text file) (first span) (second span)))))
            (unless (and file (string= (trimmed-end text) (trimmed-end file-text)))
              (make-change :state (if file :differs :image-only) :kind (definition-kind definition)
                           :name (definition-text definition) :definition definition :around around
                           :file file :position (and span (first span)) :number number :text text :file-text file-text))))))))

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
        for change = (recording-faults (cond ((null (definition-plist definition)) (unrecorded-change definition))
                                             ((not (or (valueless-p definition) (made-at-run-time-p definition)))
                                              (evaluated-change definition program))))
        when change collect change))

(defun same-closure-p (change other)
  "True if CHANGE and OTHER are definitions in the same form, which is one change."
  (and (or (change-file change) (change-around change))
       (eq (change-file change) (change-file other))
       (eql (change-position change) (change-position other))
       (equal (change-text change) (change-text other))))

(defun joined-closures (changes)
  "CHANGES without all but the first, by name, of those that are one change. It is called after a choice among definitions, since any of them
may be named."
  (remove-duplicates (sort (copy-list changes) #'string< :key #'change-name) :test #'same-closure-p :from-end t))

;;; Definitions by name

(defun plain-name-text (text)
  "The part of TEXT, NAME, (setf NAME) or (method NAME ...), that names a function, variable or type."
  (string-trim "#'" (if (method-text-p text) (or (second (element-texts (trimmed text))) "") (trimmed text))))

(defun definition-matcher (symbol text)
  "A predicate of definitions of SYMBOL, as TEXT names them: NAME, (setf NAME) or (method NAME ...)."
  (let ((elements (and (method-text-p text) (element-texts (trimmed text))))
        (name (if (setf-text-p (plain-name-text text)) (list 'setf symbol) symbol)))
    (lambda (definition)
      (and (equal name (definition-name definition))
           (or (null elements) (wanted-methods (list definition) elements))
           t))))

;;; Comments

(defun comments (text)
  "The comments in TEXT."
  (loop with position = 0
        while (< position (length text))
        for end = (or (skipped-end text position)
                      (and (token-char-p (char text position)) (token-end text position)))
        when (and end (or (char= #\; (char text position)) (eql position (search "#|" text :start2 position :end2 end))))
          collect (trimmed-end (subseq text position end))
        do (setf position (or end (1+ position)))))

(defun lost-comments (change)
  "The number of comments in the form of CHANGE in the file that the text which replaces it does not have."
  (let ((kept (comments (change-text change))))
    ;; each comment that is kept stands for one of its equals
    (count-if-not (lambda (comment)
                    (let ((found (member comment kept :test #'string=)))
                      (when found (setf kept (append (ldiff kept found) (rest found))) t)))
                  (comments (change-file-text change)))))
