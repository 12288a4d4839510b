;;;; Which code uses a name, as SBCL has recorded it, and why nothing is known to use it.

(in-package #:swank-client/questions)

;;; The names of code are those of the compiler: NAME, (SETF NAME), (MACRO-FUNCTION NAME), (FAST-METHOD NAME ...), (LAMBDA ...) and others.

(defun method-of-code (name)
  "The method whose code has the NAME, or NIL."
  (find name (methods-of (second name)) :key #'method-code-name :test #'equal))

(defun test-of-code (name)
  "The name of the test whose body is code with the NAME, (OPERATOR %TEST-NAME ...) as FiveAM makes it; or NIL."
  (let* ((inner (second name))
         (text (and (symbolp inner) (symbol-name inner)))
         (prefix (find-if (lambda (prefix) (eql 0 (search prefix text))) '("%TEST-" "%INNER-TEST-"))))
    (when prefix
      (let ((tests (remove (subseq text (length prefix)) (fiveam-tests) :key #'first :test-not #'string=)))
        (first (or (find (symbol-package inner) tests :key #'second) (first tests)))))))

(defun code-definition (name record)
  "The definition to which code with the NAME belongs. RECORD is SBCL's record of its place. Code without a definition is of kind :CODE."
  (flet ((made (kind &optional (name name) method)
           (make-definition :kind kind :name name :method method :record record)))
    (typecase name
      (symbol (made (if (macro-function name) :macro :function)))
      ((cons (eql setf)) (made :function))
      ((cons (eql macro-function)) (made :macro (second name)))
      ((cons (eql compiler-macro)) (made :compiler-macro (second name)))
      (cons (let ((method (and (member (first name) *method-function-names*) (or-nil (method-of-code name)))))
              (if method
                  (made :method (second name) method)
                  (let ((test (or-nil (test-of-code name)))) (if test (test-definition test) (made :code))))))
      (t (made :code)))))

(defun recorded-users (kind name)
  "The definitions with a cross reference of KIND, such as :CALLS, to NAME."
  (loop for (user . record) in (recorded-references kind name) collect (code-definition user (and record (found-p record) record))))

;;; Functions that hold a function: code without cross references, and closures

(defun current-meaning-p (function name)
  "True if FUNCTION is what NAME, that of its code, means now, or if its file or form has made it without a name."
  (multiple-value-bind (functions named) (functions-named name)
    (if named
        (member function functions)
        ;; code inside of a named function is not a caller of its own
        (and (consp name) (stringp (first (last name)))))))

(defun without-loading-code (holders)
  "HOLDERS, ((FUNCTION . DEFINITION) ...), without those of code that has no name, but is compiled together with that of a definition: it is what
made the definition when the file was loaded."
  (flet ((named-p (holder) (not (eq (definition-kind (rest holder)) :code))))
    (let ((named (loop for holder in holders when (named-p holder) collect (function-code (first holder)))))
      (remove-if (lambda (holder) (and (not (named-p holder)) (member (function-code (first holder)) named))) holders))))

(defun holders (function)
  "=> the definitions of the code that holds FUNCTION, and the names of all that code"
  (loop for holder in (or-nil (with-walk-of-memory (sb-introspect:find-function-callers function)))
        for name = (function-code-name holder)
        when (or-nil (current-meaning-p holder name))
          collect (cons holder (code-definition name (or-nil (sb-introspect:find-definition-source holder)))) into holders
          and collect name into names
        finally (return (values (mapcar #'rest (without-loading-code holders)) names))))

(defun callers (name)
  "The definitions of the code that calls NAME, a function. Which functions of a file the cross references name depends on the SBCL, so code
without a name that also holds the function is not taken from them."
  (multiple-value-bind (holders names)
      (and (fboundp name)
           (not (and (symbolp name) (or (macro-function name) (special-operator-p name))))
           (holders (fdefinition name)))
    (append (remove-if (lambda (definition)
                         (and (eq (definition-kind definition) :code) (member (definition-name definition) names :test #'equal)))
                       (recorded-users :calls name))
            holders)))

;;; Functions that a function holds

(defun codes-of (name)
  "The functions that are compiled for NAME, a function, macro or generic function."
  (let ((function (or (and (symbolp name) (macro-function name)) (fdefinition name))))
    (if (typep function 'generic-function)
        (mapcar #'method-code (methods-of name))
        (list function))))

(defun operator-definition (name)
  "The definition of the function NAME."
  (or (loop for kind in '(:function :generic-function :macro)
            thereis (find-if #'definition-record (kind-definitions name kind)))
      ;; a generic function that its methods have made
      (first (method-definitions name))
      (make-definition :kind :function :name name)))

(defparameter *internal-packages* '("SB-C" "SB-IMPL" "SB-INT" "SB-KERNEL" "SB-PCL" "SB-SYS" "SB-VM")
  "Packages of functions that SBCL calls on its own behalf.")

(defun called-on-behalf-p (name)
  "True if code calls the function NAME only because the compiler put the call there."
  (and (symbolp name) (member (home-name name) *internal-packages* :test #'equal)))

(defun names-called (function)
  "The names of the functions that FUNCTION holds, and of those that it is known to call. An interpreted function holds only the evaluator's."
  (and (compiled-function-p function)
       (append (mapcar #'function-code-name (or-nil (sb-introspect:find-function-callees function)))
               (or-nil (lisp-functions-called function)))))

(defun callees (name)
  "The definitions of the functions that the code of NAME calls."
  (loop for callee in (remove-duplicates (mapcan #'names-called (codes-of name)) :test #'equal)
        when (and (or (symbolp callee) (typep callee '(cons (eql setf)))) (not (called-on-behalf-p callee)))
          collect (operator-definition callee)))

;;; Classes

(defun subclasses (class)
  "The named classes that inherit from CLASS, the direct ones first."
  (let ((found '()) (left (list class)))
    (loop while left
          do (dolist (subclass (sb-mop:class-direct-subclasses (pop left)))
               (unless (member subclass found)
                 (push subclass found)
                 (setf left (append left (list subclass))))))
    (remove-if-not (lambda (subclass) (eq subclass (find-class (class-name subclass) nil))) (nreverse found))))

(defun method-definition (method)
  "The definition of METHOD."
  (make-definition :kind :method
                   :name (sb-mop:generic-function-name (sb-mop:method-generic-function method))
                   :method method
                   :record (or-nil (sb-introspect:find-definition-source method))))

(defun specializing-methods (class)
  "The methods of named generic functions that specialize on CLASS."
  (remove-if-not (lambda (method)
                   (let ((function (sb-mop:method-generic-function method)))
                     (and function (sb-mop:generic-function-name function))))
                 (sb-mop:specializer-direct-methods class)))

;;; All kinds

(defparameter *kinds-by-name* '(:callers :references :bindings :assignments :macro-uses)
  "Kinds of references whose code has the name.")

(defun referring (kind name)
  "The definitions that refer to NAME, a symbol or (SETF SYMBOL), as KIND says."
  (let ((class (and (symbolp name) (find-class name nil))))
    (ecase kind
      (:callers (callers name))
      (:callees (and (fboundp name) (not (and (symbolp name) (special-operator-p name))) (callees name)))
      (:references (recorded-users :references name))
      (:bindings (recorded-users :binds name))
      (:assignments (recorded-users :sets name))
      (:macro-uses (recorded-users :macroexpands name))
      (:specializers (and class (mapcar #'method-definition (specializing-methods class))))
      (:subclasses (and class (mapcar #'class-definition (subclasses class)))))))

;;; Why nothing is known to refer to a name.

(defun operator-kind (name)
  "The kind of operator that NAME, a symbol or (SETF SYMBOL), is, or NIL."
  (and (fboundp name) (function-kind name)))

(defun program-package (name)
  "The package whose code probably uses NAME: its own, or the current one if Lisp itself owns it."
  (let ((package (symbol-package (if (consp name) (second name) name))))
    (if (and package (package-name package)
             (not (eq package (find-package "COMMON-LISP"))) (not (implementation-package-p package)))
        package
        *package*)))

(defun map-package-functions (function package)
  "Call FUNCTION with each ordinary function whose name belongs to PACKAGE."
  (do-symbols (symbol package)
    (when (and (eq package (symbol-package symbol)) (fboundp symbol) (eq :function (function-kind symbol)))
      (funcall function (fdefinition symbol)))))

(defun data-reason (name)
  "Why code of the package of NAME may lack cross references, (:interpreted PACKAGE COUNT) or (:no-data PACKAGE COUNT), or NIL."
  (let ((package (program-package name)) (interpreted 0) (compiled 0) (known 0))
    (map-package-functions (lambda (function)
                             (cond ((not (compiled-function-p function)) (incf interpreted))
                                   (t (incf compiled)
                                      (when (function-references-p function) (incf known)))))
                           package)
    (cond ((plusp interpreted) (list :interpreted (package-name package) interpreted))
          ((and (plusp compiled) (zerop known)) (list :no-data (package-name package) compiled)))))

(defun caller-reason (name)
  "Why NAME cannot have callers, or why they may be unknown, or NIL."
  (case (operator-kind name)
    ((nil) :no-function)
    (:macro :macro)
    (:special-operator :special-operator)
    (t (and (inline-p name) :inline))))

(defun callee-reason (name)
  "Why no callees of NAME are known, or NIL."
  (case (operator-kind name)
    ((nil) :no-function)
    (:special-operator :special-operator)
    (t (and (notevery #'compiled-function-p (codes-of name)) :is-interpreted))))

(defun variable-reason (kind name)
  "Why NAME cannot be used as a variable in the way of KIND, or NIL."
  (if (consp name)
      :no-variable
      (case (compiler-info :variable :kind name)
        (:unknown :no-variable)
        (:macro :symbol-macro)
        (:constant (if (eq kind :references) :constant-inlined :constant)))))

(defun macro-reason (name)
  "Why NAME cannot be used as a macro, or NIL."
  (case (operator-kind name)
    ((nil) (if (and (symbolp name) (eq :macro (compiler-info :variable :kind name))) :symbol-macro :no-macro))
    (:macro nil)
    (:special-operator :special-operator)
    (t :function)))

(defun class-reason (name)
  "Why NAME has no methods or subclasses, or NIL."
  (cond ((and (symbolp name) (find-class name nil)) nil)
        ((and (symbolp name) (eq :defined (compiler-info :type :kind name))) :type)
        (t :no-class)))

(defun other-meanings (name)
  "What NAME is, each as the reason to ask for references of another kind."
  (append (case (operator-kind name)
            ((nil) '())
            (:macro '(:macro))
            (:special-operator '())
            (t '(:function)))
          (and (symbolp name) (eq :special (compiler-info :variable :kind name)) '(:variable))
          (and (symbolp name) (find-class name nil) '(:class))))

(defun reasons (kind name)
  "Why nothing refers to NAME as KIND says: ((REASON PACKAGE FUNCTIONS) ...), where only :INTERPRETED and :NO-DATA have a package and a number."
  (let* ((reason (ecase kind
                   (:callers (caller-reason name))
                   (:callees (callee-reason name))
                   ((:references :bindings :assignments) (variable-reason kind name))
                   (:macro-uses (macro-reason name))
                   ((:specializers :subclasses) (class-reason name))))
         (data (and (member kind *kinds-by-name*)
                    (member reason '(nil :inline :constant-inlined))
                    (recording-faults (data-reason name)))))
    (append (and reason (list (list reason nil nil)))
            (when (member reason '(:no-function :no-variable :no-macro :no-class))
              (loop for meaning in (other-meanings name) collect (list meaning nil nil)))
            (and data (list data)))))

;;; Finds the definitions that use a name.

(defconstant +uses-limit+ 10 "Lines in one definition that are listed.")

(defconstant +names-limit+ 30 "Definitions of Lisp itself that are named.")

;;; Order

(defun place-key (definition)
  "A list by which definitions are sorted: files below the image's directory, other files, evaluations; then by position."
  (multiple-value-bind (path number) (path-now definition)
    (list (cond ((null path) 2)
                ((below-p path) 0)
                (t 1))
          (or path "")
          (or (and path number) 0)
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

(defun symbols-in (name)
  "The symbols in NAME, that of code."
  (typecase name
    (cons (append (symbols-in (first name)) (symbols-in (rest name))))
    (symbol (list name))))

(defun this-librarys-p (definition)
  "True if DEFINITION is this library's, of any version in the image. Only the parameters tell of a function without a name."
  (let ((name (definition-name definition)))
    (some (lambda (package) (and package (runtime-package-p package)))
          (append (mapcar #'symbol-package (if (eq :code (definition-kind definition)) (symbols-in name) (list (symbol-of-code name))))
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
         (form (and number (dated-as-now-p file source) (nth number (file-forms file)))))
    (cond ((and record (stringp (getf (sb-introspect:definition-source-plist record) :emacs-string)))
           (evaluated-entry definition (sb-introspect:definition-source-plist record)))
          (form (apply #'text-entry definition :loaded
                       :text (subseq (file-text file) (top-level-form-start form) (top-level-form-end form))
                       (place-facts file (top-level-form-start form))))
          (t (text-entry definition :unrecorded :file (and pathname (record-path definition)))))))

(defun use-lines (text line name)
  "The lines after LINE, the first one of TEXT, that have the name NAME."
  (let ((lines (remove-duplicates (loop for position in (token-positions text name)
                                        collect (+ line (count #\Newline text :end position))))))
    (subseq (remove line lines) 0 (min +uses-limit+ (count line lines :test #'/=)))))

(defun reference-entry (definition used)
  "The plist that describes DEFINITION: that of DEFINITION-ENTRY, with the first line of its form as :HEAD instead of the :TEXT, and as :USES
the further lines that have the name USED, unless that is NIL."
  (let* ((*room* most-positive-fixnum)
         (entry (or (and (eq (definition-kind definition) :code) (recording-faults (code-entry definition)))
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
                                   for path = (path-now definition)
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
  (with-printing-time
    (loop for definition in definitions collect (reference-entry definition used))))

(defun lisps-names (definitions)
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
  (multiple-value-bind (programs own) (split-by-owner (remove-if #'this-librarys-p (each-once (recording-faults (referring kind name)))))
    (let ((sorted (by-place programs)) (count (length programs)))
      (list (page-entries (subseq sorted (min start count) (min (+ start limit) count))
                          (and (member kind *kinds-by-name*) (symbol-name (if (consp name) (second name) name))))
            count
            (count-files sorted)
            (length own)
            (lisps-names own)
            (and (null programs) (null own) (reasons kind name))))))

(defun find-references (text package-text kind start limit)
  "The definitions that refer to the name TEXT, NAME or (setf NAME), as KIND says, from index START, at most LIMIT.
=> (:found NAME (ENTRY ...) COUNT FILES COUNT-OF-LISPS-OWN (OWN-NAME ...) (REASON ...)) | the replies of CALL-WITH-NAMED"
  (with-code-session (package-text)
    (call-with-named text
                     (lambda (symbol status package)
                       (declare (ignore status package))
                       (let ((name (if (setf-text-p (trimmed text)) (list 'setf symbol) symbol)))
                         (list* :found (name-text name) (with-files () (references kind name start limit))))))))
