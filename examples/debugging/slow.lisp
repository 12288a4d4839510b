;;; Counts words, and takes too long for many different ones.

(defpackage #:slow
  (:use #:common-lisp)
  (:export #:count-words #:words))

(in-package #:slow)

(defun words (count)
  "COUNT words, each of which occurs twice."
  (loop for i below count collect (format nil "word-~d" (mod i (floor count 2)))))

(defun same-word-p (one other)
  (string= one other))

(defun entry (word counts)
  (find word counts :key #'car :test #'same-word-p))

(defun count-words (words)
  "((WORD . COUNT) ...) in the order in which WORDS occur first."
  (let ((counts '()))
    (dolist (word words (reverse counts))
      (let ((entry (entry word counts)))
        (if entry
            (incf (cdr entry))
            (push (cons word 1) counts))))))
