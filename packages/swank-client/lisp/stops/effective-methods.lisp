;;;; The methods that a call of a generic function runs, in the order in which they begin.

(in-package #:swank-client/stops)

(defconstant +shown-methods+ 50 "Most methods listed of one call.")

;;; Arguments are (:object OBJECT), or (:class CLASS) for any direct instance of CLASS.

(defun required-count (function)
  "The number of required arguments of the generic FUNCTION."
  (let ((lambda-list (sb-mop:generic-function-lambda-list function)))
    (or (position-if (lambda (item) (member item lambda-list-keywords)) lambda-list)
        (length lambda-list))))

(defun eql-on-class-p (method arguments)
  "True if METHOD is specialized on an object where ARGUMENTS has only a class."
  (some (lambda (specializer argument)
          (and (eq (first argument) :class) (typep specializer 'sb-mop:eql-specializer)))
        (sb-mop:method-specializers method) arguments))

(defun applicable-methods (function arguments)
  "The methods of the generic FUNCTION that apply to ARGUMENTS, at least the required ones, the most specific first."
  (if (every (lambda (argument) (eq (first argument) :object)) arguments)
      (compute-applicable-methods function (mapcar #'second arguments))
      (let ((required (subseq arguments 0 (required-count function))))
        (remove-if (lambda (method) (eql-on-class-p method required))
                   (applicable-methods-of-types function
                                                (loop for (kind thing) in required
                                                      collect (if (eq kind :class)
                                                                  (argument-type nil thing)
                                                                  (argument-type thing nil))))))))

;;; Effective methods

(defun called-methods (method next)
  "FORM-METHODS of METHOD: a method, or (MAKE-METHOD FORM)."
  (if (typep method 'method)
      (list (list method next))
      (form-methods (second method) next)))

(defun form-methods (form next)
  "((METHOD NEXT) ...) for the methods that FORM, an effective method, calls. NEXT is for the first one."
  (cond ((or (atom form) (eq (first form) 'quote)) '())
        ((eq (first form) 'call-method)
         (append (called-methods (second form) next)
                 (loop for method in (third form) append (called-methods method t))))
        (t (loop for part in form
                 for found = (form-methods part next)
                 when found do (setf next nil)
                 append found))))

(defun effective-methods (function arguments)
  "((METHOD NEXT) ...) for the methods that a call of the generic FUNCTION with ARGUMENTS runs, in order.
NEXT is true for those that run only if the one before them calls CALL-NEXT-METHOD."
  (let ((methods (applicable-methods function arguments)))
    (and methods
         (form-methods (sb-mop:compute-effective-method function (sb-mop:generic-function-method-combination function) methods)
                       nil))))

(defun method-entries (name methods)
  "((TEXT NEXT) ...) for METHODS, as EFFECTIVE-METHODS returns them, of the generic function NAME. TEXT can be used in any package."
  (let ((*package* (find-package "COMMON-LISP")))
    (loop for (method next) in methods
          repeat +shown-methods+
          collect (list (line-text-in-time (method-form name method) 300) next))))
