;;;; Removes mailboxes of ended threads. On SBCL, Swank keeps a mailbox for every thread, and searches all of them for each message.

(in-package #:swank-client/evaluate)


(defvar *evaluations-run* (list 0) "A cell with the number of evaluations that have ended.")

(defun prune-mailboxes ()
  "Remove the mailboxes of threads that have ended."
  (let ((lock (mailbox-lock)))
    (when lock
      (sb-thread:with-mutex (lock)
        (setf *mailboxes* (delete-if-not #'sb-thread:thread-alive-p *mailboxes* :key #'mailbox.thread))))))

(defun prune-mailboxes-at-times ()
  "Prune the mailboxes after every 64th evaluation. Called after each."
  (when (zerop (mod (sb-ext:atomic-incf (car *evaluations-run*)) 64))
    (prune-mailboxes)))
