;;;; Which code uses a name, as SBCL has recorded it, and which definitions a function or class leads to.

(in-package #:swank-client/code)

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
      ((cons (eql compiler-macro-function)) (made :compiler-macro (second name)))
      (cons (let ((method (and (member (first name) *method-function-names*) (or-nil (method-of-code name)))))
              (if method
                  (made :method (second name) method)
                  (let ((test (or-nil (test-of-code name)))) (if test (test-definition test) (made :code))))))
      (t (made :code)))))

(defun recorded-users (users)
  "The definitions of USERS, ((NAME . RECORD) ...)."
  (loop for (name . record) in users collect (code-definition name (and (found-p record) record))))

;;; Functions that hold a function: code without cross references, and closures

(defun current-code-p (function name)
  "True if FUNCTION is what NAME, that of its code, means now, or if its file or form has made it without a name."
  (typecase name
    (symbol (and (fboundp name) (eq function (fdefinition name))))
    ((cons (eql setf)) (and (fboundp name) (eq function (fdefinition name))))
    ((cons (eql macro-function)) (eq function (macro-function (second name))))
    (cons (if (member (first name) *method-function-names*)
              (let ((method (or-nil (method-of-code name)))) (and method (eq function (method-code method))))
              ;; code inside of a named function is not a caller of its own
              (stringp (first (last name)))))))

(defun without-loading-code (holders)
  "HOLDERS, ((FUNCTION . DEFINITION) ...), without those of code that has no name, but is compiled together with that of a definition: it is what
made the definition when the file was loaded."
  (flet ((named-p (holder) (not (eq (definition-kind (rest holder)) :code))))
    (let ((named (loop for holder in holders when (named-p holder) collect (function-code (first holder)))))
      (remove-if (lambda (holder) (and (not (named-p holder)) (member (function-code (first holder)) named))) holders))))

(defun holders (function)
  "=> the definitions of the code that holds FUNCTION, and the names of all that code"
  (loop for holder in (or-nil (with-walk-of-code (sb-introspect:find-function-callers function)))
        for name = (function-code-name holder)
        when (or-nil (current-code-p holder name))
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
                       (recorded-users (sb-introspect:who-calls name)))
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

(defun class-definition (class)
  "The definition of CLASS."
  (let ((name (class-name class)) (kind (class-kind class)))
    (or (first (kind-definitions name (if (eq kind :built-in-class) :class kind)))
        (make-definition :kind :class :name name))))

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
      (:references (recorded-users (sb-introspect:who-references name)))
      (:bindings (recorded-users (sb-introspect:who-binds name)))
      (:assignments (recorded-users (sb-introspect:who-sets name)))
      (:macro-uses (recorded-users (sb-introspect:who-macroexpands name)))
      (:specializers (and class (mapcar #'method-definition (specializing-methods class))))
      (:subclasses (and class (mapcar #'class-definition (subclasses class)))))))
