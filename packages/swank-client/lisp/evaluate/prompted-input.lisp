;;;; Standard input that the client gives while the code runs.

(in-package #:swank-client/evaluate)

(defun request-input (evaluation)
  "The next text of the client of EVALUATION, or the empty string at the end of its input. Waits until the client answers.
Only the thread of EVALUATION waits, which ends with its client. For other threads the input is at its end."
  (cond ((eq *evaluation* evaluation)
         (flush-evaluation evaluation)
         (let ((tag (make-tag)))
           (send-to-emacs (list :write-string "" (list (evaluation-id evaluation) 4 0 (current-thread-id) tag)))
           (third (wait-for-event `(:emacs-return-string ,tag text)))))
        (t "")))

(defun evaluation-input (evaluation text prompted)
  "A stream of TEXT. If PROMPTED, what the client of EVALUATION gives follows."
  (let ((given (make-string-input-stream text)))
    (if prompted
        (make-concatenated-stream given (swank/backend:make-input-stream (lambda () (request-input evaluation))))
        given)))
