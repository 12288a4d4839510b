;;;; Removes mailboxes of ended threads. On SBCL, Swank keeps a mailbox for every thread, and searches all of them for each message. It starts
;;;; a thread for each request: without this, requests take three times as long after some thousands.

(in-package #:swank-client/connection)

(defconstant +requests-between-prunings+ 16 "Requests after which mailboxes are removed.")

(defvar *requests-run* (list 0) "A cell with the number of requests that have ended.")

(defun prune-mailboxes ()
  "Remove the mailboxes of threads that have ended. Does nothing while another thread holds their lock, which may last as long as a stop."
  (let ((lock (mailbox-lock)))
    (when lock
      (sb-sys:without-interrupts
        (sb-thread:with-mutex (lock :wait-p nil)
          (setf *mailboxes* (delete-if-not #'sb-thread:thread-alive-p *mailboxes* :key #'mailbox.thread)))))))

(defun prune-mailboxes-at-times ()
  "Prune the mailboxes now and then. Called after each request and each evaluation."
  (when (zerop (mod (sb-ext:atomic-incf (car *requests-run*)) +requests-between-prunings+))
    (prune-mailboxes)))
