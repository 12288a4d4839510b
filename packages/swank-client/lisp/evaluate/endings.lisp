;;;; Ends an evaluation from inside the code that it runs.

(in-package #:swank-client/evaluate)

(defun leave (evaluation result)
  "Unwind this thread to end EVALUATION with RESULT."
  (throw evaluation result))

(defun failure (evaluation facts)
  "The result of EVALUATION if it ends with the error that FACTS describe."
  (list :failed (list* :evaluated (1- (evaluation-form evaluation)) facts)))

(defun leave-with-failure (evaluation condition &rest facts)
  "End EVALUATION with a snapshot of CONDITION. The stack is unwound."
  (leave evaluation (failure evaluation (append facts (capture condition)))))
