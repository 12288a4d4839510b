;;;; Runs an image that serves its parent process over the socket inherited as descriptor 3.

(in-package #:swank-client/launch)

(defconstant +socket+ 3 "The socket to the process that started this one.")

(defvar *connection* nil "The connection to the process that started this image.")

(defvar *left* nil "True if Swank has closed the connection to the process that started this image.")

(defun leave (code)
  "End the process soon with CODE, at the latest after 3 s. Exit hooks and cleanup forms run first."
  (end-process-soon 3)
  (end-threads 1)
  (exit-process code))

(defun note-closing (connection)
  "Called by Swank with a CONNECTION that has closed."
  (when (eq connection *connection*) (setf *left* t)))

(defun watch-parent (parent)
  "Wait until the process PARENT has ended or has closed its end of the socket, and leave."
  (loop until (or *left*
                  (/= (parent-pid) parent)
                  (hung-up-p +socket+ 500)))
  (leave 0))

(defun serve (parent greeting)
  "Serve the process PARENT until it has gone. GREETING, sent first, identifies this image to it."
  (keep-from-children +socket+)
  (show-lines-at-once)
  (call-as-quit #'leave)
  (add-hook *connection-closed-hook* 'note-closing)
  (let ((stream (socket-stream +socket+)))
    (write-sequence (map 'vector #'char-code greeting) stream)
    (finish-output stream)
    (init)
    (start-sentinel)
    (setf *connection* (make-connection nil stream :spawn))
    (serve-requests *connection*))
  (watch-parent parent))
