;;;; The internal functions of SBCL that signal and handle conditions, and the code that the compiler's conditions are about. compat/sbcl.lisp exports their names.

(in-package #:swank-client/sbcl)

(defparameter *bookkeeping-slots* '(sb-kernel::hash sb-kernel::assigned-slots)
  "Slots of conditions that SBCL uses internally.")

(defun set-report-function (restart function)
  "Make RESTART report itself with FUNCTION, which takes a stream."
  (setf (slot-value restart 'sb-kernel::report-function) function))

(defparameter *signal-function* (first (remove-if-not #'fboundp (existing-symbols '(("SB-KERNEL" "%SIGNAL")))))
  "SBCL's function of a condition that SIGNAL, WARN and ERROR call to find a handler; NIL in an SBCL without it.")

(defun handled-type (test)
  "The type in the clause of a handler whose test is TEST, or NIL if it is not known."
  (if (functionp test)
      (let ((name (sb-kernel:%fun-name (sb-kernel:%fun-fun test))))
        (cond ((eq name 'sb-int:constantly-t) 'condition)
              ((and (consp name) (eq (first name) 'sb-kernel::%handler-bind)) (second name))))
      (ignore-errors (sb-kernel::classoid-cell-name test))))

(defun handler-name (handler)
  "The name of the function of HANDLER, a function or its name."
  (if (functionp handler)
      (sb-kernel:%fun-name (sb-kernel:%fun-fun handler))
      handler))

(defparameter *within-stack-p*
  (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "CONTROL-STACK-POINTER-VALID-P") ("SB-DI" "CONTROL-STACK-POINTER-VALID-P")))))
  "SBCL's function that tells whether an address is in the stack of this thread; NIL in an SBCL without it.")

(defun on-stack-p (object)
  "True if OBJECT is, or may be, allocated on the stack of this thread: then it must not be used after its function has returned."
  (or (null *within-stack-p*)
      (funcall *within-stack-p* (sb-sys:int-sap (logandc2 (sb-kernel:get-lisp-obj-address object) sb-vm:lowtag-mask)) nil)))

(defun instance-parts (instance)
  "The objects that INSTANCE refers to, without calling any method."
  (loop for index from sb-vm:instance-data-start below (sb-kernel:%instance-length instance)
        collect (sb-kernel:%instance-ref instance index)))

;;; The compiler

(defun compiled-from-file ()
  "The file whose code the compiler reports on now, as a string or pathname, or NIL if that code is no file's."
  (let* ((context (sb-c::find-error-context nil))
         (file (and context (sb-c::compiler-error-context-file-name context))))
    (and (typep file '(or string pathname)) file)))

(defun compiled-form ()
  "The form that the compiler reports on now, or NIL. => the form, and the path to it from the forms of its file or call of the compiler"
  (let ((context (sb-c::find-error-context nil)))
    (and context
         (values (sb-c::compiler-error-context-original-form context)
                 (reverse (sb-c::compiler-error-context-original-source-path context))))))

(defun skip-compiling (error)
  "Continue compiling after the form that ERROR, a condition of the compiler, is about, with a call of ERROR in its place, as the compiler does
after it has printed ERROR. Does not return, unless no compiler runs"
  (when (boundp 'sb-c::*compiler-error-bailout*)
    (funcall sb-c::*compiler-error-bailout* error)))

(defun compiled-definition ()
  "The definition that the compiler reports on now, such as (DEFUN NAME), or NIL."
  (let ((context (sb-c::find-error-context nil)))
    (and context (first (sb-c::compiler-error-context-context context)))))
