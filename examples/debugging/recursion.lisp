;;; A wrong base case in a recursion: the error occurs where the numbers are added, not where the mistake is.

(defpackage #:recursion
  (:use #:common-lisp)
  (:export #:lucky-numbers))

(in-package #:recursion)

(defun digit-sum (n)
  (if (zerop n)
      '()
      (+ (mod n 10) (digit-sum (floor n 10)))))

(defun lucky-p (n)
  (zerop (mod (digit-sum n) 7)))

(defun lucky-numbers (numbers)
  "Return those of NUMBERS whose digits add up to a multiple of seven."
  (loop for number in numbers
        when (lucky-p number) collect number))
