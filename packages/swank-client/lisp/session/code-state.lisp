;;;; What is bound in the threads that run clients' code, and the conditions that stop them.

(in-package #:swank-client/code-state)

(define-condition interrupted (interruption)
  ((activity :initarg :activity :initform "evaluation" :reader interrupted-activity))
  (:report (lambda (condition stream) (format stream "The ~a was interrupted." (interrupted-activity condition))))
  (:documentation "Signalled when the client interrupts an evaluation or a thread."))

(define-condition breakpoint-reached (runtime-stop)
  ((id :initarg :id :reader reached-breakpoint)
   (hit :initarg :hit :reader reached-hit)
   (text :initarg :text :reader reached-text))
  (:report (lambda (condition stream) (write-string (reached-text condition) stream)))
  (:documentation "Signalled when a breakpoint stops a call."))

(define-condition exit-refused (error)
  ((operator :initarg :operator :reader refused-operator))
  (:report (lambda (condition stream)
             (format stream "~s is refused: it would end the image for all its clients. Ask the user to evaluate it."
                     (refused-operator condition))))
  (:documentation "Signalled when code that may not end the image tries to."))

(defvar *condition-log* nil "The log of the conditions that this thread signals, or NIL.")

(defvar *source* nil "The stream that the forms are read from.")

(defvar *input* nil "The stream that the code reads its standard input from.")

(defvar *stop-hook* nil "A function that this thread calls before it stops in the debugger, or NIL.")

(defvar *outermost-restart* nil "The last restart before those of Swank.")

(defvar *breakpoint-call* nil "(NAME . ARGUMENTS) of the call that a breakpoint stopped before it began.")

(defvar *breakpoint-variables* '() "((NAME . VALUE) ...) of that call's arguments.")

(defvar *breakpoint-lambda-list* '() "The lambda list of the function of that call.")

(defvar *in-user-code* nil "True while a form of the client runs, false in the runtime's own code.")

(defvar *for-stepping* nil "True if the code that is evaluated is compiled with stepping information.")

(defvar *code-unwinds* nil "True if errors in threads that this code starts end the threads instead of stopping them.")
