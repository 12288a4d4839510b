;;;; What the threads of a client's code print, sent to the client with the thread.

(in-package #:swank-client/evaluate)

;;; A new thread sees the image's own streams, on which its client reads nothing. Here it gets streams that send a copy to the client. A user who
;;; reads the image's own streams still sees the text there. What a launched image writes to its own standard output is only read by the server that
;;; has launched it: there, the text is only sent.

(defconstant +thread-output-limit+ 100000 "Characters that each stream of a thread sends until its client wants more.")

(defconstant +thread-output-tail+ 4000 "Characters that are kept of the end of the rest.")

(defun launched-p ()
  "True if this image was launched: only the client that did so receives what the process writes to its own standard output."
  (and (value-if-loaded "SWANK-CLIENT/LAUNCH" "*CONNECTION*") t))

(defclass thread-stream (output-stream)
  ((variable :initarg :variable :reader stream-variable)
   (session :initarg :session :reader stream-session)
   (launched :initform (launched-p) :reader stream-launched))
  (:documentation "A stream of a thread of SESSION's code, instead of the image's own stream, the global value of VARIABLE."))

(defun make-thread-output (connection evaluation-id number)
  "The output of this thread to CONNECTION's client. NUMBER is as in MAKE-OUTPUT, and EVALUATION-ID is that of the evaluation to which it belongs."
  (make-output-state connection
                     (list :printed evaluation-id number (current-thread-id)
                           (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*)))
                     +thread-output-limit+
                     +thread-output-tail+))

(defun output-of-thread (output)
  "The output of this thread instead of OUTPUT, that of an evaluation that has ended."
  (or (cdr (assoc output (rest *thread-outputs*)))
      (let ((own (make-thread-output (output-connection output) (first (output-target output)) (second (output-target output)))))
        (push (cons output own) (rest *thread-outputs*))
        own)))

(defun own-stdout-p (stream)
  "True if STREAM is a stream of the process itself."
  (loop while (typep stream 'synonym-stream)
        do (setf stream (sb-ext:symbol-global-value (synonym-stream-symbol stream))))
  (member stream (list sb-sys:*stdout* sb-sys:*stderr*)))

(defun stream-told (stream)
  "True if the client of STREAM, a THREAD-STREAM, is still told what is written there."
  (not (session-departed (stream-session stream))))

(defun users-stream (stream)
  "The stream of the user that gets what is written to STREAM, a THREAD-STREAM; NIL if nobody else reads it."
  (let ((global (sb-ext:symbol-global-value (stream-variable stream))))
    (unless (and (stream-told stream) (stream-launched stream) (own-stdout-p global))
      global)))

(defmethod sb-gray:stream-write-string ((stream thread-stream) string &optional (start 0) end)
  (let ((users (users-stream stream)))
    (when users (write-string string users :start start :end end))
    (when (stream-told stream) (call-next-method))
    string))

(defmethod sb-gray:stream-write-char ((stream thread-stream) char)
  (let ((users (users-stream stream)))
    (when users (write-char char users))
    (when (stream-told stream) (call-next-method))
    char))

(defmethod sb-gray:stream-force-output ((stream thread-stream))
  (let ((users (users-stream stream)))
    (when users (force-output users))
    (call-next-method)))

(defmethod sb-gray:stream-finish-output ((stream thread-stream))
  (let ((users (users-stream stream)))
    (when users (finish-output users))
    (call-next-method)))

(defun make-thread-stream (session variable output)
  "A stream for this thread that writes to OUTPUT instead of the global value of VARIABLE."
  (declare (notinline make-instance))
  (make-instance 'thread-stream :session session :variable variable :output output))

(defun outputs-of-thread (outputs)
  "All of OUTPUTS, a value of *THREAD-OUTPUTS*."
  (append (first outputs) (mapcar #'cdr (rest outputs))))

(defun call-with-thread-output (session evaluation function)
  "Call FUNCTION in this thread of SESSION's code, which EVALUATION started, with streams that send its output."
  (if (not (session-threads-told session))
      (funcall function)
      (let* ((id (and evaluation (evaluation-id evaluation)))
             (stdout (make-thread-output (session-connection session) id 1))
             (stderr (make-thread-output (session-connection session) id 2))
             (*thread-outputs* (list (list stdout stderr))))
        (setf (output-other stdout) stderr
              (output-other stderr) stdout)
        (unwind-protect
             (let ((*standard-output* (make-thread-stream session '*standard-output* stdout))
                   (*trace-output* (make-thread-stream session '*trace-output* stdout))
                   (*error-output* (make-thread-stream session '*error-output* stderr)))
               (funcall function))
          (drain-other stdout)
          (mapc #'flush-output (outputs-of-thread *thread-outputs*))))))

(defun renew-outputs (&optional id)
  "Let evaluation ID, or without ID all threads of this client's code, send as much output again as their limit. What they keep is sent now."
  (let ((evaluation (and id (gethash id (session-evaluations (current-session))))))
    (cond (evaluation
           (mapc (lambda (stream) (renew-limit (stream-output stream)))
                 (list (evaluation-stdout evaluation) (evaluation-stderr evaluation))))
          ((null id)
           (dolist (thread (sb-thread:list-all-threads))
             (dolist (output (outputs-of-thread (value-in-thread '*thread-outputs* thread)))
               (when (eq (output-connection output) *emacs-connection*) (renew-limit output))))))
    nil))
