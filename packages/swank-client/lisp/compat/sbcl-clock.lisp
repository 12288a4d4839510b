;;;; Clocks of the system. SBCL's GET-INTERNAL-REAL-TIME goes forward in steps of 4 ms on Linux.

(defpackage #:swank-client/sbcl-clock
  (:documentation "Clocks of the system.")
  (:use #:common-lisp)
  (:export #:nanoseconds-now
           #:nanoseconds-run))

(in-package #:swank-client/sbcl-clock)

(defconstant +monotonic+ #+linux 1 #+darwin 6 #-(or linux darwin) 4 "The system's number of the clock that is never set.")

(defconstant +processor+ #+linux 2 #+darwin 12 #-(or linux darwin) 15 "The system's number of the clock of the process's processor time.")

(declaim (inline nanoseconds-of))
(defun nanoseconds-of (clock)
  "The time of CLOCK, a number of the system's, in nanoseconds."
  (multiple-value-bind (seconds nanoseconds) (sb-unix::clock-gettime clock)
    (+ (* 1000000000 (the (unsigned-byte 32) seconds)) (the (unsigned-byte 32) nanoseconds))))

(defun nanoseconds-now ()
  "Nanoseconds since some moment in the past."
  (nanoseconds-of +monotonic+))

(defun nanoseconds-run ()
  "Nanoseconds of processor time that the process has used."
  (nanoseconds-of +processor+))
