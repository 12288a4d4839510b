;;;; Lists the differences between the image and the files of the program, with definitions of files that the image does not have any more.

(in-package #:swank-client/changes)

;;; Compares a file with the definitions that were loaded from it, if the text that was loaded is not known.

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

;;; Definitions of files that the image had when it loaded the file, and does not have now. The text that was loaded is compared with the
;;; image, so it does not matter what has removed them. Where the text, or what its form defines, is not known, nothing is said.

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

(defun literal-p (text)
  "True if TEXT is an object that stands for itself or is quoted; a name that is evaluated, such as that of a constant, is not."
  (or (find (char text 0) "':")
      (let ((digits (string-left-trim "+-" text)))
        (and (plusp (length digits)) (every (lambda (char) (find char "0123456789./")) digits)))))

(defun known-specializer-p (text)
  "True if TEXT, a specializer of a method, can be compared with those of methods: it is a name, or EQL of a literal."
  (if (char= #\( (char text 0))
      (let ((object (second (element-texts text))))
        (and object (eql-text text) (literal-p object) t))
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
            for expectation = (and package (not (member number changed)) (recording-faults (expectation-of text form number package)))
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
        for missing = (recording-faults (remove-if-not #'missing-p (expectations name)))
        for file = (and missing (file-now name))
        when file append (loop for expectation in missing collect (removal file expectation))))

;;; Lists the differences between the image and the files of the program.

(defconstant +changes-limit+ 500 "Changes that are listed.")

;;; All changes

(defun same-text-evaluated-p (change)
  "True if the form of CHANGE has been evaluated since it was changed in the file, as an editor does."
  (let* ((definition (change-definition change))
         (plist (and definition (definition-plist definition))))
    (flet ((same-p (text)
             (and text (string= (trimmed-end text) (trimmed-end (change-file-text change))))))
      (and plist (change-file-text change)
           (or (same-p (or-nil (own-form definition)))
               (same-p (or-nil (values (own-text definition))))
               (same-p (recording-faults (form-of-plist plist (form-number-of definition)))))))))

(defun replaced-p (change)
  "True if the definition of CHANGE, which its file no longer has, came from elsewhere since."
  (let* ((definition (change-definition change))
         (name (and definition (definition-file-name definition))))
    (and definition
         (or (definition-plist definition)
             (and name (not (equal name (sb-ext:native-namestring (file-truename (change-file change))))))))))

(defun shown-changes (changes)
  "CHANGES without those that later evaluations or files have undone."
  (remove-if (lambda (change)
               (case (change-state change)
                 ((:changed :new :maybe-changed) (same-text-evaluated-p change))
                 (:deleted (replaced-p change))))
             changes))

(defun unchanged-date-p (name)
  "True if the file NAME has the date that it had when its code was compiled, and clients' code has not loaded it. Its text is kept, so that
later changes can be found form by form."
  (let ((code (gethash name (code-sources)))
        (truename (named-file name)))
    (and code
         (not (load-unfinished-p truename))
         (not (text-loaded-p truename))
         (eql (code-created code) (nil-on file-error (file-write-date truename)))
         (date-decides-p truename)
         (progn (unless (loaded-octets truename) (nil-on (or file-error stream-error) (note-seen-text truename)))
                t))))

(defun unwritten-p (name)
  "True if the file NAME was not written since it was loaded, even though no code that names it is left in memory, or only older code."
  (let ((pathname (named-file name)))
    (and (null (loaded-octets pathname))
         (not (load-unfinished-p pathname))
         (< (or (or-nil (changed-at pathname)) (get-universal-time)) (image-start))
         (or (null (gethash name (code-sources))) (compiled-since-p pathname)))))

(defun unchanged-p (name)
  "True if the file NAME is known to be as it was loaded, without a comparison of its text."
  (or (unchanged-date-p name) (unchanged-text-p (named-file name)) (unwritten-p name)))

(defun wanted-files (truename program)
  "The files to compare, as they are now: TRUENAME or, if that is NIL, all of PROGRAM that can have changed or were to be loaded and were not."
  (append (loop for name in (if truename (list (sb-ext:native-namestring truename)) (program-files program))
                for file = (and (or truename (not (unchanged-p name))) (file-now name))
                when (and file (program-file-p file) (or truename (not (definition-only-p file program)))) collect file)
          (loop for pathname in (and (null truename) (remove-duplicates (append (unfinished-files) (unloaded-files)) :test #'equal))
                for file = (and (not (member (sb-ext:native-namestring pathname) (program-files program) :test #'string=))
                                (file-now pathname))
                when (and file (or (failed-p file) (unloaded-p file program))) collect file)))

(defun unfinished-files ()
  "The truenames of the existing files whose loading clients' code has begun and not ended."
  (existing-files (mapcar #'sb-ext:parse-native-namestring (unfinished-loads))))

(defun failed-p (file)
  "True if clients' code has begun to load FILE, has not ended, and had not loaded it before."
  (and (load-unfinished-p (file-truename file))
       (null (loaded-octets (file-truename file)))))

(defun undated-p (file)
  "True if it is not recorded when FILE was loaded."
  (and (null (date-when-compiled (file-truename file)))
       (null (loaded-octets (file-truename file)))))

(defun undecided-p (file)
  "True if FILE has the date that it had when it was loaded, but not certainly the text."
  (and (not (load-unfinished-p (file-truename file)))
       (eql (date-when-compiled (file-truename file)) (file-date file))
       (null (text-as-loaded file))))

(defun definitions-from (file program)
  "The definitions of PROGRAM that were loaded from FILE."
  (gethash (sb-ext:native-namestring (file-truename file)) (program-by-file program)))

(defun definition-only-p (file program)
  "True if FILE is a system definition with the date that it had when it was loaded, and defines nothing of PROGRAM."
  (and (equal "asd" (pathname-type (file-truename file))) (undecided-p file) (null (definitions-from file program))))

(defun unloaded-p (file program)
  "True if nothing shows that FILE was ever loaded: no definition of PROGRAM is from it, either."
  (and (undated-p file) (null (definitions-from file program))))

(defun listed-changes (file program)
  "=> the changes in FILE that are still to be loaded, and how it was compared: :COMPARED, :GUESSED, :FAILED, :UNLOADED, :UNDATED, :UNREADABLE,
or NIL if it has not changed"
  (cond ((failed-p file) (values '() :failed))
        ((unloaded-p file program) (values '() :unloaded))
        ((or (undated-p file) (undecided-p file)) (values '() :undated))
        ((not (file-whole-p file)) (values '() :unreadable))
        (t (multiple-value-bind (changes known) (file-changes file (definitions-from file program))
             (values (shown-changes changes) (and changes (if known :compared :guessed)))))))

(defun of-file-p (change truename)
  "True if CHANGE is in the file TRUENAME, or TRUENAME is NIL."
  (or (null truename)
      (and (change-file change) (equal truename (file-truename (change-file change))))))

(defun joined-changes (in-files in-image)
  "IN-FILES without those whose form differs from the image's by one of IN-IMAGE, too. That is listed instead, with the image's text, and is a
:CONFLICT if the file has certainly changed."
  (remove-if (lambda (change)
               (loop with twice-p = nil
                     for other in in-image
                     when (and (member (change-state other) '(:differs :conflict))
                               (eq (change-file other) (change-file change))
                               (eql (change-number other) (change-number change)))
                       do (setf twice-p t)
                          (unless (eq :maybe-changed (change-state change))
                            (setf (change-state other) :conflict
                                  (change-in-file other) change))
                     finally (return twice-p)))
             in-files))

(defun in-order (changes)
  "CHANGES by file and position, those in no file last and by name."
  (flet ((place (change)
           (let ((file (change-file change)))
             (if file (sb-ext:native-namestring (file-truename file)) (string (code-char #x10ffff))))))
    (sort changes (lambda (one other)
                    (let ((a (place one)) (b (place other))
                          (p (or (change-position one) -1)) (q (or (change-position other) -1)))
                      (cond ((string/= a b) (and (string< a b) t))
                            ((/= p q) (< p q))
                            (t (and (string< (change-name one) (change-name other)) t))))))))

(defun all-changes (truename)
  "=> the changes of the image and of the file TRUENAME, by default of all files; (FILE STATE) of each file that was compared; and the program"
  (let* ((program (the-program))
         (in-image (append (image-changes program) (recording-faults (uncompared-changes program))))
         (states '())
         (in-files (loop for file in (wanted-files truename program)
                         append (multiple-value-bind (changes state) (listed-changes file program)
                                  (when state (push (list file state) states))
                                  changes)))
         (removed (removed-changes truename program)))
    (values (in-order (append (remove-if-not (lambda (change) (of-file-p change truename)) in-image)
                              (joined-changes (append in-files removed) in-image)))
            (nreverse states)
            program)))

(defun change-entry (change &optional place)
  "The plist that describes CHANGE. PLACE: the facts about its place, by default those of its form in the file."
  (list* :state (change-state change)
         :kind (change-kind change)
         :name (change-name change)
         :text (bounded (change-text change))
         :file-text (bounded (change-file-text change))
         :from-client (or (eq :uncompared (change-state change))
                          (and (change-definition change) (own-definition-p (change-definition change))))
         (cond (place)
               ((null (change-file change)) '())
               ((change-position change) (place-facts (change-file change) (change-position change)))
               (t (list :file (shown-file (file-truename (change-file change))))))))

(defun file-of-variable (symbol program)
  "The name of the file of PROGRAM that defines the variable SYMBOL, even if it was evaluated since; or NIL."
  (let* ((definition (first (kind-definitions symbol :variable)))
         (name (and definition (definition-file-name definition)))
         (package (and definition (definition-home definition)))
         (file (if name
                   (file-now name)
                   (and package (defined-in definition (home-candidates package program) package)))))
    (and file (shown-file (file-truename file)))))

(defun assigned-entries (program)
  "((NAME VALUE FILE) ...) of the global variables that this session has assigned, oldest first. FILE of PROGRAM defines the variable, or NIL."
  (loop for symbol in (reverse (ledger-assigned (session-ledger (current-session))))
        when (boundp symbol)
          collect (list (name-text symbol) (line-text-in-time (symbol-value symbol) 100) (recording-faults (file-of-variable symbol program)))))

(defmacro with-wanted-file ((truename name) &body body)
  "Run BODY with TRUENAME bound to that of the file NAME, NIL if NAME is NIL. => its value | (:file-not-found NAME (FILE ...) REASON)"
  `(let ((,truename (and ,name (plain-file ,name))))
     (if (and ,name (null ,truename))
         (missing-file ,name)
         (progn ,@body))))

(defun list-changes (name)
  "The differences between the image and the file NAME, or all files and what no file has.
=> (:changes (ENTRY ...) LEFT-OUT ((FILE STATE) ...) ((VARIABLE VALUE FILE) ...)) | (:file-not-found NAME (FILE ...) REASON)"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename name)
        (multiple-value-bind (all states program) (all-changes truename)
          (let ((changes (in-order (joined-closures all))) (*room* +texts-limit+))
            (with-printing-time
              (list :changes
                    (loop for change in changes repeat +changes-limit+ collect (change-entry change))
                    (max 0 (- (length changes) +changes-limit+))
                    (append (loop for (file state) in states collect (list (shown-file (file-truename file)) state))
                            (and truename (null (file-now truename)) (list (list (shown-file truename) :unreadable))))
                    (unless name (assigned-entries program))))))))))

(defun unsaved-definitions (truenames)
  "The names of the definitions that were evaluated and differ from their forms in the files TRUENAMES: loading these would replace them."
  (with-code-session (nil)
    (with-files ()
      (loop for change in (in-order (joined-closures (image-changes (the-program))))
            when (some (lambda (truename) (of-file-p change truename)) truenames)
              collect (change-name change)))))

;;; Lists for the user's Emacs what lives in the image and not in its file, also what agents did not evaluate.

(defun of-agent-p (definition)
  "True if an evaluation of a client of this library, of any version, has made DEFINITION."
  (and definition (getf (definition-plist definition) :evaluation) t))

(defun live-entry (change)
  "The plist that describes CHANGE to Emacs."
  (list* :of-agent (of-agent-p (change-definition change))
         ;; whole, because Emacs writes them
         :text (change-text change)
         :file-text (change-file-text change)
         :path (and (change-file change) (sb-ext:native-namestring (file-truename (change-file change))))
         (change-entry change)))

(defun live-changes (name)
  "The definitions that were evaluated and that differ from the file NAME, or from all files and those that no file has.
=> (:changes (ENTRY ...) LEFT-OUT) | (:file-not-found NAME (FILE ...))"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename name)
        (let ((changes (in-order (joined-closures (remove-if-not (lambda (change) (of-file-p change truename))
                                                                 (image-changes (the-program))))))
              (*room* +texts-limit+))
          (with-printing-time
            (list :changes
                  (loop for change in changes repeat +changes-limit+ collect (live-entry change))
                  (max 0 (- (length changes) +changes-limit+)))))))))

(setf *live-changes* 'live-changes)
