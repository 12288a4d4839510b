;;;; Measures what code costs, alone or compared with other code.

(in-package #:swank-client/profile)

(defconstant +fewest-rounds+ 3 "Times that both pieces of code run to be compared.")

(defconstant +most-rounds+ 15 "Most times that both run.")

(defconstant +comparing-seconds+ 3 "Seconds after which no more rounds begin.")

(defstruct cost
  "What something has cost: nanoseconds of time, of processor time of all threads, and of garbage collections, and bytes allocated."
  (real 0) (run 0) (gc 0) (bytes 0))

(defun cost-now ()
  "What the image has cost so far."
  (make-cost :real (nanoseconds-now) :run (nanoseconds-run) :gc (* 1000 (gc-microseconds)) :bytes (bytes-allocated)))

(defun cost-since (start)
  "What has been spent since the cost was START."
  (let ((now (cost-now)))
    (flet ((spent (key) (max 0 (- (funcall key now) (funcall key start)))))
      (make-cost :real (spent #'cost-real) :run (spent #'cost-run) :gc (spent #'cost-gc) :bytes (spent #'cost-bytes)))))

(defun cost-list (cost)
  "COST as (REAL RUN GC BYTES), times in microseconds."
  (list (round (cost-real cost) 1000) (round (cost-run cost) 1000) (round (cost-gc cost) 1000) (cost-bytes cost)))

(defun median-cost (costs)
  "The medians of COSTS."
  (flet ((median (key) (nth (floor (length costs) 2) (sort (mapcar key costs) #'<))))
    (make-cost :real (median #'cost-real) :run (median #'cost-run) :gc (median #'cost-gc) :bytes (median #'cost-bytes))))

(defun cost-of (function)
  "What a call of FUNCTION costs."
  (let ((start (cost-now)))
    (call-measured-code function)
    (cost-since start)))

(defun compared-costs (code against)
  "Call the functions CODE and AGAINST in turn. => (ROUNDS COST-LIST COST-LIST) with the medians of both"
  (loop with start = (nanoseconds-now)
        for rounds from 1
        collect (cost-of code) into costs
        collect (cost-of against) into others
        until (or (>= rounds +most-rounds+)
                  (and (>= rounds +fewest-rounds+) (> (- (nanoseconds-now) start) (* +comparing-seconds+ 1000000000))))
        finally (return (list rounds (cost-list (median-cost costs)) (cost-list (median-cost others))))))
