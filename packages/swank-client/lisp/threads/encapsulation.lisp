;;;; Encapsulates functions of Lisp and Swank, and undoes it.

(in-package #:swank-client/threads)

(defvar *encapsulation-lock*
  (or (get :swank-client :encapsulation-lock)
      (setf (get :swank-client :encapsulation-lock) (sb-thread:make-mutex :name "swank-client encapsulation")))
  "Held while any version of the library changes an encapsulation. If two threads encapsulate the same function at once, SBCL loses one
of the two encapsulations.")

(defun failure-of-change (change arguments)
  "Apply CHANGE to ARGUMENTS while no other thread changes an encapsulation. => NIL, or the error
The error is returned so that no thread enters the debugger with the lock."
  (with-system-mutex (*encapsulation-lock*)
    (handler-case (progn (apply change arguments) nil)
      (error (condition) condition))))

(defun change-encapsulation (change &rest arguments)
  "Apply CHANGE, which changes an encapsulation or prepares one, to ARGUMENTS, and retry if it fails.
SBCL first searches all compiled code for calls of the function by address. If another thread compiles or garbage is collected during the
search, it can run past the end (failed AVER in MAP-OBJECTS-IN-RANGE). Some calls may then go by name already, which is harmless, and the
change is tried again.
A thread that entered the debugger here would keep a lock that the compiler waits for."
  (loop with *break-on-signals* = nil
        repeat 50
        for failure = (failure-of-change change arguments)
        while (typep failure '(or sb-int:bug sb-sys:memory-fault-error))
        do (sleep 1/100)
        finally (when failure (error failure))))

(defun note-for-core (name)
  "Note while the core of launched images is built that clients encapsulate the function NAME. See launch/core.lisp."
  (let ((noted (get :swank-client :encapsulated-for-core)))
    (when noted (pushnew name (cdr noted) :test #'equal))))

(defun encapsulate-function (name tag function)
  "Encapsulate the function NAME under TAG: calls of it call FUNCTION with the original function and the arguments."
  (change-encapsulation (lambda ()
                          (note-for-core name)
                          (sb-int:encapsulate name tag function))))

(defun unencapsulate-function (name tag)
  "Undo ENCAPSULATE-FUNCTION of NAME under TAG."
  (change-encapsulation #'sb-int:unencapsulate name tag))

(defparameter *encapsulated-for-all* (append '(sb-ext:exit) *dispatch-compilers* *step-signallers*)
  "The functions of SBCL that are encapsulated, while clients evaluate, for all callers: SBCL itself calls them, and so does code by their
address that was loaded before.")

(defun prepare-encapsulations ()
  "Make all code call *ENCAPSULATED-FOR-ALL* by name, which takes most of the time to encapsulate them."
  (dolist (name *encapsulated-for-all*)
    (ignore-errors (change-encapsulation #'remove-direct-calls name))))

;;; Calls by name only. SBCL's own code may go on calling the original function by address, and evaluated code calls every function by name.

(defun original-function (name)
  "The definition of NAME that was called by address when it was encapsulated, or NIL.
Every version of the library shares this record. It also keeps the function, which the garbage collector does not find in the calls."
  (getf (get :swank-client :called-by-address) name))

(defun leave-direct-calls (name)
  "Make the next encapsulation of NAME leave the calls by address as they are."
  (when (called-directly-p name)
    (setf (getf (get :swank-client :called-by-address) name) (symbol-function name))
    (note-direct-calls name nil)))

(defun restore-direct-calls (name)
  "Undo LEAVE-DIRECT-CALLS, unless NAME has another definition by now."
  (when (and (original-function name) (eq (original-function name) (symbol-function name)))
    (note-direct-calls name t)))

(defun encapsulate-calls-by-name (name tag function)
  "Encapsulate the function NAME under TAG, for callers that call it by its name. SBCL's own code may not."
  (change-encapsulation (lambda ()
                          (leave-direct-calls name)
                          (sb-int:encapsulate name tag function))))

(defun unencapsulate-calls-by-name (name tag)
  "Undo ENCAPSULATE-CALLS-BY-NAME of NAME under TAG."
  (change-encapsulation (lambda ()
                          (sb-int:unencapsulate name tag)
                          (restore-direct-calls name))))
