;;;; The output of an evaluation, sent to the client while the code runs.

(in-package #:swank-client/evaluate)

(defconstant +buffer-size+ 4000 "Characters that a stream buffers before it sends them.")

(defconstant +flush-interval+ 3/100 "Longest time in seconds before text is sent.")

(defconstant +idle-seconds+ 5 "Seconds that the flusher waits for more text before it ends.")

(defconstant +unacknowledged-limit+ 400000 "Characters that may be sent before the client must acknowledge them.")

(defstruct (output (:type vector) (:constructor make-output-state (connection target limit tail-size)) (:copier nil))
  "What a stream has to send, and where."
  connection
  ;; (EVALUATION-ID STREAM-NUMBER), sent with the text
  target
  limit
  tail-size
  (lock (sb-thread:make-mutex :name "swank-client output"))
  ;; created by the first write, because most evaluations print nothing
  (buffer nil)
  (fill 0 :type fixnum)
  (column 0 :type fixnum)
  (sent 0)
  (unacknowledged 0)
  ;; past the limit, the last characters are kept and the others counted
  (tail nil)
  (dropped 0)
  (dirty nil)
  ;; the evaluation's other stream
  (other nil)
  ;; true if the code has finished text that is still in the buffer; of two streams, one at most has such text
  (finished nil)
  ;; true after the evaluation has ended, if its client is told what threads print
  (ended nil))

(defclass output-stream (sb-gray:fundamental-character-output-stream)
  ((output :initarg :output :reader stream-output))
  (:documentation "A stream that sends its text to the client of an evaluation."))

(defmacro with-output-locked ((output) &body body)
  "Run BODY with OUTPUT's lock and without interrupts, because a thread that stopped here would block the flusher."
  `(with-system-mutex ((output-lock ,output)) ,@body))

(defun send-text (output text dropped)
  "Send TEXT of OUTPUT, which follows a gap of DROPPED characters."
  (let ((target (output-target output)))
    (send (mconn.control-thread (output-connection output))
                 (list :write-string text (if (plusp dropped) (append target (list dropped)) target)))))

(defun keep-tail (output text)
  "Keep the last characters of TEXT, which is past OUTPUT's limit, and count those dropped."
  (let* ((size (output-tail-size output))
         (known (output-tail output))
         (excess (- (+ (length known) (length text)) size)))
    (when (plusp excess) (incf (output-dropped output) excess))
    (setf (output-tail output)
          (if (>= (length text) size)
              (subseq text (- (length text) size))
              (concatenate 'string (subseq known (min (length known) (max 0 excess))) text)))))

(defun drain-buffer (output)
  "Send or keep the buffered text. The caller holds the lock."
  (let ((count (output-fill output)))
    (when (plusp count)
      (let* ((text (subseq (output-buffer output) 0 count))
             (room (max 0 (- (output-limit output) (output-sent output)))))
        (setf (output-fill output) 0
              (output-finished output) nil)
        (cond ((>= room count) (send-head output text))
              (t (when (plusp room) (send-head output (subseq text 0 room)))
                 (keep-tail output (subseq text room))))))))

(defun send-head (output text)
  "Send TEXT of OUTPUT, which is within its limit."
  (incf (output-sent output) (length text))
  (incf (output-unacknowledged output) (length text))
  (send-text output text 0))

(defun drain-other (output)
  "Send the finished text of the other stream, which precedes what OUTPUT gets or sends now. The caller does not hold the lock."
  (let ((other (output-other output)))
    (when (and other (output-finished other))
      (with-output-locked (other) (drain-buffer other)))))

(defun send-tail (output)
  "Send all text that OUTPUT holds. Text after a gap is sent with the size of the gap. The caller holds the lock."
  (drain-buffer output)
  (when (output-tail output)
    (send-text output (output-tail output) (output-dropped output))
    (setf (output-tail output) nil
          (output-dropped output) 0)))

(defun flush-output (output)
  "Send all text that OUTPUT holds."
  (with-output-locked (output) (send-tail output)))

(defun renew-limit (output)
  "Send all text that OUTPUT holds, and let it send as much again as its limit."
  (with-output-locked (output)
    (send-tail output)
    (setf (output-sent output) 0)))

(defvar *awaited* nil "The connection whose acknowledgement this thread waits for.")

;;; A program that prints faster than the client reads waits here, without the lock.
(defun await-acknowledgement (output)
  "If much text is unacknowledged, wait until the client of OUTPUT has read it. The caller does not hold the lock."
  (when (> (output-unacknowledged output) +unacknowledged-limit+)
    (setf (output-unacknowledged output) 0)
    (let ((*awaited* (output-connection output)))
      (catch 'acknowledged
        ;; checked while *AWAITED* is bound, so that a concurrent END-WAITS either finds this thread or is noticed here
        (when (connection-open-p *awaited*)
          (with-connection (*awaited*) (ping-pong)))))))

(defun end-waits (connection)
  "Resume the threads that wait for CONNECTION's client, which has disconnected."
  (flet ((waits-p (thread)
           (eq connection (value-in-thread '*awaited* thread))))
    (dolist (thread (remove-if-not #'waits-p (sb-thread:list-all-threads)))
      (call-in-thread thread
                      (lambda () (waits-p sb-thread:*current-thread*))
                      (lambda () (throw 'acknowledged nil))))))

(defun ready-buffer (output)
  "The buffer of OUTPUT, created if there is none."
  (or (output-buffer output)
      (setf (output-buffer output) (make-string +buffer-size+))))

(defun write-to-buffer (output string start end)
  "Buffer STRING from START to END, and drain full buffers. The caller holds the lock."
  (declare (type string string) (type fixnum start end))
  (loop while (< start end)
        do (let* ((fill (output-fill output))
                  (count (min (- end start) (- +buffer-size+ fill))))
             (replace (the simple-string (ready-buffer output)) string :start1 fill :start2 start :end2 (+ start count))
             (setf (output-fill output) (+ fill count))
             (incf start count)
             (when (= (output-fill output) +buffer-size+) (drain-buffer output)))))

(defun last-newline (string start end)
  "The position of the last newline in STRING, or NIL. POSITION would take longer than the rest of writing a line."
  (declare (type string string) (type fixnum start end))
  (macrolet ((search-it (type)
               `(let ((string string))
                  (declare (type ,type string))
                  (loop for index of-type fixnum from (1- end) downto start
                        when (char= (char string index) #\Newline) return index))))
    (typecase string
      ((simple-array character (*)) (search-it (simple-array character (*))))
      (simple-base-string (search-it simple-base-string))
      (t (search-it string)))))

(defvar *thread-outputs* nil "In a thread of a client that is told what its threads print, a list of their outputs: see evaluate/thread-output.lisp.")

(declaim (ftype function output-of-thread))

(defun output-now (stream)
  "The output that gets what is written to STREAM: that of the thread if the evaluation of STREAM has ended."
  (let ((output (stream-output stream)))
    (if (and (output-ended output) *thread-outputs*) (output-of-thread output) output)))

(defmethod sb-gray:stream-write-string ((stream output-stream) string &optional (start 0) end)
  (let* ((output (output-now stream))
         (end (or end (length string)))
         (newline (last-newline string start end)))
    (drain-other output)
    (with-output-locked (output)
      (write-to-buffer output string start end)
      (setf (output-column output)
            (if newline (- end newline 1) (+ (output-column output) (- end start)))))
    (schedule-flush output)
    (await-acknowledgement output)
    string))

(defmethod sb-gray:stream-write-char ((stream output-stream) char)
  (let ((output (output-now stream)))
    (drain-other output)
    (with-output-locked (output)
      (let ((fill (output-fill output)))
        (setf (schar (the simple-string (ready-buffer output)) fill) char
              (output-fill output) (1+ fill)
              (output-column output) (if (char= char #\Newline) 0 (1+ (output-column output))))
        (when (= (1+ fill) +buffer-size+) (drain-buffer output))))
    (schedule-flush output)
    (await-acknowledgement output)
    char))

(defmethod sb-gray:stream-line-column ((stream output-stream)) (output-column (output-now stream)))

;;; FINISH-OUTPUT only schedules a flush: many programs call it after every line, and each line would be a message. The text is sent at
;;; once when the other stream is written to or finished, so that the client receives text in the order in which it was finished.
(defun finish-text (output)
  "Note that the buffered text of OUTPUT is finished, and make the flusher send it."
  (drain-other output)
  (with-output-locked (output)
    (setf (output-finished output) (plusp (output-fill output))))
  (schedule-flush output)
  nil)

(defmethod sb-gray:stream-force-output ((stream output-stream)) (finish-text (output-now stream)))

(defmethod sb-gray:stream-finish-output ((stream output-stream)) (finish-text (output-now stream)))

;;; One flusher per image. It is started on demand and ends when idle.

(defvar *flusher-lock* (sb-thread:make-mutex :name "swank-client flusher") "Held while *FLUSHER* and *DIRTY-OUTPUTS* change.")

(defvar *flusher-wakeup* (sb-thread:make-semaphore) "Signalled when the flusher has something to do.")

(defvar *flusher* nil "The thread that sends buffered text, or NIL.")

(defvar *dirty-outputs* '() "OUTPUTs with text that the flusher has not sent.")

(defun schedule-flush (output)
  "Make the flusher send the text that OUTPUT has buffered."
  (unless (output-dirty output)
    (setf (output-dirty output) t)
    (with-system-mutex (*flusher-lock*)
      (push output *dirty-outputs*)
      (unless (and *flusher* (sb-thread:thread-alive-p *flusher*))
        (setf *flusher* (start-runtime-thread #'flush-loop "swank-client output"))))
    (sb-thread:signal-semaphore *flusher-wakeup*)))

(defun take-dirty-outputs ()
  "Remove and return the outputs that are to be flushed."
  (with-system-mutex (*flusher-lock*)
    (prog1 *dirty-outputs* (setf *dirty-outputs* '()))))

(defun retire-flusher ()
  "Let the flusher end unless outputs are waiting. => true if it may end; the next writer then starts another one"
  (with-system-mutex (*flusher-lock*)
    (when (null *dirty-outputs*) (setf *flusher* nil) t)))

(defun flush-loop ()
  "The function of the flusher thread."
  (loop
    (cond ((sb-thread:wait-on-semaphore *flusher-wakeup* :timeout (if (clients-p) +idle-seconds+ +flush-interval+))
           (sleep +flush-interval+)
           (dolist (output (take-dirty-outputs))
             ;; cleared before the text is taken, so that a concurrent write schedules another flush
             (setf (output-dirty output) nil)
             (drain-other output)
             (with-output-locked (output) (drain-buffer output))))
          ((retire-flusher) (return)))))

(defun send-progress (evaluation text)
  "Send TEXT, which says what EVALUATION is doing, to its client. It is no output."
  (send (mconn.control-thread (session-connection (evaluation-session evaluation)))
        (list :write-string text (list (evaluation-id evaluation) 3))))

(defun make-output (connection id number limit tail-size)
  "A stream for evaluation ID of CONNECTION's client. NUMBER is 1 for standard output, 2 for error output.
LIMIT characters are sent, and of the rest the last TAIL-SIZE."
  ;; SBCL would otherwise compile a constructor at the first call, for 3 ms
  (declare (notinline make-instance))
  (make-instance 'output-stream :output (make-output-state connection (list id number) limit tail-size)))

(defun make-outputs (connection id limit tail-size)
  "The streams for the standard output and the error output of evaluation ID, as two values. The arguments are those of MAKE-OUTPUT."
  (let ((stdout (make-output connection id 1 limit tail-size))
        (stderr (make-output connection id 2 limit tail-size)))
    (setf (output-other (stream-output stdout)) (stream-output stderr)
          (output-other (stream-output stderr)) (stream-output stdout))
    (values stdout stderr)))

(defun flush-evaluation (evaluation)
  "Send all output of EVALUATION."
  (let ((stdout (stream-output (evaluation-stdout evaluation))))
    (drain-other stdout)
    (flush-output stdout)
    (flush-output (output-other stdout))))

(defun end-outputs (evaluation)
  "Send all output of EVALUATION, which has ended."
  (when (session-threads-told (evaluation-session evaluation))
    (dolist (stream (list (evaluation-stdout evaluation) (evaluation-stderr evaluation)))
      (setf (output-ended (stream-output stream)) t)))
  (flush-evaluation evaluation))

;;; Restores the image's own output after the Emacs disconnects that it was redirected to.

(defun restore-process-output (&optional closed)
  "Restore the process's streams if no REPL is left after CLOSED, so that the next REPL can receive the output.
Swank itself would redirect the output to the next connection, even one without a REPL, and never to a later REPL."
  (let ((owner (repl-symbol "*GLOBAL-STDIO-CONNECTION*"))
        (others (remove closed *connections*)))
    (when (and owner
               (boundp owner)
               (symbol-value owner)
               (not (member (symbol-value owner) others))
               (notany #'repl-p others))
      (funcall (repl-symbol "REVERT-GLOBAL-IO-REDIRECTION"))
      (setf (symbol-value owner) nil))))
