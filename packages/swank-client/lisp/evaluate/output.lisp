;;;; Streams that send an evaluation's output to the client while the code runs.

(in-package #:swank-client/evaluate)

(defconstant +buffer-size+ 4000 "Characters that a stream buffers before it sends them.")

(defconstant +flush-interval+ 3/100 "Longest time in seconds before text is sent.")

(defconstant +idle-seconds+ 5 "Seconds that the flusher waits for more text before it ends.")

(defconstant +unacknowledged-limit+ 400000 "Characters that may be sent before the client must acknowledge them.")

(defclass output (sb-gray:fundamental-character-output-stream)
  ((connection :initarg :connection :reader output-connection)
   ;; (EVALUATION-ID STREAM-NUMBER), sent with the text
   (target :initarg :target :reader output-target)
   (limit :initarg :limit :reader output-limit)
   (tail-size :initarg :tail-size :reader output-tail-size)
   (lock :initform (sb-thread:make-mutex :name "swank-client output") :reader output-lock)
   ;; created by the first write, because most evaluations print nothing
   (buffer :initform nil :accessor output-buffer)
   (fill :initform 0 :type fixnum :accessor output-fill)
   (column :initform 0 :type fixnum :accessor output-column)
   (sent :initform 0 :accessor output-sent)
   (unacknowledged :initform 0 :accessor output-unacknowledged)
   ;; past the limit, the last characters are kept and the others counted
   (tail :initform nil :accessor output-tail)
   (dropped :initform 0 :accessor output-dropped)
   (dirty :initform nil :accessor output-dirty))
  (:documentation "A stream that sends its text to the client of an evaluation."))

(defmacro with-output-locked ((stream) &body body)
  "Run BODY with STREAM's lock and without interrupts, because a thread that stopped here would block the flusher."
  `(with-system-mutex ((output-lock ,stream)) ,@body))

(defun send-text (stream text dropped)
  "Send TEXT of STREAM, which follows a gap of DROPPED characters."
  (let ((target (output-target stream)))
    (send (mconn.control-thread (output-connection stream))
                 (list :write-string text (if (plusp dropped) (append target (list dropped)) target)))))

(defun keep-tail (stream text)
  "Keep the last characters of TEXT, which is past STREAM's limit, and count those dropped."
  (let* ((size (output-tail-size stream))
         (known (output-tail stream))
         (excess (- (+ (length known) (length text)) size)))
    (when (plusp excess) (incf (output-dropped stream) excess))
    (setf (output-tail stream)
          (if (>= (length text) size)
              (subseq text (- (length text) size))
              (concatenate 'string (subseq known (min (length known) (max 0 excess))) text)))))

(defun drain-buffer (stream)
  "Send or keep the buffered text. The caller holds the lock."
  (let ((count (output-fill stream)))
    (when (plusp count)
      (let* ((text (subseq (output-buffer stream) 0 count))
             (room (max 0 (- (output-limit stream) (output-sent stream)))))
        (setf (output-fill stream) 0)
        (cond ((>= room count) (send-head stream text))
              (t (when (plusp room) (send-head stream (subseq text 0 room)))
                 (keep-tail stream (subseq text room))))))))

(defun send-head (stream text)
  "Send TEXT of STREAM, which is within its limit."
  (incf (output-sent stream) (length text))
  (incf (output-unacknowledged stream) (length text))
  (send-text stream text 0))

(defun flush-output (stream)
  "Send all text that STREAM holds. Text after a gap is sent with the size of the gap."
  (with-output-locked (stream)
    (drain-buffer stream)
    (when (output-tail stream)
      (send-text stream (output-tail stream) (output-dropped stream))
      (setf (output-tail stream) nil
            (output-dropped stream) 0))))

(defvar *awaited* nil "The connection whose acknowledgement this thread waits for.")

;;; A program that prints faster than the client reads waits here, without the lock.
(defun await-acknowledgement (stream)
  "If much text is unacknowledged, wait until the client of STREAM has read it. The caller does not hold the lock."
  (when (> (output-unacknowledged stream) +unacknowledged-limit+)
    (setf (output-unacknowledged stream) 0)
    (let ((*awaited* (output-connection stream)))
      (catch 'acknowledged
        ;; checked while *AWAITED* is bound, so that a concurrent END-WAITS either finds this thread or is noticed here
        (when (connection-open-p *awaited*)
          (with-connection (*awaited*) (ping-pong)))))))

(defun end-waits (connection)
  "Resume the threads that wait for CONNECTION's client, which has disconnected."
  (flet ((waits-p (thread)
           (eq connection (ignore-errors (sb-thread:symbol-value-in-thread '*awaited* thread nil)))))
    (dolist (thread (remove-if-not #'waits-p (sb-thread:list-all-threads)))
      (call-in-thread thread
                      (lambda () (waits-p sb-thread:*current-thread*))
                      (lambda () (throw 'acknowledged nil))))))

(defun ready-buffer (stream)
  "The buffer of STREAM, created if there is none."
  (or (output-buffer stream)
      (setf (output-buffer stream) (make-string +buffer-size+))))

(defun write-to-buffer (stream string start end)
  "Buffer STRING from START to END, and drain full buffers. The caller holds the lock."
  (declare (type string string) (type fixnum start end))
  (loop while (< start end)
        do (let* ((fill (output-fill stream))
                  (count (min (- end start) (- +buffer-size+ fill))))
             (replace (the simple-string (ready-buffer stream)) string :start1 fill :start2 start :end2 (+ start count))
             (setf (output-fill stream) (+ fill count))
             (incf start count)
             (when (= (output-fill stream) +buffer-size+) (drain-buffer stream)))))

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

(defmethod sb-gray:stream-write-string ((stream output) string &optional (start 0) end)
  (let* ((end (or end (length string)))
         (newline (last-newline string start end)))
    (with-output-locked (stream)
      (write-to-buffer stream string start end)
      (setf (output-column stream)
            (if newline (- end newline 1) (+ (output-column stream) (- end start)))))
    (schedule-flush stream)
    (await-acknowledgement stream)
    string))

(defmethod sb-gray:stream-write-char ((stream output) char)
  (with-output-locked (stream)
    (let ((fill (output-fill stream)))
      (setf (schar (the simple-string (ready-buffer stream)) fill) char
            (output-fill stream) (1+ fill)
            (output-column stream) (if (char= char #\Newline) 0 (1+ (output-column stream))))
      (when (= (1+ fill) +buffer-size+) (drain-buffer stream))))
  (schedule-flush stream)
  (await-acknowledgement stream)
  char)

(defmethod sb-gray:stream-line-column ((stream output)) (output-column stream))

;;; FINISH-OUTPUT only schedules a flush: many programs call it after every line, and each line would be a message.
(defmethod sb-gray:stream-force-output ((stream output)) (schedule-flush stream) nil)

(defmethod sb-gray:stream-finish-output ((stream output)) (schedule-flush stream) nil)

;;; One flusher per image. It is started on demand and ends when idle.

(defvar *flusher-lock* (sb-thread:make-mutex :name "swank-client flusher") "Held while *FLUSHER* and *DIRTY-STREAMS* change.")

(defvar *flusher-wakeup* (sb-thread:make-semaphore) "Signalled when the flusher has something to do.")

(defvar *flusher* nil "The thread that sends buffered text, or NIL.")

(defvar *dirty-streams* '() "Streams with text that the flusher has not sent.")

(defun schedule-flush (stream)
  "Make the flusher send the text that STREAM has buffered."
  (unless (output-dirty stream)
    (setf (output-dirty stream) t)
    (with-system-mutex (*flusher-lock*)
      (push stream *dirty-streams*)
      (unless (and *flusher* (sb-thread:thread-alive-p *flusher*))
        (setf *flusher* (start-runtime-thread #'flush-loop "swank-client output"))))
    (sb-thread:signal-semaphore *flusher-wakeup*)))

(defun take-dirty-streams ()
  "Remove and return the streams that are to be flushed."
  (with-system-mutex (*flusher-lock*)
    (prog1 *dirty-streams* (setf *dirty-streams* '()))))

(defun retire-flusher ()
  "Let the flusher end unless streams are waiting. => true if it may end; the next writer then starts another one"
  (with-system-mutex (*flusher-lock*)
    (when (null *dirty-streams*) (setf *flusher* nil) t)))

(defun flush-loop ()
  "The function of the flusher thread."
  (loop
    (cond ((sb-thread:wait-on-semaphore *flusher-wakeup* :timeout (if (clients-p) +idle-seconds+ +flush-interval+))
           (sleep +flush-interval+)
           (dolist (stream (take-dirty-streams))
             ;; cleared before the text is taken, so that a concurrent write schedules another flush
             (setf (output-dirty stream) nil)
             (with-output-locked (stream) (drain-buffer stream))))
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
  (make-instance 'output :connection connection :target (list id number) :limit limit :tail-size tail-size))

(defun flush-evaluation (evaluation)
  "Send all output of EVALUATION."
  (flush-output (evaluation-stdout evaluation))
  (flush-output (evaluation-stderr evaluation)))
