;;;; Conditions, other than errors of the code, that stop a thread of a client.

(in-package #:swank-client/sessions)

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

(define-condition odd-character (parse-error)
  ((char :initarg :char :reader odd-char)
   (meant :initarg :meant :reader meant-instead)
   ;; its index in the text
   (position :initarg :position :reader odd-position)
   ;; (LINE COLUMN), or NIL if something else names the place
   (place :initarg :place :initform nil :reader odd-place))
  (:report (lambda (condition stream)
             (format stream "U+~4,'0x ~:[~;~:*~a ~]~@[at line ~{~d, column ~d~} ~]becomes part of a name. ~:[Leave it out~;~:*Write ~a instead~], ~
                             or write the name with bars."
                     (char-code (odd-char condition))
                     (substitute #\Space #\_ (char-name (odd-char condition)))
                     (odd-place condition)
                     (meant-instead condition))))
  (:documentation "Signalled for code or a name with a character that is invisible, or looks like one of Lisp's syntax."))

(define-condition exit-refused (error)
  ((operator :initarg :operator :reader refused-operator))
  (:report (lambda (condition stream)
             (format stream "~s is refused: it would end the image for all its clients. Ask the user to evaluate it."
                     (refused-operator condition))))
  (:documentation "Signalled when code that may not end the image tries to."))
