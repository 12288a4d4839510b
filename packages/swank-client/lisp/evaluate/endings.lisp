;;;; Ends an evaluation from inside the code that it runs.

(in-package #:swank-client/evaluate)

(defun note-unwinding (evaluation)
  "Note that EVALUATION is about to be unwound, if it is the first time."
  (unless (evaluation-unwound-at evaluation)
    (setf (evaluation-unwound-at evaluation) (get-internal-real-time))))

(defun leave (evaluation result)
  "Unwind this thread to end EVALUATION with RESULT."
  (note-unwinding evaluation)
  (throw evaluation result))

(defun failure (evaluation facts)
  "The result of EVALUATION if it ends with the error that FACTS describe."
  (list :failed (list* :evaluated (1- (evaluation-form evaluation)) facts)))

(defun leave-with-failure (evaluation condition &rest facts)
  "End EVALUATION with a snapshot of CONDITION. The stack is unwound."
  (leave evaluation (failure evaluation (append facts (capture condition)))))
