;;;; Runs the requests of a connection so that each can be ended exactly, and so that Swank's thread for the connection calls no printer of
;;;; the user's.

(in-package #:swank-client/connection)

(defstruct (request (:constructor make-request (id handlers begun dispatched)) (:copier nil))
  "A request that a thread runs. It is also the catch tag that ends it. BEGUN is called when the thread can be found by the request.
DISPATCHED is the cell of INSTALL-GUARD."
  (id 0 :type integer)
  (handlers nil :type list)
  (begun nil :type function)
  (dispatched nil :type cons))

(defvar *requests* '()
  "The requests that this thread runs, the innermost first.")

(defun sendable (result)
  "RESULT as data that is printed without the user's printers, or the reason why it cannot be sent."
  (let* ((*texts* :none)
         (verdict (fits-p result)))
    (if (eq t verdict)
        (let ((data (if (eq *texts* :none) result (with-texts result))))
          ;; until the whole guard is there, nothing takes the data out again
          (if (cdr (request-dispatched (first *requests*))) (make-checked t data) data))
        (make-checked verdict))))

(defun evaluate-request (form)
  "Evaluate FORM, the innermost request's, and return its value as data."
  (funcall (request-begun (first *requests*)))
  ;; Swank's handler keeps the last condition, and prints it in a cleanup form, where an error could not be unwound
  (let ((sb-kernel:*handler-clusters* (request-handlers (first *requests*))))
    (sendable (eval form))))

(defun call-with-guard-page (function)
  "Call FUNCTION. If it exhausts the stack, raise the guard page again afterwards.
In a thread that has stopped on an exhausted stack, the page stays lowered."
  (let ((lowered-p (guard-page-lowered-p)))
    (when (zerop *sldb-level*) (reset-guard-pages))
    (funcall function)
    (unless lowered-p (restore-guard-page))))

(defun serve-request (dispatched serve form package id begun)
  "Call SERVE, Swank's function, to evaluate FORM in PACKAGE and to reply to request ID. The function BEGUN is called before FORM is
evaluated. DISPATCHED is the cell of INSTALL-GUARD."
  (let ((request (make-request id sb-kernel:*handler-clusters* begun dispatched)))
    (call-with-guard-page
     (lambda ()
       (catch request
         (let ((*requests* (cons request *requests*)))
           (funcall serve `(evaluate-request ',form) package id)))))))
