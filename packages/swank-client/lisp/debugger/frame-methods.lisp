;;;; The methods that the call in a frame runs, if it calls a generic function. All functions here run in the stopped thread.

(in-package #:swank-client/debugger)

(defun generic-call (frame)
  "=> the name of the generic function that FRAME calls, or NIL, the arguments, and the method that FRAME runs, or NIL"
  (let* ((name (called-name frame))
         (arguments (if (breakpoint-wrapper-p (frame-name frame)) (rest *breakpoint-call*) (frame-arguments frame))))
    (cond ((method-name-p name) (values (second name) arguments (named-method name)))
          ((and (sb-int:legal-fun-name-p name) (generic-function-named name)) (values name arguments nil)))))

(defun more-specific-p (specializer class)
  "True if SPECIALIZER can apply to some but not all instances of CLASS."
  (if (typep specializer 'sb-mop:eql-specializer)
      (typep (sb-mop:eql-specializer-object specializer) class)
      (and (not (eq specializer class)) (subtypep specializer class))))

(defun unread-argument (function specializer position)
  "An argument for EFFECTIVE-METHODS in place of the one at POSITION, which the compiler has dropped in a method of FUNCTION with SPECIALIZER.
=> NIL if it is not known to which methods it leads"
  (cond ((null specializer) nil)
        ((typep specializer 'sb-mop:eql-specializer) (list :object (sb-mop:eql-specializer-object specializer)))
        ((notany (lambda (method) (more-specific-p (nth position (sb-mop:method-specializers method)) specializer))
                 (sb-mop:generic-function-methods function))
         (list :class specializer))))

(defun call-arguments (function arguments method)
  "The required ARGUMENTS of a call of the generic FUNCTION, for EFFECTIVE-METHODS; NIL for those that are unknown. The frame runs METHOD."
  (loop with specializers = (and method (sb-mop:method-specializers method))
        for position below (required-count function)
        for argument in arguments
        collect (if (unavailable-argument-p argument)
                    (unread-argument function (nth position specializers) position)
                    (list :object argument))))

(defun methods-of-call (frame)
  "The value of FRAME-METHODS for FRAME. It can fail."
  (multiple-value-bind (name arguments method) (generic-call frame)
    (let* ((function (and name (generic-function-named name)))
           (known (and function (call-arguments function arguments method))))
      (when (and known (= (length known) (required-count function)) (notany #'null known))
        (let ((methods (effective-methods function known)))
          (unless (and method (null (rest methods)))
            (method-entries name methods)))))))

(defun frame-methods (frame)
  "((TEXT NEXT) ...) for the methods that the call in FRAME runs, as METHOD-ENTRIES returns them.
NIL if it calls no generic function, if that runs only FRAME's method, or if the arguments are unknown."
  (unless (unread-frame-p frame)
    ;; generic functions about generic functions can have methods of the user
    (in-time nil (ignore-errors (methods-of-call frame)))))
