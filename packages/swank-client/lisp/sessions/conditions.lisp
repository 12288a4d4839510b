;;;; Conditions, other than errors of the code, that stop a thread of a client.

(in-package #:swank-client/sessions)

(define-condition interrupted (condition)
  ((activity :initarg :activity :initform "evaluation" :reader interrupted-activity))
  (:report (lambda (condition stream) (format stream "The ~a was interrupted." (interrupted-activity condition))))
  (:documentation "Signalled when the client interrupts an evaluation or a thread."))

(define-condition breakpoint-reached (condition)
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
