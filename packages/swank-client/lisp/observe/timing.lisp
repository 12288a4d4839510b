;;;; Times code, alone or against other code, without a profiler: both run in turn, often enough for the clock.

(in-package #:swank-client/observe)

(defconstant +round-nanoseconds+ 10000000 "The least time of a round: the clock and what is around the code are then small.")

(defconstant +timing-nanoseconds+ 2000000000 "The time after which no further round begins, if there are enough.")

(defconstant +least-rounds+ 5 "Rounds of code that is timed.")

(defconstant +most-timed-rounds+ 200 "Most rounds of code that is timed.")

(defconstant +most-repeats+ 1000000 "Most runs of code in a round.")

(defstruct timed
  "FUNCTIONS that are timed, run REPEATS times in a round. TIMES are the nanoseconds of the rounds, the latest first; GC and BYTES those of all rounds."
  functions
  (repeats 1)
  (times '())
  (gc 0)
  (bytes 0))

(defun time-round (timed)
  "Run TIMED for a round, and note what it cost."
  (let ((cost (cost-of-repeats (timed-functions timed) (timed-repeats timed))))
    (push (cost-real cost) (timed-times timed))
    (incf (timed-gc timed) (cost-gc cost))
    (incf (timed-bytes timed) (cost-bytes cost))))

(defun cost-of-repeats (functions repeats)
  "What REPEATS calls of all FUNCTIONS cost."
  (let ((start (cost-now)))
    (loop repeat repeats
          do (dolist (function functions) (call-own function '())))
    (cost-since start)))

(defun chosen-repeats (functions)
  "The number of runs of FUNCTIONS after which a round is long enough."
  (loop with repeats = 1
        for time = (cost-real (cost-of-repeats functions repeats))
        until (or (>= time +round-nanoseconds+) (>= repeats +most-repeats+))
        do (setf repeats (min +most-repeats+
                              (max (* 2 repeats) (ceiling (* repeats +round-nanoseconds+) (max time 1)))))
        finally (return repeats)))

(defun timed-list (timed)
  "TIMED as (REPEATS (NANOSECONDS ...) GC-NANOSECONDS BYTES). All but REPEATS are for one run, rounded."
  (let* ((rounds (length (timed-times timed)))
         (runs (* rounds (timed-repeats timed))))
    (list (timed-repeats timed)
          (mapcar (lambda (time) (round time (timed-repeats timed))) (reverse (timed-times timed)))
          (round (timed-gc timed) runs)
          (round (timed-bytes timed) runs))))

(defun time-code (code against)
  "Run CODE and, unless it is NIL, AGAINST in turn for some seconds. It is called by evaluated code, so that it can stop.
=> (:time ROUNDS TIMED-LIST TIMED-LIST-OR-NIL (VALUE ...)) with the first values of CODE as text"
  (let* ((functions (compiled-parts code))
         (others (and against (compiled-parts against)))
         (values (value-texts (call-measured-code functions)))
         (all (progn
                (when others (call-measured-code others))
                (loop for each in (if against (list functions others) (list functions))
                      collect (make-timed :functions each :repeats (chosen-repeats each)))))
         (start (nanoseconds-now)))
    (loop for rounds from 1 to +most-timed-rounds+
          do (mapc #'time-round all)
             (when *evaluation* (report-progress *evaluation* "Timing: round ~d" rounds))
          until (and (>= rounds +least-rounds+) (> (- (nanoseconds-now) start) +timing-nanoseconds+)))
    (list :time (length (timed-times (first all))) (timed-list (first all)) (and against (timed-list (second all))) values)))
