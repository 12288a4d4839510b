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
  ;; CODE, or NIL
  condition
  log
  ;; number of the first hit that stops
  (from 1)
  ;; NIL: the session's own evaluations; T: every thread; or a thread's id
  thread
  (hits (list 0))
  ;; calls in the watched threads, and in others
  (calls (list 0))
  (calls-elsewhere (list 0))
  ;; what LOG gave outside running evaluations of the session: the last lines, latest first
  (lines '())
  ;; the error of the condition; after that the breakpoint never fires
  (failure nil)
  (tag (gensym "BREAKPOINT"))
  ;; the generic functions whose dispatch has a wrapper for it
  (generics '())
  ;; makes the functions that run before the calls, as MAKE-WRAPPER does
  (wrapper 'make-wrapper)
  ;; true after it was removed: calls that began before may still run its wrapper
  (removed nil))

(defvar *breakpoints* (make-hash-table :synchronized t) "Breakpoints by id.")

(defvar *last-breakpoint* (list 0) "A cell with the id of the latest breakpoint.")

(defun place-text (breakpoint)
  "The function or method of BREAKPOINT, as text."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (function-text (if method (method-form name method) name))))

(defun parameters-of (breakpoint)
  "The lambda list of the function or method of BREAKPOINT as it is now."
  (let* ((name (breakpoint-name breakpoint))
         (method (and (breakpoint-method breakpoint) (current-method name (breakpoint-method breakpoint)))))
    (if method (sb-mop:method-lambda-list method) (swank/backend:arglist name))))
