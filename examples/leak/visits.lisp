;;;; A leak: what a visit registers when a user enters outlives the visit.

(defpackage #:visits
  (:use #:common-lisp)
  (:export #:announce #:serve))

(in-package #:visits)

(defstruct visit
  user
  (news '()))

(defvar *visits* (make-hash-table :test 'equal)
  "The visits that have not ended, by user.")

(defvar *listeners* '()
  "Functions to call with each piece of news.")

(defun enter (user)
  (let ((visit (make-visit :user user)))
    (push (lambda (news) (push news (visit-news visit))) *listeners*)
    (setf (gethash user *visits*) visit)))

(defun leave (user)
  (remhash user *visits*))

(defun announce (news)
  (dolist (listener *listeners*)
    (funcall listener news)))

(defun serve (count)
  "Let COUNT users come and go."
  (dotimes (n count count)
    (let ((user (format nil "user ~d" n)))
      (enter user)
      (leave user))))
