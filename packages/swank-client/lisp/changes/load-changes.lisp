;;;; Compiles and loads top-level forms of files that have changed since the files were loaded, with the positions, the package and the file variables that a form has in the whole file.

(in-package #:swank-client/changes)

(defparameter *context-operators* '("IN-PACKAGE" "IN-READTABLE" "DECLAIM" "IN-SUITE" "IN-SUITE*" "DEF-SUITE*")
  "Operators of top-level forms that set what later forms are read, compiled and loaded with; and the suite of later tests, in FiveAM.")

(defvar *known-operators* (make-hash-table :test 'eq) "What OPERATOR-SYNTAX-P is for operators, during one request.")

(defconstant +examined-conses+ 100000 "Conses of a form that are examined. Of a longer or circular one, it is not known what it changes.")

(defvar *conses-left* 0 "Conses of the form that may still be examined.")

(defconstant +calls-followed+ 4 "Calls that are followed from a form to what may change a readtable.")

(defun read-in (text package)
  "The form TEXT of PACKAGE, read as data, or NIL if that is not possible."
  (let ((*package* package))
    (or-nil (first (read-without-interning text (data-readtable))))))

(defun texts-of-operator (name)
  "((TEXT . PACKAGE) ...) of the definitions of the operator NAME, as far as they are known."
  (loop for definition in (or-nil (definitions-of name))
        for plist = (definition-plist definition)
        for file = (and (null plist) (definition-file-name definition) (file-now (definition-file-name definition)))
        for span = (and file (or-nil (definition-span definition file nil)))
        for text = (cond (plist (or-nil (own-form definition)))
                         (span (subseq (file-text file) (first span) (second span))))
        when (and text (member (definition-kind definition) '(:function :generic-function :method :macro)))
          collect (cons text (or (symbol-package name) *package*))))

(defparameter *local-syntax* '("(*readtable* (copy-readtable" "with-standard-io-syntax")
  "Beginnings of code that binds the readtable to one of its own, as test frameworks do around tests.")

(defun text-syntax-p (text &optional (local *local-syntax*))
  "True if TEXT, code, names something that changes the syntax of code, other than the beginnings LOCAL."
  (if (null local)
      (mentions-syntax-p text)
      (loop for start = 0 then (+ found (length (first local)))
            for found = (search (first local) text :start2 start :test #'char-equal)
            thereis (text-syntax-p (subseq text start found) (rest local))
            while found)))

(defun own-readtable-p (form)
  "True if FORM, read as data, is a binding of the readtable to a copy."
  (and (typep form '(cons symbol (cons (cons symbol))))
       (string= "*READTABLE*" (first form))
       (string= "COPY-READTABLE" (first (second form)))))

(defun operator-syntax-p (name depth)
  "True if the operator NAME, a symbol, may change a readtable. DEPTH calls are followed."
  (multiple-value-bind (answer known) (gethash name *known-operators*)
    (cond (known answer)
          (t (setf (gethash name *known-operators*) nil) ; it may call itself
             (setf (gethash name *known-operators*)
                   (loop for (text . package) in (texts-of-operator name)
                         thereis (or (text-syntax-p text)
                                     (form-syntax-p (read-in text package) (1- depth)))))))))

(defun form-syntax-p (form depth)
  "True if FORM, read as data, or what it calls may change a readtable. DEPTH calls are followed."
  (when (own-readtable-p form) (return-from form-syntax-p nil))
  (flet ((program-operator-p (symbol)
           (and symbol (symbolp symbol) (fboundp symbol) (symbol-package symbol) (program-package-p (symbol-package symbol)))))
    (when (and (consp form) (plusp depth) (program-operator-p (car form)))
      (when (or (operator-syntax-p (car form) depth)
                (and (macro-function (car form)) (form-syntax-p (or-nil (macroexpand-1 form)) (1- depth))))
        (return-from form-syntax-p t)))
    (loop while (consp form)
          thereis (or (minusp (decf *conses-left*)) (form-syntax-p (pop form) depth))
          finally (return (and form (symbolp form) (text-syntax-p (symbol-name form)))))))

(defun syntax-change (text package)
  "When the form TEXT in PACKAGE may change the syntax of the forms after it: :COMPILED, also when a compiler reads them; :LOADED, only when it is
run; or NIL if it does not."
  (let* ((operator (or (definition-head text 0 (length text)) "NIL"))
         (name (operator-name operator))
         (kind (head-kind operator))
         (symbol (and package (or-nil (head-symbol operator package)))))
    (cond ((member name '("IN-PACKAGE" "DECLAIM") :test #'string=) nil)
          ((and kind (not (eq kind :setf))) nil)
          ((not (or (text-syntax-p text)
                    (and package
                         (let ((*conses-left* +examined-conses+))
                           (form-syntax-p (read-in text package) +calls-followed+)))))
           nil)
          ((string= name "EVAL-WHEN") (if (search "compile" text :test #'char-equal) :compiled :loaded))
          ;; what a macro of the program expands into, a compiler may evaluate
          ((and symbol (macro-function symbol) (not (eq (symbol-package symbol) (find-package "COMMON-LISP")))) :compiled)
          (t :loaded))))

(defun reader-form-p (text package)
  "True if TEXT, a form that is no definition of Lisp, may change the syntax of the forms after it in PACKAGE."
  (and (syntax-change text package) t))

(defun file-syntax-changes (file)
  "A vector of the values of SYNTAX-CHANGE of the forms of FILE, or :COMPILED for those that set a package or a policy."
  (or (file-syntax file)
      (setf (file-syntax file)
            (map 'vector
                 (lambda (text-and-name)
                   (destructuring-bind (text . name) text-and-name
                     (let ((operator (definition-head text 0 (length text)))
                           (package (if name (or-nil (find-package name)) (file-initial-package file))))
                       (cond ((null operator) nil)
                             ((member (operator-name operator) *context-operators* :test #'string=) :compiled)
                             (t (recording-faults (syntax-change text package)))))))
                 (texts-with-packages (file-text file) (file-forms file))))))

(defun syntax-unknown-p (file wanted)
  "True if a form of FILE before the one with number WANTED changes the syntax only when the file is loaded whole."
  (and (find :loaded (file-syntax-changes file) :end (min (or wanted 0) (length (file-forms file)))) t))

(defun blank-text (text start end)
  "Blank TEXT between START and END, except line breaks."
  (loop for position from start below end
        unless (member (char text position) '(#\Newline #\Return)) do (setf (char text position) #\Space)))

(defun blank-form (text form)
  "Blank everything in FORM of TEXT, a list, except its parentheses, so that the positions and numbers of other forms stay."
  (blank-text text (1+ (top-level-form-start form)) (1- (top-level-form-end form))))

(defun enter-suite (text form)
  "If FORM of TEXT defines a suite and enters it, let it only enter it: defined again, the suite would lose its tests."
  (let* ((start (top-level-form-start form))
         (operator (definition-head text start (top-level-form-end form))))
    (when (and operator (string= "DEF-SUITE*" (operator-name operator)))
      (destructuring-bind ((first end) &optional name &rest options) (element-spans text start (top-level-form-end form) 2)
        (declare (ignore first options))
        (replace text "in-suite  " :start1 (- end (length "in-suite  ")))
        (when name (blank-text text (second name) (1- (top-level-form-end form))))))))

(defun encoded (text format)
  "The bytes of TEXT in FORMAT, or NIL if it cannot be written so."
  (let ((octets (or-nil (sb-ext:string-to-octets text :external-format format))))
    (and octets (string= text (or (or-nil (sb-ext:octets-to-string octets :external-format format)) "")) octets)))

(defun masked-text (file wanted)
  "The text of FILE up to the form after number WANTED, in which all forms are blank except that and those before it that set its context."
  (loop with text = (copy-seq (file-text file))
        for form in (file-forms file)
        for number from 0 to (1+ wanted)
        if (and (< number wanted) (eq :compiled (aref (file-syntax-changes file) number)))
          do (enter-suite text form)
        else unless (or (= number wanted) (char/= #\( (char text (top-level-form-start form))))
          do (blank-form text form)
        initially (fill text #\Space :end (first-line-end text))
        maximize (top-level-form-end form) into end
        finally (return (subseq text 0 end))))

;;; Compiling and loading

(defun naming-readtable (truename)
  "A readtable that makes COMPILE-FILE compile its forms as those of the file TRUENAME, and then is replaced by the current one."
  (let* ((own *readtable*)
         (readtable (copy-readtable own)))
    (multiple-value-bind (read-list non-terminating) (get-macro-character #\( own)
      (when read-list
        (set-macro-character #\(
                             (lambda (stream char)
                               (setf *compile-file-truename* truename
                                     *compile-file-pathname* truename
                                     *readtable* own)
                               (funcall read-list stream char))
                             non-terminating readtable)))
    readtable))

(defun write-octets (octets name)
  "Write OCTETS to the new file with the native NAME."
  (with-open-file (stream (sb-ext:parse-native-namestring name) :direction :output :if-exists :error :element-type '(unsigned-byte 8))
    (write-sequence octets stream)))

(defun write-draft (file number draft)
  "Write to the new file DRAFT the text of FILE in which all but the form NUMBER are blank, with the date of FILE."
  (let ((name (sb-ext:native-namestring draft))
        (time (- (file-date file) (encode-universal-time 0 0 0 1 1 1970 0))))
    (write-octets (encoded (masked-text file number) (file-format file)) name)
    (sb-posix:utime name time time)))

(defun compile-draft (file draft fasl)
  "Compile DRAFT, which stands for FILE, to FASL."
  (let ((*readtable* (naming-readtable (file-truename file)))
        ;; notes have what the compiler prints
        (*error-output* (make-broadcast-stream)))
    (with-compilation-unit (:source-namestring (sb-ext:native-namestring (file-truename file)))
      (compile-file draft :output-file fasl :verbose nil :print nil :external-format (file-format file)))))

(defun placed-note (note file number)
  "NOTE, about the form NUMBER of FILE, with its place."
  (let ((path (noted-file note)))
    (cond ((and path (not (equal "draft" (pathname-name (pathname path))))) note)
          (t (setf (noted-file note) (file-truename file))
             (unless (or (noted-path note) (noted-position note)) (setf (noted-path note) (list number)))
             note))))

(defun call-with-file-variables (function)
  "Call FUNCTION, which compiles or loads a part of a file, with bindings of the variables that ASDF-FLV binds for each file."
  (let ((variables (remove-if-not #'boundp (value-if-loaded "NET.DIDIERVERNA.ASDF-FLV" "*FILE-LOCAL-VARIABLES*"))))
    (progv variables (mapcar #'symbol-value variables) (funcall function))))

(defun call-noting-form (file number function)
  "Call FUNCTION, which compiles or loads form NUMBER of FILE. => the notes except compiler notes, and the number of those not kept"
  (multiple-value-bind (notes omitted)
      (handler-bind ((warning #'muffle-warning)
                     (sb-ext:compiler-note #'muffle-warning))
        (call-collecting-notes (lambda () (call-with-file-variables function))))
    (values (loop for note in notes
                  unless (eq :note (noted-severity note)) collect (placed-note note file number))
            omitted)))

(note-frame-role 'load-compiled-as :loads)

(defun call-with-compiled-form (file number function)
  "Compile the form NUMBER of FILE, and call FUNCTION with the notes and, unless there was an error, a function that loads it."
  (call-with-folder
   (lambda (folder)
     (let ((draft (file-in folder "draft.lisp"))
           (fasl (file-in folder "draft.fasl")))
       (write-draft file number draft)
       (let ((notes (with-initial-handlers ; the evaluation's would report the draft
                      (call-noting-form file number (lambda () (compile-draft file draft fasl))))))
         (funcall function notes
                  (and (probe-file fasl)
                       (notany (lambda (note) (member (noted-severity note) '(:error :read-error))) notes)
                       (lambda () (call-own #'load-compiled-as (list fasl (file-truename file)))))))))))

;;; Loads the top-level forms of files that have changed since the files were loaded.

;;; The order in which the changed files of a program are loaded: that of their systems, with what these depend on before them.

(defun planned-files (system)
  "The native names of the files of SYSTEM and of those that it depends on, in the order in which ASDF loads them."
  (loop for pathname in (or-nil (required-files system))
        for truename = (named-file pathname)
        when truename collect (sb-ext:native-namestring truename)))

(defun first-loads ()
  "The native names of the files that this session's code has loaded, in the order in which each was first loaded."
  (loop for (kind name) in (reverse (ledger-loads (session-ledger (current-session))))
        when (eq kind :file) collect (sb-ext:native-namestring name)))

(defun in-loading-order (files)
  "FILES in the order in which they are to be loaded."
  (if (rest files)
      (let* ((systems (with-file-systems ()
                        (remove-duplicates (loop for file in files
                                                 for system = (system-of-file (file-truename file))
                                                 when system collect system)
                                           :test #'equal)))
             (order (append (mapcan #'planned-files systems) (first-loads))))
        (stable-sort (copy-list files) #'<
                     :key (lambda (file)
                            (or (position (sb-ext:native-namestring (file-truename file)) order :test #'string=)
                                (length order)))))
      files))

;;; What cannot be loaded form by form, and what is left to do after a form was loaded.

(defun change-operator (change)
  "The name of the operator of the form of CHANGE in its file, or NIL."
  (let* ((text (change-file-text change))
         (operator (and text (definition-head text 0 (length text)))))
    (and operator (operator-name operator))))

(defun package-of-change (change)
  "The package in which the form of CHANGE is read in its file, or NIL."
  (let ((file (change-file change)))
    (package-at (file-text file) (file-forms file) (change-number change) (file-initial-package file))))

(defun reason-to-reload (change moved)
  "The reason for not loading the form of CHANGE alone, or NIL. MOVED: the number of forms of its file that did not change and are in another
package now, and of deleted IN-PACKAGE forms."
  (let ((operator (change-operator change))
        (text (change-file-text change)))
    (cond ((null operator) nil)
          ((and (change-definition change) (string= operator "DEFSTRUCT")) :structure)
          ((and (change-definition change) (string= operator "DEFCONSTANT")) :constant)
          ((or (reader-form-p text (package-of-change change))
               (syntax-unknown-p (change-file change) (change-number change)))
           :reader)
          ((and (plusp moved) (or (change-moved change) (string= operator "IN-PACKAGE"))) :package))))

;;; What is left to do

(defconstant +macros-limit+ 20 "Most macros and inline functions whose users are looked up. Each takes up to 0.1 s.")

(defun code-of-definition (definition)
  "The function of DEFINITION, a function, macro or method; or NIL."
  (let ((name (definition-name definition)))
    (case (definition-kind definition)
      (:function (fdefinition name))
      (:macro (macro-function name))
      (:method (method-code (definition-method definition))))))

(defun names-compiled-in (definition)
  "The names by which code that is compiled refers to DEFINITION, a structure or a constant."
  (let ((name (definition-name definition)))
    (if (eq :structure (definition-kind definition))
        (cons name (structure-functions name))
        (list name))))

(defun users-of-old-data (change program)
  "((USER . FUNCTION) ...): the functions of PROGRAM that were compiled with the structure or constant of CHANGE."
  (let* ((changed (change-definition change))
         (names (names-compiled-in changed)))
    (loop for definition in (program-definitions program)
          for function = (or-nil (code-of-definition definition))
          when (and function (not (made-with-p definition changed)) (recording-faults (function-uses-p function names)))
            collect (let ((method (definition-method definition)) (name (definition-name definition)))
                      (if method
                          (cons (cons (first *method-function-names*) (method-name name method)) method)
                          (cons name function))))))

(defun made-with-p (definition other)
  "True if the form that made OTHER made DEFINITION, too."
  (and (form-number-of definition)
       (eql (form-number-of definition) (form-number-of other))
       (equal (definition-file-name definition) (definition-file-name other))))

(defun remark-on (change)
  "What has to be known about CHANGE after it was loaded: :OLD-EXPANSION, :VALUE-KEPT, :PACKAGE-KEPT, or NIL."
  (when (change-definition change)
    (case (change-kind change)
      ((:compiler-macro :type :setf-expander :symbol-macro) :old-expansion)
      (:variable (and (equal "DEFVAR" (change-operator change)) (boundp (definition-name (change-definition change))) :value-kept))
      (:package (and (not (eq :maybe-changed (change-state change))) :package-kept)))))

(defstruct form-load
  "How far the loading of CHANGE is. OUTCOME: :PENDING, what was done, or the reason why it was not loaded. REMARK: what USERS still need."
  change outcome
  (remark nil)
  ;; true if it has stopped, and this was said
  (told nil)
  ;; the code of the old function or method, if it is of no other definition
  (code nil)
  ;; ((NAME . FUNCTION) ...) that were compiled with the old macro, or function that is inline or that macros call
  (users '()))

(defstruct (load-run (:conc-name run-))
  "One call of LOAD-CHANGES. LOADS: in the order of loading. FILES: (FILE STATE) of those that were compared. NOTES: the latest first."
  loads files
  (notes '())
  (omitted 0)
  ;; as EXPANDED-WITH says
  (macros (list nil)))

;;; What to load

(defun users-before (run change)
  "((USER . FUNCTION) ...): the functions that use the old macro, or the function that is inline or that macros call, of CHANGE, before RUN loads it."
  (let ((definition (change-definition change)))
    (when (and definition (member (change-kind change) '(:macro :function)))
      (recording-faults (compiled-users (definition-name definition) (change-kind change) (run-macros run))))))

(defun form-load-file (load)
  "The file of LOAD."
  (change-file (form-load-change load)))

(defun file-form-loads (file changes program)
  "What is to become of CHANGES, all of FILE, a file of PROGRAM."
  (let ((moved (+ (moved-forms file) (count-if #'deleted-package-p changes))))
    (loop for change in changes
          for outcome = (cond ((deleted-package-p change) :package)
                              ((eq :deleted (change-state change)) :deleted)
                              ((reason-to-reload (or (change-in-file change) change) moved))
                              (t :pending))
          collect (make-form-load :change change :outcome outcome
                                  :users (and (member outcome '(:structure :constant))
                                              (recording-faults (users-of-old-data change program)))))))

(defun deleted-package-p (change)
  "True if CHANGE is a deleted IN-PACKAGE form."
  (and (eq :deleted (change-state change)) (in-package-change-p change)))

(defparameter *loadable-states* '(:changed :new :maybe-changed :conflict :deleted) "The states of changes that LOAD-CHANGES loads.")

;;; Definitions that are evaluated again although their forms did not change

(defstruct (naming (:type list))
  "What a name of LOAD-CHANGES means: ((FILE . NUMBER) ...) of the forms that are to be evaluated again, and the reason why there are none, or NIL."
  name forms problem)

(defun form-place (definition program)
  "=> the file with the form of DEFINITION of PROGRAM and the number of the form, or NIL; and true if another text was evaluated"
  (if (definition-plist definition)
      (let ((change (evaluated-change definition program)))
        (if change
            (values nil nil (and (change-file change) t))
            (multiple-value-bind (file span number) (place-in-program definition program (definition-home definition))
              (declare (ignore span))
              (values file number))))
      (let* ((name (definition-file-name definition))
             (file (and name (file-now name))))
        (and file
             (multiple-value-bind (span number) (named-span definition file (form-number-of definition))
               (and span (values file number)))))))

(defun naming-of (text truename program)
  "The NAMING of TEXT, as code in the current package writes a name: NAME, (setf NAME) or (method NAME QUALIFIER... (SPECIALIZER...)). Only forms of
the file TRUENAME count unless that is NIL."
  (let* ((plain (if (method-text-p text) (plain-name-text text) text))
         (symbol (or-nil (symbol-named plain *package* nil)))
         (all (and symbol (remove-if-not (definition-matcher symbol text) (all-definitions symbol (setf-text-p plain)))))
         (definitions (if (method-text-p text) all (or (remove :method all :key #'definition-kind) all)))
         (unsaved nil)
         (forms '()))
    (dolist (definition definitions)
      (multiple-value-bind (file number unsaved-p) (or-nil (form-place definition program))
        (when unsaved-p (setf unsaved t))
        (when (and file number (or (null truename) (equal truename (file-truename file)))) (pushnew (cons file number) forms :test #'equal))))
    (list text (reverse forms) (cond (forms nil) (unsaved :unsaved) (definitions :no-file) (t :undefined)))))

(defun same-change (file number)
  "A change in the state :SAME, of the form NUMBER of FILE, which has not changed."
  (let* ((text (file-text file)) (form (nth number (file-forms file))))
    (form-change :same text form number (package-at text (file-forms file) number (file-initial-package file))
                 :file file :position (top-level-form-start form)
                 :text (form-text text form) :file-text (form-text text form))))

(defun with-forms-again (file changes numbers)
  "CHANGES, all of FILE, and a change for each other form of it with one of NUMBERS."
  (append changes
          (loop for number in numbers
                unless (find number changes :key #'change-number) collect (same-change file number))))

(defun wanted-load (load numbers)
  "LOAD, which becomes :UNWANTED unless its form has one of NUMBERS."
  (unless (member (change-number (form-load-change load)) numbers)
    (setf (form-load-outcome load) :unwanted))
  load)

(defun run-of-forms (forms changes program)
  "The run that evaluates FORMS, (FILE . NUMBER) each, of PROGRAM again, in the order of loading. What else has changed, by CHANGES, is :UNWANTED
in it."
  (make-load-run
   :files '()
   :loads (loop for file in (in-loading-order (remove-duplicates (mapcar #'car forms)))
                for numbers = (sort (loop for (other . number) in forms when (eq other file) collect number) #'<)
                for own = (remove-if-not (lambda (change)
                                           (and (eq file (change-file change))
                                                (member (change-state change) *loadable-states*)))
                                         changes)
                append (mapcar (lambda (load) (wanted-load load numbers))
                               (file-form-loads file (in-order (with-forms-again file own numbers)) program)))))

(defun named-run (texts truename)
  "=> the run that evaluates again what TEXTS name, in the file TRUENAME or, if that is NIL, in all files, in the order of loading; and their
NAMINGs. What else has changed is :UNWANTED in it."
  (multiple-value-bind (changes states program) (all-changes nil)
    (declare (ignore states))
    (let ((namings (mapcar (lambda (text) (naming-of text truename program)) texts)))
      (values (run-of-forms (mapcan (lambda (naming) (copy-list (naming-forms naming))) namings) changes program)
              namings))))

(defun planned-run (truename)
  "The run that loads the changes of the file TRUENAME, by default of all files."
  (multiple-value-bind (changes states program) (all-changes truename)
    (let ((wanted (remove-if-not (lambda (change) (member (change-state change) *loadable-states*)) changes)))
      (make-load-run :files states
                     :loads (loop for file in (in-loading-order (remove-duplicates (mapcar #'change-file wanted)))
                                     append (file-form-loads file (remove file wanted :key #'change-file :test-not #'eq) program))))))

;;; The text that is loaded

(defun text-now-loaded (file loads)
  "The text of FILE with the forms of LOADS, all of FILE, as the image has them."
  (if (find-if (lambda (load) (deleted-package-p (form-load-change load))) loads)
      (old-text-now-loaded file loads)
      (new-text-now-loaded file loads)))

(defun old-text-now-loaded (file loads)
  "The text of FILE when it was loaded, with what LOADS has loaded since: an IN-PACKAGE form that is no longer in FILE keeps its place."
  (let ((text (text-as-loaded file)))
    (dolist (load loads text)
      (let* ((change (form-load-change load))
             (old (change-text change))
             (start (and old (search old text))))
        (when (eq :loaded (form-load-outcome load))
          (setf text (if start
                         (concatenate 'string (subseq text 0 start) (change-file-text change) (subseq text (+ start (length old))))
                         (format nil "~a~%~a" text (change-file-text change)))))))))

(defun new-text-now-loaded (file loads)
  "TEXT-NOW-LOADED by the text that FILE has now. Forms keep their numbers; deleted ones are at the end."
  (let ((text (file-text file)) (deleted '()))
    (dolist (load (reverse loads))
      (let* ((change (or (change-in-file (form-load-change load)) (form-load-change load)))
             (form (and (change-number change) (nth (change-number change) (file-forms file)))))
        (cond ((eq :deleted (form-load-outcome load)) (push change deleted))
              ((and form (not (eq :loaded (form-load-outcome load))))
               (setf text (concatenate 'string (subseq text 0 (top-level-form-start form)) (unloaded-text change)
                                       (subseq text (top-level-form-end form))))))))
    (format nil "~a~{~a~}" text (mapcar #'deleted-text deleted))))

(defun unloaded-text (change)
  "The text that the form of CHANGE, which was not loaded, had when its file was loaded. If that is not known, it says so."
  (cond ((eq :new (change-state change)) "()")
        ((change-text change))
        (t (multiple-value-bind (operator name) (definition-head (change-file-text change) 0 (length (change-file-text change)))
             (format nil "(~a ~a ...)" operator name)))))

(defun deleted-text (change)
  "The text to keep of the form of CHANGE, which the file no longer has."
  (let ((package (definition-home (change-definition change))))
    (if (and package (change-text change))
        (format nil "~%(in-package ~s)~%~a" (package-name package) (change-text change))
        "")))

(defun note-loaded-forms (run file)
  "The image has the forms of FILE that RUN has loaded."
  (let ((loads (remove file (run-loads run) :key #'form-load-file :test-not #'eq)))
    (recording-faults (note-image-text (file-truename file)
                                       (sb-ext:string-to-octets (text-now-loaded file loads) :external-format (file-format file))
                                       (file-date file)))))

;;; Stops

(defun change-place (change)
  "The definition or form of CHANGE with its place, as text."
  (let ((kind (change-kind change))
        (file (change-file change)))
    (multiple-value-bind (line column) (position-of (file-text file) (change-position change))
      (format nil "~:[~(~a~) ~;~*~]~a ~a:~d:~d" (eq kind :method) (substitute #\Space #\- (string (or kind :form)))
              (change-name change) (shown-file (file-truename file)) line column))))

(defun stop-text (run load heading)
  "Where RUN stands in LOAD, which HEADING describes: what was loaded, and what was not."
  (flet ((places (outcome)
           (loop for other in (run-loads run)
                 when (and (eq outcome (form-load-outcome other)) (not (eq other load)))
                   collect (change-place (form-load-change other)))))
    (format nil "~a ~a.~%Loaded: ~:[nothing~;~:*~{~a~^, ~}~].~%Not loaded: ~:[nothing else~;~:*~{~a~^, ~}~].~%"
            heading (change-place (form-load-change load)) (places :loaded) (places :pending))))

(defun print-line (text)
  "Print TEXT, as far as that is possible."
  (or-nil (fresh-line) (write-string text) (finish-output)))

(defun call-telling-stops (run load function)
  "Call FUNCTION, which loads LOAD. When it first stops, print where RUN stands."
  (let* ((next sb-ext:*invoke-debugger-hook*)
         (sb-ext:*invoke-debugger-hook*
           (lambda (condition hook)
             (unless (shiftf (form-load-told load) t)
               (print-line (stop-text run load "Stopped in")))
             (funcall next condition hook))))
    (funcall function)))

;;; Loading

(defun load-one (run load function)
  "Call FUNCTION, which loads the form of LOAD. => :LOADED or :SKIPPED"
  (restart-case (progn (call-telling-stops run load function) :loaded)
    (skip-form ()
      :report (lambda (stream) (format stream "Leave out ~a, and load the others." (change-place (form-load-change load))))
      :skipped)))

(defun load-noting (run load function)
  "LOAD-ONE with its warnings as notes of RUN."
  (let ((change (form-load-change load)) (outcome nil))
    (add-notes run (call-noting-form (change-file change) (change-number change)
                                     (lambda () (setf outcome (load-one run load function)))))
    outcome))

(defun add-notes (run notes)
  "Add NOTES to those of RUN, each once."
  (dolist (note notes)
    (flet ((same-p (other)
             (and (string= (noted-text note) (noted-text other)) (equal (noted-path note) (noted-path other))
                  (equal (noted-file note) (noted-file other)))))
      (unless (find-if #'same-p (run-notes run))
        (if (< (length (run-notes run)) +notes-limit+)
            (push note (run-notes run))
            (incf (run-omitted run)))))))

(defun frozen-p (load)
  "True if LOAD is of a structure or constant, which is not loaded."
  (member (form-load-outcome load) '(:structure :constant)))

(defun code-before (change)
  "The code of the function or method of CHANGE, which is about to be loaded, or NIL."
  (let* ((definition (change-definition change))
         (function (and definition (member (change-kind change) '(:function :method)) (or-nil (code-of-definition definition)))))
    (and function (own-code function))))

(defun run-insiders (run)
  "((NAME COUNT ALL) ...): the numbers of other threads that are inside code that RUN has replaced, as THREADS-INSIDE says."
  (let ((replaced (loop for load in (run-loads run)
                        when (and (form-load-code load) (eq :loaded (form-load-outcome load)))
                          collect (cons (change-name (form-load-change load)) (form-load-code load)))))
    (and replaced (recording-faults (threads-inside replaced)))))

(defun load-form (run load)
  "Load the form of LOAD. => its outcome"
  (let ((change (form-load-change load)))
    (when (< (count-if #'form-load-users (run-loads run)) (+ +macros-limit+ (count-if #'frozen-p (run-loads run))))
      (setf (form-load-users load) (users-before run change)))
    (setf (form-load-remark load) (remark-on change))
    (setf (form-load-code load) (recording-faults (code-before change)))
    (call-with-compiled-form (change-file change) (change-number change)
                             (lambda (notes loader)
                               (add-notes run notes)
                               (if loader (load-noting run load loader) :failed)))))

(defun same-form-p (load other)
  "True if OTHER is pending and about the same top-level form as LOAD."
  (and (eq :pending (form-load-outcome other))
       (eq (form-load-file load) (form-load-file other))
       (eql (change-number (form-load-change load)) (change-number (form-load-change other)))))

(defun load-pending (run)
  "Load the pending forms of RUN, one after another, until one cannot be compiled."
  (dolist (load (run-loads run))
    (when (eq :pending (form-load-outcome load))
      (report-progress *evaluation* "Loading ~a" (change-place (form-load-change load)))
      (let* ((*package* (file-initial-package (form-load-file load)))
             (outcome (with-file-syntax ((current-session)) (load-or-tell run load))))
        (dolist (other (run-loads run))
          (when (same-form-p load other) (setf (form-load-outcome other) outcome)))
        (unless (eq :same (change-state (form-load-change load))) (note-loaded-forms run (form-load-file load)))
        (when (eq outcome :failed) (return))))))

(defun load-or-tell (run load)
  "LOAD-FORM. If that does not return because the evaluation is aborted, print where RUN stands unless a stop has done so."
  (let ((outcome nil))
    (unwind-protect (setf outcome (load-form run load))
      (unless (or outcome (form-load-told load))
        (print-line (stop-text run load "Aborted in the following form, which may be done in part:"))))))

;;; The reply

(defun form-load-entry (load)
  "The plist that describes LOAD."
  (let ((users (stale-users (form-load-users load)))
        (change (form-load-change load))
        (loaded (eq :loaded (form-load-outcome load))))
    (list* :outcome (form-load-outcome load)
           :remark (and loaded
                        (cond (users :old-expansion)
                              ((form-load-remark load))))
           :users (and (or loaded (frozen-p load)) users)
           (change-entry change))))

(defun unreadable-note (file)
  "The note about FILE, which cannot be read to its end."
  (let ((last (first (last (file-forms file)))))
    (make-note :severity :read-error :text "this form cannot be read" :file (file-truename file)
               :position (if last (top-level-form-end last) 0))))

(defun run-reply (run namings)
  "The reply of LOAD-CHANGES after RUN, which NAMINGS asked for."
  (let* ((unreadable (loop for (file state) in (run-files run) when (eq state :unreadable) collect file))
         (notes (append (mapcar #'unreadable-note unreadable)
                        (remove-if (lambda (note) (and (noted-undefined note) (not (undefined-yet-p (noted-undefined note)))))
                                   (reverse (run-notes run)))))
         (*room* +texts-limit+))
    (with-printing-time
      (list :loads
            (mapcar #'form-load-entry (remove :unwanted (run-loads run) :key #'form-load-outcome))
            (loop for (file state) in (run-files run) collect (list (shown-file (file-truename file)) state))
            (loop for note in notes collect (note-facts note nil))
            (run-omitted run)
            (loop for file in unreadable
                  when (< (length (file-text file)) +texts-limit+)
                    collect (list (shown-file (file-truename file)) (file-text file)))
            (loop for (text nil problem) in namings when problem collect (list text problem))
            (run-insiders run)))))

(defun load-changes (name &optional names)
  "Load the top-level forms of the file NAME, by default of all files, that have changed since they were loaded; or those of them that define NAMES,
also if they have not changed. Those after one that cannot be compiled are not loaded.
=> (:loads (ENTRY ...) ((FILE STATE) ...) (NOTE ...) COUNT-OF-OTHERS ((FILE TEXT) ...) ((NAME PROBLEM) ...) ((NAME COUNT ALL) ...))
 | (:file-not-found NAME (FILE ...) REASON)"
  (with-files ()
    (with-wanted-file (truename name)
      (let ((*known-operators* (make-hash-table :test 'eq)))
        (multiple-value-bind (run namings) (if names (named-run names truename) (planned-run truename))
          (load-pending run)
          (run-reply run namings))))))
