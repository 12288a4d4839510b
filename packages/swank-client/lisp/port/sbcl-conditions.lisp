;;;; SBCL's conditions, and what handles them: handlers, restarts and the function that signals.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-conditions
  (:documentation "SBCL's conditions, handlers and restarts.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:existing-symbols)
  (:functions #:sb-kernel #:%fun-fun #:%fun-name #:%instance-length #:%instance-ref #:classoid-cell-name
                          #:function-redefinition-warning-new-function #:heap-exhausted-error #:redefinition-warning-name
                          #:redefinition-warning-new-location #:redefinition-with-defmethod-old-method
                          #:redefinition-with-defmethod-qualifiers #:redefinition-with-defmethod-specializers #:restart-function #:restart-interactive-function
                          #:restart-report-function)
  (:variables #:sb-kernel #:**initial-handler-clusters** #:*handler-clusters* #:*restart-clusters*)
  (:variables #:sb-vm #:instance-data-start)
  (:types #:sb-int #:bug)
  (:types #:sb-kernel #:control-stack-exhausted #:heap-exhausted-error #:instance #:redefinition-warning #:redefinition-with-defmacro
                      #:redefinition-with-defmethod #:redefinition-with-defun)
  (:types #:sb-pcl #:condition-class #:slot-object)
  (:names #:sb-int #:constantly-t)
  (:names #:sb-kernel #:%handler-bind #:assigned-slots #:control-stack-exhausted-error #:hash #:report-function)
  (:export #:**initial-handler-clusters** #:*assert-function* #:*bookkeeping-slots* #:*handler-clusters* #:*restart-clusters*
           #:*signal-function* #:bug #:condition-class #:control-stack-exhausted #:control-stack-exhausted-error
           #:function-redefinition-warning-new-function #:handled-type #:handler-name #:heap-exhausted-error #:instance-parts
           #:redefinition-warning #:redefinition-warning-name #:redefinition-warning-new-location #:redefinition-with-defmacro
           #:redefinition-with-defmethod #:redefinition-with-defmethod-old-method #:redefinition-with-defmethod-qualifiers
           #:redefinition-with-defmethod-specializers #:redefinition-with-defun #:restart-function #:restart-interactive-function #:restart-report-function #:set-report-function
           #:slot-object))

(in-package #:swank-client/sbcl-conditions)

(defparameter *bookkeeping-slots* '(hash assigned-slots)
  "Slots of conditions that SBCL uses internally.")

(defun set-report-function (restart function)
  "Make RESTART report itself with FUNCTION, which takes a stream."
  (setf (slot-value restart 'report-function) function))

(defparameter *signal-function* (first (remove-if-not #'fboundp (existing-symbols '(("SB-KERNEL" "%SIGNAL")))))
  "SBCL's function of a condition that SIGNAL, WARN and ERROR call to find a handler; NIL in an SBCL without it.")

(defun handled-type (test)
  "The type in the clause of a handler whose test is TEST, or NIL if it is not known."
  (if (functionp test)
      (let ((name (%fun-name (%fun-fun test))))
        (cond ((eq name 'constantly-t) 'condition)
              ((and (consp name) (eq (first name) '%handler-bind)) (second name))))
      (handler-case (classoid-cell-name test) (type-error () nil))))

(defun handler-name (handler)
  "The name of the function of HANDLER, a function or its name."
  (if (functionp handler)
      (%fun-name (%fun-fun handler))
      handler))

(defun instance-parts (instance)
  "The objects that INSTANCE refers to, without calling any method."
  (loop for index from instance-data-start below (%instance-length instance)
        collect (%instance-ref instance index)))

(defparameter *assert-function* (first (existing-symbols '(("SB-KERNEL" "ASSERT-ERROR"))))
  "SBCL's function that signals the error of ASSERT.")
