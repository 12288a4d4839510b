;;;; Describes the meanings of a symbol.

(in-package #:swank-client/describe)

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
      (and (sb-int:info :setf :expander symbol)
           (list* :setf-expander
                  :name (format nil "(SETF ~a)" (qualified-name symbol))
                  :documentation (documentation-text symbol 'setf)
                  :source (source-entry :setf-expander symbol)
                  (list :arglist nil :methods nil)))))

;;; Classes and types

(defun class-kind (class)
  "The kind of CLASS."
  (typecase class
    (structure-class :structure)
    (condition-class :condition)
    (built-in-class :built-in-class)
    (t :class)))

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
  (when (and (null (find-class symbol nil)) (eq (sb-int:info :type :kind symbol) :defined))
    (meaning :type symbol symbol 'type :type
             :arglist (type-arglist symbol)
             :expansion (or-nil (code-text (sb-ext:typexpand-1 symbol) (home-package symbol) +arglist-limit+)))))

;;; Variables

(defun variable-meaning (symbol package)
  "The meaning of SYMBOL as a variable, or NIL. Its value is printed in PACKAGE."
  (multiple-value-bind (value bound) (session-value symbol)
    (let* ((info (sb-int:info :variable :kind symbol))
           (kind (cond ((keywordp symbol) :constant)
                       ((eq info :constant) :constant)
                       ((member info '(:special :global :alien)) :variable)
                       ((and bound (eq info :unknown)) :undeclared-variable))))
      (when kind
        (meaning kind symbol symbol 'variable (if (eq kind :constant) :constant :variable)
                 :value (and bound (value-entry value package)))))))

(defun symbol-macro-meaning (symbol)
  "The meaning of SYMBOL as a symbol macro, or NIL."
  (when (eq (sb-int:info :variable :kind symbol) :macro)
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

(defun package-not-found (name &optional (text name))
  "The reply if there is no package NAME, written in TEXT."
  (list :package-not-found name (similar-packages name) (odd-character-text text)))

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
