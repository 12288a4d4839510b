;;;; A breakpoint, and its name in texts.

(in-package #:swank-client/debugger)

(defstruct breakpoint
  "A breakpoint on a function or a method."
  id
  session
  connection
  ;; the name of the function, which is encapsulated unless the breakpoint is on a method
  name
  method
  ;; source and function of the condition
  condition
  test
  ;; number of the first hit that stops
  (from 1)
  ;; NIL: the session's own evaluations; T: every thread; or a thread's id
  thread
  (hits (list 0))
  ;; the error of the condition; after that the breakpoint never fires
  (failure nil)
  (tag (gensym "BREAKPOINT"))
  ;; the generic functions whose dispatch has a wrapper for it
  (generics '())
  ;; true after it was removed: calls that began before may still run its wrapper
  (removed nil))

(defvar *breakpoints* (make-hash-table :synchronized t) "Breakpoints by id.")

(defvar *last-breakpoint* (list 0) "A cell with the id of the latest breakpoint.")

(defun place-text (breakpoint)
  "The function or method of BREAKPOINT, as text."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (function-text (if method (method-form name method) name))))
