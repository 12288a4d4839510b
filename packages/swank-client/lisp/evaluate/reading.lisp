;;;; The forms of an evaluation, its standard input, and how it ends from inside.

(in-package #:swank-client/evaluate)

;;; Ends an evaluation from inside the code that it runs.

(defun note-unwinding (evaluation)
  "Note that EVALUATION is about to be unwound, if it is the first time."
  (unless (evaluation-unwound-at evaluation)
    (setf (evaluation-unwound-at evaluation) (get-internal-real-time))))

(defun leave (evaluation result)
  "Unwind this thread to end EVALUATION with RESULT."
  (note-unwinding evaluation)
  (throw evaluation result))

(defun failed-result (evaluation facts)
  "The result of EVALUATION if it ends with the error that FACTS describe."
  (list :failed (list* :evaluated (1- (evaluation-form evaluation)) facts)))

(defun leave-with-failure (evaluation condition &rest facts)
  "End EVALUATION with a snapshot of CONDITION and FACTS, such as :HELD, the lock because of which the thread must not stop. The stack is unwound."
  (leave evaluation (failed-result evaluation (append facts (capture condition)))))

;;; Reads the forms of an evaluation, and reports those that cannot be read.

;;; Names that were probably meant

(defun homes-text (symbols package)
  "The names of the packages of SYMBOLS, that of PACKAGE first."
  (let ((homes (stable-sort (sort (mapcar #'home-name symbols) #'string<)
                            (lambda (one other) (and (string= one (package-name package)) (string/= one other))))))
    (format nil "~{~a~^, ~}" (subseq homes 0 (min +suggestions+ (length homes))))))

(defun symbol-hint (name package)
  "Where symbols named NAME are, which is not an external symbol of PACKAGE, or NIL."
  (let ((symbols (symbols-worth-naming name)))
    (if symbols
        (format nil "~a is in ~a~:[~;; internal symbols need ::~]" name (homes-text symbols package)
                (notevery (lambda (symbol) (eq :external (nth-value 1 (accessible-symbol name (symbol-package symbol))))) symbols))
        (let ((similar (similar-symbols name package)))
          (and similar
               (format nil "Similar names in ~a: ~{~a~^, ~}" (package-name package)
                       (subseq similar 0 (min +suggestions+ (length similar)))))))))

(defun near-names (condition)
  "A hint for CONDITION, a reader's error about a package or a symbol, or NIL."
  (when (typep condition '(and reader-error package-error simple-condition))
    (let ((designator (package-error-package condition))
          (name (first (simple-condition-format-arguments condition))))
      (if (packagep designator)
          (and (stringp name) (symbol-hint name designator))
          (let ((similar (similar-packages (string designator))))
            (and similar (format nil "Packages with similar names: ~{~a~^, ~}" similar)))))))

;;; Reading

(defun reader-frame-p (frame)
  "True if FRAME, an entry of a snapshot, is the reader's own, and not that of code in #. or of a reader macro."
  (destructuring-bind (index text kind) frame
    (declare (ignore index))
    (or (eq kind :system)
        (eql 0 (search "(READ " text))
        (eql 0 (search "(SB-IMPL::" text)))))

(defun leave-unread (evaluation condition &rest facts)
  "End EVALUATION with a snapshot of CONDITION, and FACTS. The snapshot has no stack if that is only the reader's."
  (let ((snapshot (capture condition)))
    (when (every #'reader-frame-p (getf snapshot :frames))
      (setf (getf snapshot :frames) '()
            (getf snapshot :total) 0))
    (leave evaluation (failed-result evaluation (append facts snapshot)))))

(defun leave-if-odd (evaluation code)
  "End EVALUATION before any form of CODE runs if CODE has a character that would silently become part of a name."
  (let ((problem (recording-faults (odd-character-in code))))
    (when problem
      (setf (evaluation-form evaluation) 1)
      ;; the stack is the runtime's
      (leave evaluation (failed-result evaluation (list* :frames '() :total 0 (capture problem)))))))

(defun read-form (evaluation stream eof)
  "The next form of STREAM, or EOF. A read error ends the evaluation, because a stopped thread must not hold the reader's locks."
  (handler-bind ((serious-condition (lambda (condition)
                                      (leave-unread evaluation condition
                                                    :offset (recording-faults (file-position stream))
                                                    :hint (recording-faults (near-names condition))))))
    (read-user stream eof)))

(defun map-forms (function code)
  "Call FUNCTION with each form of CODE, its start and its end, before the next form is read. CODE is part of a form that this thread evaluates.
If it cannot be read, the evaluation ends."
  (leave-if-odd *evaluation* code)
  (loop with source = (make-string-input-stream code)
        with eof = (list nil)
        for start = (file-position source)
        for form = (handler-bind ((serious-condition
                                    (lambda (condition)
                                      (leave-unread *evaluation* condition :hint (recording-faults (near-names condition))))))
                     (let ((*source* source)) (read-user source eof)))
        until (eq form eof)
        do (funcall function form start (file-position source))))

(defun check-source (evaluation code)
  "Read CODE, which a scan found unbalanced, so that the reader's error ends the evaluation before any form runs.
Interns and executes nothing. Returns if the current readtable finds no error."
  (let ((*read-suppress* t)
        (*source* (make-string-input-stream code))
        (eof (list nil)))
    (setf (evaluation-form evaluation) 1)
    (handler-bind ((serious-condition (lambda (condition) (leave-unread evaluation condition))))
      (loop until (eq eof (read-user *source* eof))))
    (setf (evaluation-form evaluation) 0)))

;;; The standard input of evaluated code: what the client gives at the start, at a stop, and while the code runs.

(defun request-input (evaluation)
  "The next text of the client of EVALUATION, or the empty string at the end of its input. Waits until the client answers.
Only the thread of EVALUATION waits, which ends with its client. For other threads the input is at its end."
  (cond ((eq *evaluation* evaluation)
         (flush-evaluation evaluation)
         (let ((tag (make-tag)))
           (send-to-emacs (list :write-string "" (list (evaluation-id evaluation) 4 0 (current-thread-id) tag)))
           (third (wait-for-event `(:emacs-return-string ,tag text)))))
        (t "")))

(defun next-input (evaluation)
  "The next line that was given at a stop of EVALUATION, or that the client gives when the code asks for it; or the empty string at the end."
  (or (with-system-mutex ((evaluation-lock evaluation))
        (pop (evaluation-given-input evaluation)))
      (if (evaluation-prompted evaluation) (request-input evaluation) "")))

(defun later-input (evaluation)
  "A stream of what the client gives at stops of EVALUATION and when the code asks for it."
  (swank/backend:make-input-stream (lambda () (next-input evaluation))))

(defun evaluation-input (evaluation text)
  "A stream of TEXT, then of what LATER-INPUT gives."
  (make-concatenated-stream (make-string-input-stream text) (later-input evaluation)))

(defun text-lines (text &optional as-it-is)
  "The lines of TEXT, each with its line feed; the last one may have none if AS-IT-IS. Functions such as Y-OR-N-P discard what follows in the
line that they read."
  (with-input-from-string (stream text)
    (loop for (line missing-newline) = (multiple-value-list (read-line stream nil nil))
          while (and line (not (and missing-newline (string= line ""))))
          collect (if (and missing-newline as-it-is) line (format nil "~a~%" line)))))

(defun left-input ()
  "The text that the code of this stopped thread's evaluation finds next, without what the client gives when the code asks for it."
  (let ((lines (text-lines (with-output-to-string (text)
                             (dolist (stream (concatenated-stream-streams *input*))
                               (loop while (listen stream) do (write-char (read-char stream) text)))
                             (format text "~{~a~}" (evaluation-given-input *evaluation*)))
                           t)))
    (set-input lines)
    (format nil "~{~a~}" lines)))

(defun set-input (lines)
  "Make the code of this stopped thread's evaluation read LINES instead of what is left, even if it has read the end of its input."
  (continue-concatenated-stream *input* (list (later-input *evaluation*)))
  (with-system-mutex ((evaluation-lock *evaluation*))
    (setf (evaluation-given-input *evaluation*) lines)))

(defun give-input (lines)
  "Make the code of this stopped thread's evaluation read LINES next, after what is left, even if it has read the end of its input."
  (unless (concatenated-stream-streams *input*)
    (continue-concatenated-stream *input* (list (later-input *evaluation*))))
  (with-system-mutex ((evaluation-lock *evaluation*))
    (setf (evaluation-given-input *evaluation*) (append (evaluation-given-input *evaluation*) lines))))

;;; Values instead of text

(defun given-value (index)
  "The values that were given to this thread's evaluation under INDEX, a number as text. Only evaluated text calls it."
  (values-list (nth (parse-integer index) (evaluation-given-values *evaluation*))))

(defun line-with-values (values)
  "A line that the code of this thread's evaluation reads and evaluates, and that gives VALUES."
  (let ((index (length (evaluation-given-values *evaluation*))))
    (setf (evaluation-given-values *evaluation*) (append (evaluation-given-values *evaluation*) (list values)))
    ;; the bars keep the names as they are in every readtable case; the code may read with any number base
    (format nil "(|~a|::|~a| \"~d\")~%" (package-name (symbol-package 'given-value)) (symbol-name 'given-value) index)))

;;; The questions of ASSERT

(defun unanswered (places)
  "The refusal of input that does not answer ASSERT's questions about PLACES."
  (cons :unanswered (mapcar (lambda (place) (line-text place 100)) places)))

(defun answers-in (text places)
  "(:values ANSWERS TEXT) of TEXT, which answers ASSERT's questions about PLACES, or a refusal. An answer is a list of the list of the new
values, several for a place such as (VALUES A B), or NIL. None is evaluated unless all are there. TEXT in the result is what the code reads next."
  (with-input-from-string (stream text)
    (loop for (nil . others) on places
          for line = (string-left-trim " " (read-line stream nil ""))
          collect (case (and (string/= line "") (char-downcase (char line 0)))
                    (#\y (let ((form (handler-case (read-preserving-whitespace stream) (end-of-file () (return (unanswered places))))))
                           (read-line stream nil)
                           (list form)))
                    (#\n '())
                    (t (return (unanswered places))))
            into answers
          finally (return (let ((rest (subseq text (file-position stream))))
                            (list :values (loop for answer in answers collect (and answer (list (multiple-value-list (eval (first answer))))))
                                  rest))))))

(defun give-answers (answers text)
  "Make the code of ASSERT read ANSWERS, of ANSWERS-IN, and then TEXT, instead of what is left of its input."
  (set-input (append (loop for answer in answers
                           append (if answer (list (format nil "y~%") (line-with-values (first answer))) (list (format nil "n~%"))))
                     (text-lines text t))))
