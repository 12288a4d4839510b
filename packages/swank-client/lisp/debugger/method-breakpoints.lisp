;;;; Makes single methods reach their breakpoints. SBCL calls methods through functions that it builds when a generic function is first called
;;;; with arguments of certain classes. While such a breakpoint exists, an encapsulation of the builder wraps the method's function, however
;;;; the method is called.

(in-package #:swank-client/debugger)

(defvar *method-breakpoints* '() "The breakpoints on methods. Changed only with *METHOD-BREAKPOINTS-LOCK* held, and never destructively.")

(defvar *method-breakpoints-lock* (sb-thread:make-mutex :name "swank-client method breakpoints")
  "Held while *METHOD-BREAKPOINTS* changes.")

(defconstant +renewal-seconds+ 2 "Seconds to wait until SBCL has renewed a generic function.")

;;; Encapsulations, while there is a breakpoint on a method

(defvar *matching* nil "True while breakpoints are matched: the generic functions called for that have none, and would be matched without end.")

(defun breakpoints-where (wanted-p generic-function)
  "The breakpoints, oldest first, on methods of GENERIC-FUNCTION that WANTED-P returns true for. Redefinition replaces generic functions
and methods, so they are compared by name and place."
  (unless (or *matching* (null *method-breakpoints*))
    (let* ((*matching* t)
           (name (sb-mop:generic-function-name generic-function)))
      (remove-if-not (lambda (breakpoint)
                       (and (equal name (breakpoint-name breakpoint))
                            (funcall wanted-p (breakpoint-method breakpoint))))
                     *method-breakpoints*))))

(defun breakpoints-on (generic-function method)
  "The breakpoints on METHOD of GENERIC-FUNCTION, oldest first."
  (breakpoints-where (lambda (watched) (same-place-p method watched)) generic-function))

(defun wrap-method (build generic-function method function fast-p)
  "Encapsulates the builder BUILD: wrap FUNCTION, which runs METHOD, for each breakpoint on METHOD. FAST-P tells its calling convention."
  (let ((wrapped (funcall build generic-function method function fast-p)))
    (when (typep method 'method)
      (dolist (breakpoint (breakpoints-on generic-function method))
        (pushnew generic-function (breakpoint-generics breakpoint))
        (setf wrapped (funcall (breakpoint-wrapper breakpoint) breakpoint (if fast-p :fast :slow) wrapped))))
    wrapped))

(defun without-shortcut (shortcut generic-function &rest arguments)
  "Encapsulates SHORTCUT: false if GENERIC-FUNCTION has a method with a breakpoint."
  (if (breakpoints-where (constantly t) generic-function)
      nil
      (apply shortcut generic-function arguments)))

(defun without-constructor (shortcut methods &rest arguments)
  "Encapsulates SHORTCUT: true if one of METHODS has a breakpoint."
  (or (and *method-breakpoints*
           (some (lambda (method) (breakpoints-on (sb-mop:method-generic-function method) method)) methods))
      (apply shortcut methods arguments)))

(defun encapsulations ()
  "((FUNCTION ENCAPSULATION) ...) for functions of SBCL."
  (append (list (list 'maybe-trace-method #'wrap-method))
          (loop for name in *accessor-shortcuts* collect (list name #'without-shortcut))
          (loop for name in *constructor-shortcuts* collect (list name #'without-constructor))))

(defun encapsulate-dispatch ()
  "Encapsulate the functions of SBCL that build calls of methods."
  (loop for (name function) in (encapsulations)
        do (encapsulate-function name '*method-breakpoints* function)))

(defun unencapsulate-dispatch ()
  "Undo ENCAPSULATE-DISPATCH."
  (loop for (name) in (encapsulations)
        do (unencapsulate-function name '*method-breakpoints*)))

;;; Renewing generic functions

(defun renew-generics (functions breakpoint)
  "Make calls of the generic FUNCTIONS run the current wrappers of the method of BREAKPOINT.
Another thread does it: this one may be interrupted at any time, and a stopped thread may hold the lock that SBCL needs."
  (let ((done (sb-thread:make-semaphore))
        (method (breakpoint-method breakpoint)))
    (flet ((renew ()
             (dolist (function functions)
               (ignore-errors
                (renew-dispatch function (find method (sb-mop:generic-function-methods function) :test #'same-place-p))))
             (sb-thread:signal-semaphore done)))
      (start-runtime-thread #'renew "swank-client dispatch"))
    (sb-thread:wait-on-semaphore done :timeout +renewal-seconds+)))

(defun known-generics (breakpoint)
  "The generic functions that may call the method of BREAKPOINT."
  (let ((current (generic-function-named (breakpoint-name breakpoint))))
    (adjoin current (remove current (breakpoint-generics breakpoint)))))

(defun watch-method (breakpoint)
  "Make each run of the method of BREAKPOINT reach it."
  (with-system-mutex (*method-breakpoints-lock*)
    (when (null *method-breakpoints*) (encapsulate-dispatch))
    (setf *method-breakpoints* (append *method-breakpoints* (list breakpoint))))
  (renew-generics (known-generics breakpoint) breakpoint))

(defun unwatch-method (breakpoint)
  "Undo WATCH-METHOD."
  (with-system-mutex (*method-breakpoints-lock*)
    (setf *method-breakpoints* (remove breakpoint *method-breakpoints*))
    (when (null *method-breakpoints*) (unencapsulate-dispatch)))
  (renew-generics (known-generics breakpoint) breakpoint))
