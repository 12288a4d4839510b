;;;; The standard input of evaluated code: what the client gives at the start, at a stop, and while the code runs.

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

(defun next-input (evaluation prompted)
  "The next line that was given at a stop of EVALUATION; then, if PROMPTED, what the client gives; or the empty string at the end."
  (or (with-system-mutex ((evaluation-lock evaluation))
        (pop (evaluation-given-input evaluation)))
      (if prompted (request-input evaluation) "")))

(defun evaluation-input (evaluation text prompted)
  "A stream of TEXT, then of what the client gives at stops of EVALUATION and, if PROMPTED, when the code asks for it."
  (make-concatenated-stream (make-string-input-stream text)
                            (swank/backend:make-input-stream (lambda () (next-input evaluation prompted)))))

(defun text-lines (text)
  "The lines of TEXT, each with its line feed. Functions such as Y-OR-N-P discard what follows in the line that they read."
  (with-input-from-string (stream text)
    (loop for (line missing-newline) = (multiple-value-list (read-line stream nil nil))
          while (and line (not (and missing-newline (string= line ""))))
          collect (format nil "~a~%" line))))

(defun give-input (lines)
  "Make the code of this stopped thread's evaluation read LINES next."
  (with-system-mutex ((evaluation-lock *evaluation*))
    (setf (evaluation-given-input *evaluation*) (append (evaluation-given-input *evaluation*) lines))))

;;; Values instead of text

(defun given-value (index)
  "The value that was given to this thread's evaluation under INDEX, a number as text. Only evaluated text calls it."
  (nth (parse-integer index) (evaluation-given-values *evaluation*)))

(defun line-with-value (value)
  "A line that the code of this thread's evaluation reads and evaluates, and that gives VALUE."
  (let ((index (length (evaluation-given-values *evaluation*))))
    (setf (evaluation-given-values *evaluation*) (append (evaluation-given-values *evaluation*) (list value)))
    ;; the bars keep the names as they are in every readtable case; the code may read with any number base
    (format nil "(|~a|::|~a| \"~d\")~%" (package-name (symbol-package 'given-value)) (symbol-name 'given-value) index)))
