;;;; Sends events to the Emacs connections that have announced that they understand them. No other client is ever sent one.

(in-package #:swank-client/activity)

(defconstant +backlog-limit+ 500 "Messages that may wait for an Emacs before events to it are dropped.")

(defvar *behind* '() "A list of the connections to which events were dropped.")

(defun live-listeners (event)
  "(CONNECTION CHANNEL) of each open connection that understands EVENT, a keyword, once. One that Swank serves without threads, as in style
:FD-HANDLER, can be sent nothing by other threads."
  (loop for (connection channel protocol events) in (remove-duplicates (announced-listeners) :key #'first :from-end t)
        when (and (eql protocol +protocol+)
                  (member event events)
                  (typep connection 'multithreaded-connection)
                  (open-stream-p (connection.socket-io connection)))
          collect (list connection channel)))

(defun backlog-p (connection limit)
  "True if more than LIMIT messages wait for the client of CONNECTION."
  (let ((mailbox (find (mconn.control-thread connection) *mailboxes* :key #'mailbox.thread)))
    (and mailbox (nthcdr limit (mailbox.queue mailbox)) t)))

(defun send-event (connection channel event)
  "Send EVENT to the Emacs of CONNECTION, or drop it if that does not read. An Emacs that reads again is told to ask for the ledger."
  (flet ((deliver (event) (send (mconn.control-thread connection) (list :channel-send channel event))))
    (cond ((backlog-p connection +backlog-limit+)
           (unless (member connection *behind*) (sb-ext:atomic-push connection (symbol-value '*behind*))))
          (t (when (member connection *behind*)
               (sb-ext:atomic-update (symbol-value '*behind*) (lambda (behind) (remove connection behind)))
               (deliver '(:gap)))
             (deliver event)))))

(defun tell (&rest event)
  "Send EVENT, a keyword and data that the wire can carry, to every listener that understands it. => true if there is one"
  (loop for (connection channel) in (live-listeners (first event))
        do (ignore-errors (send-event connection channel event))
        count t into told
        finally (return (plusp told))))

(defun forget-closed-listeners ()
  "Remove connections that have closed from the list of listeners."
  (sb-ext:atomic-update (car (meeting-place :listeners '()))
                        (lambda (listeners)
                          (remove-if-not (lambda (connection) (open-stream-p (connection.socket-io connection)))
                                         listeners :key #'first))))
