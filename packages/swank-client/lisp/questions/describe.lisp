;;;; Describes the meanings of a symbol.

(in-package #:swank-client/questions)

;;; Arglists, values and documentation as text.

(defconstant +arglist-limit+ 2000 "Characters shown of a lambda list.")

(defconstant +value-text-limit+ 2000 "Characters shown of a value.")

(defconstant +documentation-limit+ 8000 "Characters shown of a docstring.")

;;; Lambda lists

(defun unqualified (symbol)
  "A symbol that prints as SYMBOL does, without a package."
  (if (or (null symbol) (member symbol lambda-list-keywords)) symbol (make-symbol (symbol-name symbol))))

(defun unqualified-variable (item)
  "ITEM, an optional parameter, with unqualified names and the default unchanged."
  (if (atom item)
      (unqualified item)
      (destructuring-bind (variable . default) item
        (let ((supplied (second default)))
          `(,(unqualified-keyword-variable variable)
            ,@(and default (list (first default)))
            ,@(and supplied (list (unqualified supplied))))))))

(defun unqualified-keyword-variable (variable)
  "VARIABLE with unqualified names: a name, or (KEYWORD NAME), which becomes NAME if both are the same."
  (if (consp variable)
      (destructuring-bind (keyword parameters) variable
        (if (and (symbolp parameters) (string= keyword parameters))
            (unqualified parameters)
            (list keyword (unqualified-parameters parameters))))
      (unqualified variable)))

(defun unqualified-parameters (lambda-list)
  "LAMBDA-LIST, possibly that of a macro, with parameters that print without packages."
  (cond ((null lambda-list) '())
        ((atom lambda-list) (unqualified lambda-list))
        (t (let ((place nil))
             (labels ((item (item)
                        (cond ((member item lambda-list-keywords) (setf place item))
                              ((member place '(&optional &key &aux)) (unqualified-variable item))
                              (t (unqualified-parameters item))))
                      (rest-of (tail)
                        (cond ((null tail) '())
                              ((atom tail) (unqualified tail))
                              (t (cons (item (first tail)) (rest-of (rest tail)))))))
               (rest-of lambda-list))))))

(defun code-text (code package limit)
  "CODE on one line, as written in PACKAGE."
  (with-name-syntax (package)
    (with-bounded-printing (:length 100 :level 10)
      (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum) (*print-gensym* nil))
        (on-one-line (truncated limit (lambda (stream) (prin1 code stream))))))))

(defun lambda-list-text (lambda-list symbol)
  "LAMBDA-LIST of the operator SYMBOL as text, or NIL if printing fails."
  (or-nil
   (if (null lambda-list)
       "()"
       (code-text (unqualified-parameters lambda-list) (home-package symbol) +arglist-limit+))))

(defun arglist-text (name symbol)
  "The parameters of the operator NAME as text, or NIL if they are unknown."
  (multiple-value-bind (lambda-list unknown) (or-nil (sb-introspect:function-lambda-list name))
    (unless unknown (lambda-list-text lambda-list symbol))))

;;; Values

(defun session-value (symbol)
  "=> the value of SYMBOL for code of the session, and whether it has one"
  (let* ((session (current-session))
         (place (position symbol *session-variables*)))
    (cond ((eq symbol '*package*) (values (session-package-now session) t))
          ((eq symbol '*readtable*) (values (code-readtable session (session-package-now session)) t))
          (place (values (nth place (session-values session)) t))
          (t (handler-case (values (sb-ext:symbol-global-value symbol) t)
               (error () (values nil nil)))))))

(defun printed-and-cut (value)
  "(TEXT CUT) for VALUE, see PRINT-VALUE."
  (with-bounded-printing (:length 20 :level 3)
    (let ((*print-circle* t)
          (sb-ext:*suppress-print-errors* nil))
      (multiple-value-bind (text cut) (print-value value +value-text-limit+)
        (list text cut)))))

(defun value-entry (value package)
  "(TEXT CUT) for VALUE, printed in PACKAGE within the limits for descriptions of symbols."
  (flet ((text ()
           (handler-case (printed-and-cut value)
             (storage-condition () (restore-guard-page) nil)
             (serious-condition () nil))))
    (or (with-session-settings ((current-session))
          (let ((*package* (live-or-user package)))
            (if (typep value '(or fixnum symbol character))
                (text)
                (with-printing-time (in-time nil (text))))))
        (list "<error printing value>" nil))))

;;; Documentation

(defun documentation-text (name kind)
  "The docstring of NAME as KIND, or NIL."
  (let ((text (or-nil (if (eq kind 'type) (type-docstring name) (documentation name kind)))))
    (when (and (stringp text) (string/= text ""))
      (let ((missing (- (length text) +documentation-limit+)))
        (if (plusp missing)
            (format nil "~a... [~d more characters]" (subseq text 0 +documentation-limit+) missing)
            text)))))

;;; The methods that a call of a generic function would run. Arguments are read as data: nothing is evaluated.

(defvar *call* '() "The sources of the arguments of a call whose methods are to be listed. They are read in the current package.")

(defun read-datum (source)
  "Read SOURCE, one expression, without running code or interning."
  (let ((forms (read-without-interning source (data-readtable *readtable*) :most nil)))
    (if (= (length forms) 1)
        (first forms)
        (error "~a is ~d expressions, but each argument is one." source (length forms)))))

(defun object-reference-p (form)
  "True if FORM is (swank-objects:ref NUMBER)."
  (and (typep form '(cons symbol (cons integer null)))
       (string= (first form) "REF")
       (equal (home-name (first form)) "SWANK-OBJECTS")))

(defun symbol-argument (symbol)
  "The argument that SYMBOL means: the value of a variable, or an instance of a class."
  (multiple-value-bind (value bound) (session-value symbol)
    (cond (bound (list :object value))
          ((find-class symbol nil) (list :class (find-class symbol)))
          (t (error "~a is neither a variable with a value nor a class." symbol)))))

(defun read-argument (source)
  "The argument that SOURCE means, as EFFECTIVE-METHODS takes it."
  (let ((form (read-datum source)))
    (cond ((typep form '(cons (eql quote) (cons t null))) (list :object (second form)))
          ((object-reference-p form) (list :object (call-if-loaded "SWANK-OBJECTS" "REF" (second form))))
          ((consp form)
           (error "~a would have to be evaluated. Write a literal, 'data, a variable, (swank-objects:ref N) or the name of a class." source))
          ((and (symbolp form) (not (keywordp form)) form) (symbol-argument form))
          (t (list :object form)))))

(defun takes-count-p (function count)
  "True if the generic FUNCTION takes COUNT arguments."
  (let ((required (required-count function)))
    (and (>= count required)
         (or (= count required)
             (> (length (sb-mop:generic-function-lambda-list function)) required)))))

(defun methods-called (name)
  "The methods that *CALL* runs if it calls NAME.
=> (:methods ENTRIES), as METHOD-ENTRIES returns them | (:unknown REASON) | NIL if NAME is no generic function"
  (let ((function (generic-function-named name)))
    (handler-case
        (cond ((null function) nil)
              ((not (takes-count-p function (length *call*)))
               (list :unknown (format nil "it takes ~d required argument~:p, not ~d." (required-count function) (length *call*))))
              (t (with-printing-time
                   (list :methods (method-entries name (effective-methods function (mapcar #'read-argument *call*)))))))
      (storage-condition () (restore-guard-page) (list :unknown "computing them has exhausted the stack or the heap."))
      (error (problem) (list :unknown (report-text problem 500))))))

(defun meaning (kind name symbol documentation-kind source-kind &rest facts)
  "(KIND :name TEXT :documentation TEXT :source SOURCE . FACTS)"
  (list* kind
         :name (if (consp name) (format nil "(SETF ~a)" (qualified-name symbol)) (qualified-name symbol))
         :documentation (documentation-text name documentation-kind)
         :source (source-entry source-kind name)
         facts))

;;; Operators

(defun function-kind (name)
  "The kind of operator that NAME is."
  (cond ((and (symbolp name) (macro-function name)) :macro)
        ((and (symbolp name) (special-operator-p name)) :special-operator)
        ((typep (fdefinition name) 'generic-function) :generic-function)
        (t :function)))

(defun operator-meaning (name symbol)
  "The meaning of NAME, SYMBOL or (SETF SYMBOL), as an operator, or NIL."
  (when (fboundp name)
    (let ((kind (function-kind name)))
      (apply #'meaning kind name symbol 'function kind
             :arglist (arglist-text name symbol)
             :methods (and (eq kind :generic-function) (length (methods-of name)))
             (and *call* (list :call (methods-called name)))))))

(defun setf-meaning (symbol)
  "The meaning of (SETF SYMBOL), or NIL."
  (or (operator-meaning (list 'setf symbol) symbol)
      (and (compiler-info :setf :expander symbol)
           (list* :setf-expander
                  :name (format nil "(SETF ~a)" (qualified-name symbol))
                  :documentation (documentation-text symbol 'setf)
                  :source (source-entry :setf-expander symbol)
                  (list :arglist nil :methods nil)))))

;;; Classes and types

(defun name-texts (names symbol)
  "NAMES as code in the package of SYMBOL writes them."
  (mapcar (lambda (name) (code-text name (home-package symbol) 200)) names))

(defun class-meaning (symbol)
  "The meaning of SYMBOL as a class, or NIL."
  (let ((class (find-class symbol nil)))
    (when class
      (let ((kind (class-kind class)))
        (meaning kind symbol symbol 'type (if (eq kind :built-in-class) :class kind)
                 :superclasses (name-texts (or-nil (mapcar #'class-name (sb-mop:class-direct-superclasses class))) symbol)
                 :slots (mapcar #'symbol-name
                                (or-nil (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))))))))

(defun type-arglist (symbol)
  "The parameters of the type SYMBOL, or NIL."
  (multiple-value-bind (lambda-list known) (or-nil (sb-introspect:deftype-lambda-list symbol))
    (and known lambda-list (lambda-list-text lambda-list symbol))))

(defun type-meaning (symbol)
  "The meaning of SYMBOL as a type that is not a class, or NIL."
  (when (and (null (find-class symbol nil)) (eq (compiler-info :type :kind symbol) :defined))
    (meaning :type symbol symbol 'type :type
             :arglist (type-arglist symbol)
             :expansion (or-nil (code-text (sb-ext:typexpand-1 symbol) (home-package symbol) +arglist-limit+)))))

;;; Variables

(defun variable-meaning (symbol package)
  "The meaning of SYMBOL as a variable, or NIL. Its value is printed in PACKAGE."
  (multiple-value-bind (value bound) (session-value symbol)
    (let* ((info (compiler-info :variable :kind symbol))
           (kind (cond ((keywordp symbol) :constant)
                       ((eq info :constant) :constant)
                       ((member info '(:special :global :alien)) :variable)
                       ((and bound (eq info :unknown)) :undeclared-variable))))
      (when kind
        (meaning kind symbol symbol 'variable (if (eq kind :constant) :constant :variable)
                 :value (and bound (value-entry value package)))))))

(defun symbol-macro-meaning (symbol)
  "The meaning of SYMBOL as a symbol macro, or NIL."
  (when (eq (compiler-info :variable :kind symbol) :macro)
    (meaning :symbol-macro symbol symbol 'variable :symbol-macro
             :expansion (or (or-nil (code-text (macroexpand-1 symbol) (home-package symbol) +arglist-limit+)) "?"))))

;;; All meanings

(defun meanings (symbol package)
  "All meanings of SYMBOL. Values are printed in PACKAGE."
  (remove nil (list (operator-meaning symbol symbol)
                    (class-meaning symbol)
                    (variable-meaning symbol package)
                    (symbol-macro-meaning symbol)
                    (type-meaning symbol)
                    (setf-meaning symbol))))

(defun not-found (text name written package-name)
  "The reply if NAME, as WRITTEN in TEXT, is not in the package PACKAGE-NAME, with suggestions."
  (let ((found (symbols-elsewhere name written)))
    (list :symbol-not-found name package-name
          (subseq found 0 (min +suggestions+ (length found)))
          (max 0 (- (length found) +suggestions+))
          (odd-character-text text))))

(defun call-with-named (text function &key (home *package*) called)
  "Call FUNCTION with the symbol that TEXT names in the package HOME, its status and its package. CALLED is what the client calls HOME.
Other threads may delete packages at any time.
=> its value | (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)
 | (:symbol-not-found NAME PACKAGE (SYMBOL ...) COUNT-OF-OTHERS ODD-CHARACTER), where the last is ODD-CHARACTER-TEXT's"
  (multiple-value-bind (symbol status package name prefix written) (symbol-named text home nil)
    (cond (status (funcall function symbol status package))
          ((null package) (package-not-found prefix text))
          (t (not-found text name written (or prefix called (package-name package) (package-name (user-package))))))))

(defun name-description (text package called)
  "Describe the symbol that TEXT names in PACKAGE, which the client calls CALLED.
=> (:found NAME STATUS PACKAGE MEANING ...) | the other replies of CALL-WITH-NAMED"
  (call-with-named text
                   (lambda (symbol status home)
                     (list* :found (qualified-name symbol) status (or (package-name home) called) (meanings symbol home)))
                   :home package :called called))

(defun describe-name (text package-text &optional sources)
  "Return NAME-DESCRIPTION of TEXT. Printing methods of the client run as the client's code.
Generic functions are described with the methods that a call with arguments SOURCES runs."
  (reset-guard-pages)
  (let* ((package (if package-text (find-designated-package package-text) (user-package)))
         (called (cond (package-text (parsed-package package-text))
                       ((equal (package-name package) "COMMON-LISP-USER") "CL-USER")
                       (t (package-name package))))
         (session (current-session)))
    (if (null package)
        (package-not-found called)
        (with-code-of (session)
          (with-code-syntax (session (if package-text package (session-package-now session)))
            (let ((*call* sources))
              (name-description text package called)))))))
