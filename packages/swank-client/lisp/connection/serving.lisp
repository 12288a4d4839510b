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

(defparameter *loading-operators* '(progv apply or) "The operators of the forms with which clients load the library, and ask about the image.")

(defun standard-request-p (operator)
  "True if OPERATOR, of a request, is the library's own: it gives code of the user the settings of its session."
  (or (member operator *loading-operators*)
      (runtime-symbol-p operator)))

(defun swank-request-p (operator)
  "True if OPERATOR, of a request, is a function of Swank other than those that evaluate code of the user, or set *BREAK-ON-SIGNALS* for all."
  (and (eql 0 (search "SWANK" (package-name (symbol-package operator))))
       (not (search "EVAL" (symbol-name operator)))
       (not (search "BREAK-ON-SIGNALS" (symbol-name operator)))))

(defun call-with-settings-for (form function)
  "Call FUNCTION, which evaluates FORM, a request, with the settings that FORM needs: what the user has set must not change what the library
reads and prints, nor stop it. Code in a stopped thread has the thread's settings."
  (let ((operator (and (consp form) (symbolp (first form)) (symbol-package (first form)) (first form))))
    (cond ((null operator) (funcall function))
          ((plusp *sldb-level*) (let ((*break-on-signals* nil)) (funcall function)))
          ((standard-request-p operator) (with-standard-settings (funcall function)))
          ((swank-request-p operator) (let ((*break-on-signals* nil)) (funcall function)))
          (t (funcall function)))))

(defun evaluate-request (form)
  "Evaluate FORM, the innermost request's, and return its value as data."
  (funcall (request-begun (first *requests*)))
  ;; Swank's handler keeps the last condition, and prints it in a cleanup form, where an error could not be unwound
  (let ((sb-kernel:*handler-clusters* (request-handlers (first *requests*))))
    (sendable (call-with-settings-for form (lambda () (eval form))))))

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
