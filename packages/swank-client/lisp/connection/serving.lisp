;;;; Runs the requests of a connection so that each can be ended exactly, and so that Swank's thread for the connection calls no printer of
;;;; the user's.

(in-package #:swank-client/connection)

(defstruct (request (:constructor make-request (id handlers begun)) (:copier nil))
  "A request that a thread runs. It is also the catch tag that ends it. BEGUN is called when the thread can be found by the request."
  (id 0 :type integer)
  (handlers nil :type list)
  (begun nil :type function))

(defvar *requests* '()
  "The requests that this thread runs, the innermost first.")

(defun sendable (result)
  "RESULT as data that is printed without the user's printers; a refusal if it cannot be sent."
  (let* ((*texts* :none)
         (verdict (fits-p result)))
    (cond ((not (eq t verdict)) (make-refusal verdict))
          ((eq *texts* :none) (make-checked result))
          (t (make-checked (with-texts result))))))

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
    (let ((*guard-pages-reset* (or *guard-pages-reset* (zerop *sldb-level*))))
      (funcall function))
    (unless lowered-p (restore-guard-page))))

(defun serve-request (serve form package id begun)
  "Call SERVE, Swank's function, to evaluate FORM in PACKAGE and to reply to request ID. The function BEGUN is called before FORM is
evaluated."
  (let ((request (make-request id sb-kernel:*handler-clusters* begun)))
    (call-with-guard-page
     (lambda ()
       (catch request
         (let ((*requests* (cons request *requests*)))
           (funcall serve `(evaluate-request ',form) package id)))))))
