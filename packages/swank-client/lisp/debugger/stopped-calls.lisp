;;;; The call that a breakpoint stopped before it began. It has no frame yet: its variables are the parameters of the function. Code that
;;;; sets one changes the argument with which the call then runs. All functions here run in the stopped thread.

(in-package #:swank-client/debugger)

(defun named-arguments (lambda-list arguments)
  "((NAME . VALUE) ...) for those ARGUMENTS that have a name in LAMBDA-LIST."
  (let ((place nil) (bindings '()) (rest arguments))
    (dolist (item lambda-list (nreverse bindings))
      (cond ((member item lambda-list-keywords) (setf place item))
            ((member place '(&rest &body)) (push (cons item rest) bindings))
            ((eq place '&key)
             (let ((value (getf rest (parameter-key item) rest)))
               (unless (eq value rest) (push (cons (parameter-name item) value) bindings))))
            ((and rest (member place '(nil &optional)))
             (push (cons (parameter-name item) (pop rest)) bindings))))))

(defun argument-bindings (lambda-list arguments)
  "((NAME . VALUE) ...) for the ARGUMENTS in a call of a function with LAMBDA-LIST."
  (or (ignore-errors (named-arguments lambda-list arguments))
      (loop for argument in arguments
            for index from 0
            collect (cons (intern (format nil "ARG-~d" index) "KEYWORD") argument))))

;;; Parameters

(defstruct (binding (:copier nil))
  "The binding of a parameter in the stopped call."
  name
  ;; :POSITION, :REST, :KEY, :SUPPLIED (says whether WHOLE was passed) or :AUX
  kind
  ;; number of the positional parameters before it
  position
  ;; the keyword of a :KEY parameter, the parameter of a :SUPPLIED one
  whole
  ;; the form in the lambda list
  item)

(defun parameters-in (lambda-list)
  "The BINDINGs that LAMBDA-LIST binds."
  (loop with kind = :position and position = 0 and found = '()
        for item in lambda-list
        do (if (member item lambda-list-keywords)
               (setf kind (case item ((&rest &body) :rest) (&key :key) (&aux :aux) (t kind)))
               (let ((parameter (make-binding :name (parameter-name item) :kind kind :position position :item item
                                                :whole (and (eq kind :key) (parameter-key item)))))
                 (push parameter found)
                 (when (and (consp item) (third item) (not (eq kind :aux)))
                   (push (make-binding :name (third item) :kind :supplied :whole parameter) found))
                 (when (eq kind :position) (incf position))))
        finally (return (nreverse found))))

(defun stopped-parameters ()
  "The BINDINGs of the stopped call's function, or NIL if its lambda list does not fit the call."
  (unless (some #'keywordp (mapcar #'car *breakpoint-variables*))
    (ignore-errors (parameters-in *breakpoint-lambda-list*))))

(defun parameter-passed-p (parameter)
  "True if the stopped call passes PARAMETER."
  (and (assoc (binding-name parameter) *breakpoint-variables*) t))

;;; Values

(defun stopped-parameter (name)
  "The BINDING of the parameter NAME of the stopped call."
  (or (find name (stopped-parameters) :key #'binding-name)
      (error "~a is a variable of a call that has not begun. Only the stopped thread can refer to it." name)))

(defun default-value (parameter)
  "The value that PARAMETER, for which the call passes no argument, will have. Signals an error if the function computes it."
  (let ((item (binding-item parameter)))
    (cond ((typep (ignore-errors (fdefinition (first *breakpoint-call*))) 'generic-function)
           (error "The call passes no argument for ~a, and its method will compute the default." (binding-name parameter)))
          ((or (eq :aux (binding-kind parameter)) (and (consp item) (not (constantp (second item)))))
           (error "~a has no value yet: the function computes it when it begins." (binding-name parameter)))
          ((consp item) (eval (second item))))))

(defun argument-value (name)
  "The value of the parameter NAME in the stopped call."
  (let ((parameter (stopped-parameter name)))
    (cond ((eq :supplied (binding-kind parameter)) (parameter-passed-p (binding-whole parameter)))
          ((parameter-passed-p parameter) (cdr (assoc name *breakpoint-variables*)))
          (t (default-value parameter)))))

(defun arguments-with (parameter value arguments)
  "ARGUMENTS with VALUE for PARAMETER."
  (let* ((position (binding-position parameter))
         (count (length arguments))
         (name (binding-name parameter)))
    (flet ((positional (number) (subseq arguments 0 number)))
      (cond ((member (binding-kind parameter) '(:aux :supplied))
             (error "~a cannot be set before the call begins: the function computes it." name))
            ((> position count) (error "The call passes no argument for ~a. Set the optional parameters before it first." name))
            (t (ecase (binding-kind parameter)
                 (:position (append (positional position) (list value) (nthcdr (1+ position) arguments)))
                 (:rest (check-type value list)
                  (append (positional position) (copy-list value)))
                 (:key (let ((pairs (copy-list (nthcdr position arguments))))
                         (setf (getf pairs (binding-whole parameter)) value)
                         (append (positional position) pairs)))))))))

(defun (setf argument-value) (value name)
  "Make the stopped call pass VALUE for the parameter NAME."
  (setf (rest *breakpoint-call*) (arguments-with (stopped-parameter name) value (rest *breakpoint-call*))
        *breakpoint-variables* (argument-bindings *breakpoint-lambda-list* (rest *breakpoint-call*)))
  value)

;;; Evaluation

(defun parameters-of-kind (kind parameters)
  "The names of PARAMETERS that are variables of KIND, :UNKNOWN or :SPECIAL, outside the function."
  (remove kind (mapcar #'binding-name parameters)
          :test-not #'eq :key (lambda (name) (sb-int:info :variable :kind name))))

(defun eval-with-arguments (form)
  "The values of FORM, which can read and set the parameters of the stopped call."
  (let* ((parameters (stopped-parameters))
         (specials (parameters-of-kind :special (remove-if-not #'parameter-passed-p parameters))))
    (eval `(let ,(loop for name in specials collect `(,name (argument-value ',name)))
             (symbol-macrolet ,(loop for name in (parameters-of-kind :unknown parameters) collect `(,name (argument-value ',name)))
               (multiple-value-prog1 ,form
                 ,@(loop for name in specials
                         collect `(unless (eq ,name (argument-value ',name)) (setf (argument-value ',name) ,name)))))))))
