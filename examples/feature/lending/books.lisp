(in-package #:lending)

(defclass book ()
  ((title :initarg :title :reader title)
   (borrower :initform nil :accessor borrower :documentation "The member who has it, or NIL.")))

(defmethod print-object ((book book) stream)
  (print-unreadable-object (book stream :type t)
    (format stream "~s" (title book))))

(define-condition not-available (error)
  ((book :initarg :book :reader unavailable-book))
  (:report (lambda (condition stream)
             (let ((book (unavailable-book condition)))
               (format stream "~a has ~s." (borrower book) (title book))))))

(defun lend (book member)
  "Lend BOOK to MEMBER. Signal NOT-AVAILABLE if somebody has it."
  (when (borrower book)
    (error 'not-available :book book))
  (setf (borrower book) member)
  book)

(defun give-back (book)
  "Take BOOK back from its borrower."
  (setf (borrower book) nil)
  book)
