;;;; What the frames of the runtime's functions mean in a stack, and functions that mark it: the frames below theirs belong to the runtime.

(in-package #:swank-client/stops)

(defvar *frame-roles* (make-hash-table :test 'eq :synchronized t) "The roles of frames, by the name of their function.")

(defun note-frame-role (name role)
  "Note what frames of the function NAME, and of functions that it makes, mean:
:EVALUATES   what it calls is Lisp's evaluator or reader, and then the user's code
:RUNS        what it calls is the user's code, or what loads it
:FRAMEWORK   what it calls is a framework, and then the user's code
:LOADS       it loads the user's compiled code
:BREAKPOINT  the frame stands in for a call of the user that has not begun
:BETWEEN     it is between a caller of the user and the function that is called"
  (setf (gethash name *frame-roles*) role))

(defun frame-role (name)
  "The role of a frame with NAME, that of its function or of one in it, such as (LAMBDA (&REST ARGUMENTS) :IN MAKE-WRAPPER); or NIL."
  (let ((symbol (if (consp name) (car (last name)) name)))
    (and symbol (symbolp symbol) (values (gethash symbol *frame-roles*)))))

(dolist (symbol *stepping-functions*)
  (note-frame-role symbol :between))

;;; Evaluating a form

(declaim (notinline call-user))

(defun call-user (form)
  "The values of FORM, as a list. The frames below this function's belong to the runtime."
  (let ((*in-user-code* t))
    (multiple-value-list (eval form))))

(note-frame-role 'call-user :evaluates)

;;; Reading a form

(declaim (notinline read-user))

(defun read-user (stream eof)
  "Read a form from STREAM. The frames below this function's belong to the runtime."
  (multiple-value-prog1 (read stream nil eof)))

(note-frame-role 'read-user :evaluates)

;; prints the user's objects
(note-frame-role 'bounded-text :evaluates)

;;; Running a client's thread

(declaim (notinline call-own))

(defun call-own (function arguments)
  "Apply FUNCTION to ARGUMENTS: it runs in a thread that a client's code started, or loads a form for the client. The frames below this
function's belong to the runtime."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))

(note-frame-role 'call-own :runs)

;;; Running tests, and loading systems

(declaim (notinline call-framework))

(defun call-framework (function arguments)
  "Apply FUNCTION of a framework, such as one of tests. The frames below this function's belong to the runtime, and a report leaves out the framework's next to it."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))

(note-frame-role 'call-framework :framework)
