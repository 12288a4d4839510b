;;;; The code of a breakpoint: its condition, and the expression that it prints. Both can use the arguments of the call.

(in-package #:swank-client/debugger)

(defstruct code
  "Code that a breakpoint runs at a call."
  source
  ;; a function of the argument list and of the values of PARAMETERS
  function
  ;; the names of the parameters that the function takes
  parameters)

(define-condition refused-code (simple-error) ()
  (:documentation "The condition of a breakpoint, or the expression that it prints, cannot be read or compiled."))

;;; Parameters

(defun constant-default (item)
  "The default of ITEM, a parameter, if it is a constant, else NIL: the default's code must not run twice."
  (and (consp item) (constantp (second item)) (ignore-errors (eval (second item)))))

(defun items-with-values (lambda-list)
  "The items of LAMBDA-LIST for which a call passes values."
  (loop with place = nil
        for item in lambda-list
        if (member item lambda-list-keywords) do (setf place item)
        else unless (eq place '&aux) collect item))

(defun passed-variable (item)
  "The variable of ITEM, a parameter, that says whether an argument was passed, or NIL."
  (and (consp item) (third item)))

(defun all-parameters (lambda-list)
  "The variables that a call of a function with LAMBDA-LIST binds."
  (ignore-errors
   (loop for item in (items-with-values lambda-list)
         collect (parameter-name item)
         when (passed-variable item) collect it)))

(defun missing-values (lambda-list bindings)
  "((NAME . VALUE) ...) for the variables of LAMBDA-LIST that BINDINGS, of the arguments in a call, do not bind."
  (loop for item in (items-with-values lambda-list)
        for passed = (and (assoc (parameter-name item) bindings) t)
        unless passed collect (cons (parameter-name item) (constant-default item))
        when (passed-variable item) collect (cons (passed-variable item) passed)))

(defun values-of-parameters (lambda-list arguments)
  "((NAME . VALUE) ...) for the variables that a call with ARGUMENTS of a function with LAMBDA-LIST binds.
A parameter without an argument has its default if that is a constant, else NIL."
  (let ((bindings (argument-bindings lambda-list arguments)))
    (append bindings (ignore-errors (missing-values lambda-list bindings)))))

;;; Compiling

(defun bindable-p (symbol parameter)
  "True if code can refer to PARAMETER as SYMBOL, which has the same name."
  (member (sb-int:info :variable :kind symbol) (if (eq symbol parameter) '(:unknown :special) '(:unknown))))

(defun mentions-p (form symbol)
  "True if FORM may refer to the variable SYMBOL. SBCL reads a comma as a structure."
  (typecase form
    (cons (or (mentions-p (car form) symbol) (mentions-p (cdr form) symbol)))
    (symbol (eq form symbol))
    (structure-object t)))

(defun code-variables (forms parameters)
  "((SYMBOL . PARAMETER) ...) for the symbols by which FORMS, code in the current package, refer to PARAMETERS."
  (loop for parameter in parameters
        append (loop for symbol in (remove-duplicates (list parameter (accessible-symbol (symbol-name parameter) *package*)))
                     when (and symbol (bindable-p symbol parameter) (mentions-p forms symbol)) collect (cons symbol parameter))))

(defun worth-reporting-p (condition text)
  "True if CONDITION, a warning with TEXT, says that code will fail."
  (or (not (typep condition 'style-warning))
      (search "undefined" text)))

(defun compiled-quietly (lambda-expression)
  "Compile LAMBDA-EXPRESSION without printing warnings. => the function, and the compiler's warnings, strings"
  (let ((warnings '()))
    (handler-bind ((warning (lambda (condition)
                              (let ((text (message-text condition)))
                                (when (worth-reporting-p condition text) (pushnew text warnings :test #'string=)))
                              (muffle-warning condition))))
      (values (compile nil lambda-expression) (nreverse warnings)))))

(defun compile-code (source lambda-list single)
  "Compile SOURCE, which can use the argument list as ARGS, and the parameters in LAMBDA-LIST by their names. If SINGLE, it must be one form.
=> a CODE, and the compiler's warnings, strings"
  (let* ((forms (all-forms source))
         (args (intern "ARGS"))
         (variables (remove args (code-variables forms (all-parameters lambda-list)) :key #'car))
         (names (mapcar #'car variables)))
    (unless forms (error "It contains no code."))
    (when (and single (rest forms))
      (error "It contains ~d forms, and only one value is printed: write (list ~{~a~^ ~})." (length forms)
             (loop for form in forms collect (line-text form 100))))
    (multiple-value-bind (function warnings)
        (compiled-quietly `(lambda (,args ,@names) (declare (ignorable ,args ,@names)) ,@forms))
      (values (make-code :source source :function function :parameters (mapcar #'cdr variables)) warnings))))

(defun read-code (source lambda-list what &key single)
  "Do what COMPILE-CODE does, but signal a REFUSED-CODE for every error. WHAT says what the code is. => NIL if SOURCE is NIL"
  (when source
    (handler-case (compile-code source lambda-list single)
      (sb-ext:timeout (late) (error late))
      (error (problem)
        (error 'refused-code :format-control "Its ~a is refused: ~a" :format-arguments (list what (message-text problem)))))))

(defun call-code (code lambda-list arguments)
  "The values of CODE at a call with ARGUMENTS of a function that has LAMBDA-LIST now."
  (let* ((parameters (code-parameters code))
         (bindings (and parameters (values-of-parameters lambda-list arguments))))
    (apply (code-function code)
           (copy-list arguments)
           (loop for parameter in parameters
                 ;; a redefinition in another package has other symbols
                 collect (cdr (or (assoc parameter bindings :test #'string=)
                                  (error "The function no longer has a parameter ~a." parameter)))))))
