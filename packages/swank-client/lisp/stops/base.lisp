;;;; Functions that mark the stack: the frames below theirs belong to the runtime.

(in-package #:swank-client/stops)

;;; Evaluating a form

(declaim (notinline call-user))

(defun call-user (form)
  "The values of FORM, as a list. The frames below this function's belong to the runtime."
  (let ((*in-user-code* t))
    (multiple-value-list (eval form))))

;;; Reading a form

(declaim (notinline read-user))

(defun read-user (stream eof)
  "Read a form from STREAM. The frames below this function's belong to the runtime."
  (multiple-value-prog1 (read stream nil eof)))

;;; Running a client's thread

(declaim (notinline call-own))

(defun call-own (function arguments)
  "Apply FUNCTION to ARGUMENTS: it runs in a thread that a client's code started, or loads a form for the client. The frames below this
function's belong to the runtime."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))

;;; Running tests, and loading systems

(declaim (notinline call-framework))

(defun call-framework (function arguments)
  "Apply FUNCTION of a framework, such as one of tests. The frames below this function's belong to the runtime, and a report leaves out the framework's next to it."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))
