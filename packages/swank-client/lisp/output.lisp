;;;; Streams that send what is written to one evaluation's own target, as it comes.

(in-package #:@runtime@)

(defconstant +buffer-size+ 4000)
(defconstant +flush-interval+ 3/100)
(defconstant +idle-seconds+ 5)
(defconstant +unacknowledged-limit+ 400000)

(defclass output (sb-gray:fundamental-character-output-stream)
  ((connection :initarg :connection :reader output-connection)
   ;; (EVALUATION-ID STREAM-NUMBER), what the client knows the text by
   (target :initarg :target :reader output-target)
   (limit :initarg :limit :reader output-limit)
   (tail-size :initarg :tail-size :reader output-tail-size)
   (lock :initform (sb-thread:make-mutex :name "swank-client output") :reader output-lock)
   ;; made by the first write: most evaluations print nothing
   (buffer :initform nil :accessor output-buffer)
   (fill :initform 0 :type fixnum :accessor output-fill)
   (column :initform 0 :type fixnum :accessor output-column)
   (sent :initform 0 :accessor output-sent)
   (unacknowledged :initform 0 :accessor output-unacknowledged)
   ;; past the limit only the last characters are kept, and the others counted
   (tail :initform nil :accessor output-tail)
   (dropped :initform 0 :accessor output-dropped)
   (dirty :initform nil :accessor output-dirty)))

(defmacro with-output-locked ((stream) &body body)
  "Run BODY with STREAM's lock and without interrupts: a thread stopped in here would block the flusher for good."
  `(sb-thread::with-system-mutex ((output-lock ,stream)) ,@body))

(defun send-text (stream text dropped)
  (let ((target (output-target stream)))
    (swank::send (swank::mconn.control-thread (output-connection stream))
                 (list :write-string text (if (plusp dropped) (append target (list dropped)) target)))))

(defun keep-tail (stream text)
  (let* ((size (output-tail-size stream))
         (known (output-tail stream))
         (excess (- (+ (length known) (length text)) size)))
    (when (plusp excess) (incf (output-dropped stream) excess))
    (setf (output-tail stream)
          (if (>= (length text) size)
              (subseq text (- (length text) size))
              (concatenate 'string (subseq known (min (length known) (max 0 excess))) text)))))

(defun drain-buffer (stream)
  "Hand the buffered text on. The caller holds the lock."
  (let ((count (output-fill stream)))
    (when (plusp count)
      (let* ((text (subseq (output-buffer stream) 0 count))
             (room (max 0 (- (output-limit stream) (output-sent stream)))))
        (setf (output-fill stream) 0)
        (cond ((>= room count) (send-head stream text))
              (t (when (plusp room) (send-head stream (subseq text 0 room)))
                 (keep-tail stream (subseq text room))))))))

(defun send-head (stream text)
  (incf (output-sent stream) (length text))
  (incf (output-unacknowledged stream) (length text))
  (send-text stream text 0))

(defun flush-output (stream)
  "Send everything that STREAM holds, the text after a gap with the size of the gap."
  (with-output-locked (stream)
    (drain-buffer stream)
    (when (output-tail stream)
      (send-text stream (output-tail stream) (output-dropped stream))
      (setf (output-tail stream) nil
            (output-dropped stream) 0))))

(defvar *awaited* nil "The connection whose client this thread waits for.")

;;; A program that prints faster than the client reads waits here, outside the lock.
(defun await-acknowledgement (stream)
  (when (> (output-unacknowledged stream) +unacknowledged-limit+)
    (setf (output-unacknowledged stream) 0)
    (let ((*awaited* (output-connection stream)))
      (catch 'acknowledged
        ;; looked at with *AWAITED* set: whoever cleans up after the client sees one or the other
        (when (connection-open-p *awaited*)
          (swank::with-connection (*awaited*) (swank::ping-pong)))))))

(defun end-waits (connection)
  "Have the threads go on that wait for CONNECTION's client, which is gone."
  (flet ((waits-p (thread)
           (eq connection (ignore-errors (sb-thread:symbol-value-in-thread '*awaited* thread nil)))))
    (dolist (thread (remove-if-not #'waits-p (sb-thread:list-all-threads)))
      (call-in-thread thread
                      (lambda () (waits-p sb-thread:*current-thread*))
                      (lambda () (throw 'acknowledged nil))))))

(defun ready-buffer (stream)
  (or (output-buffer stream)
      (setf (output-buffer stream) (make-string +buffer-size+))))

(defun write-to-buffer (stream string start end)
  (declare (type string string) (type fixnum start end))
  (loop while (< start end)
        do (let* ((fill (output-fill stream))
                  (count (min (- end start) (- +buffer-size+ fill))))
             (replace (the simple-string (ready-buffer stream)) string :start1 fill :start2 start :end2 (+ start count))
             (setf (output-fill stream) (+ fill count))
             (incf start count)
             (when (= (output-fill stream) +buffer-size+) (drain-buffer stream)))))

(defun last-newline (string start end)
  "Its position in STRING, or NIL; POSITION takes longer than everything else about writing a line."
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

;;; FINISH-OUTPUT after every line is common: it schedules, or each line would be a message.
(defmethod sb-gray:stream-force-output ((stream output)) (schedule-flush stream) nil)
(defmethod sb-gray:stream-finish-output ((stream output)) (schedule-flush stream) nil)

;;; One flusher a image, started on demand, ended when idle: nothing may outlive the work.

(defvar *flusher-lock* (sb-thread:make-mutex :name "swank-client flusher"))
(defvar *flusher-wakeup* (sb-thread:make-semaphore))
(defvar *flusher* nil)
(defvar *dirty-streams* '())

(defun schedule-flush (stream)
  (unless (output-dirty stream)
    (setf (output-dirty stream) t)
    (sb-thread::with-system-mutex (*flusher-lock*)
      (push stream *dirty-streams*)
      (unless (and *flusher* (sb-thread:thread-alive-p *flusher*))
        (setf *flusher* (start-helper #'flush-loop "swank-client output"))))
    (sb-thread:signal-semaphore *flusher-wakeup*)))

(defun take-dirty-streams ()
  (sb-thread::with-system-mutex (*flusher-lock*)
    (prog1 *dirty-streams* (setf *dirty-streams* '()))))

(defun retire-flusher ()
  "True if nothing came in meanwhile; the next writer then starts another."
  (sb-thread::with-system-mutex (*flusher-lock*)
    (when (null *dirty-streams*) (setf *flusher* nil) t)))

(defun flush-loop ()
  (loop
    (cond ((sb-thread:wait-on-semaphore *flusher-wakeup* :timeout (if (clients-p) +idle-seconds+ +flush-interval+))
           (sleep +flush-interval+)
           (dolist (stream (take-dirty-streams))
             ;; cleared before the text is taken, so that a write in between schedules again
             (setf (output-dirty stream) nil)
             (with-output-locked (stream) (drain-buffer stream))))
          ((retire-flusher) (return)))))

(defun make-output (connection id number limit tail-size)
  (make-instance 'output :connection connection :target (list id number) :limit limit :tail-size tail-size))
