;;;; Sets up a new connection so that it does not disturb the others.

(in-package #:swank-client/connection)

(defun keep-own-streams (connection)
  "Give CONNECTION the process's standard streams.
When an Emacs to which the Lisp's output was redirected disconnects, Swank redirects the output to the next connection, even one without
a REPL. If that has no streams, the next output of any thread recurs until the stack is exhausted."
  (let ((input (make-synonym-stream 'sb-sys:*stdin*))
        (output (make-synonym-stream 'sb-sys:*stdout*)))
    (setf (connection.user-input connection) input
          (connection.user-output connection) output
          (connection.user-io connection) (make-two-way-stream input output))))

(defun move-to-end (connection)
  "Move CONNECTION to the end of Swank's list. The update is atomic, because connections are added and removed concurrently."
  (sb-ext:atomic-update (symbol-value '*connections*)
                        (lambda (connections)
                          (if (member connection connections)
                              (append (remove connection connections) (list connection))
                              connections))))

(defun wait-until-listed (connection)
  "Wait until CONNECTION is in Swank's list, for at most ten seconds. The sentinel usually adds it within a millisecond."
  (loop for pauses from 0 below 1100
        while (open-stream-p (connection.socket-io connection))
        until (member connection *connections*)
        do (sleep (if (< pauses 100) 1/5000 1/100))))

(defun move-to-end-once-listed (connection)
  "Do the same in a Swank whose sentinel adds new connections to the list shortly after they are made."
  (wait-until-listed connection)
  (let ((earlier (remove connection *connections*)))
    (move-to-end connection)
    ;; The sentinel may be adding a later connection, and then overwrite the change. That this connection is the first one does not show it:
    ;; it may be the only earlier one, and would then move behind the later one.
    (start-runtime-thread (lambda ()
                            (sleep 1/100)
                            (when (intersection earlier (rest (member connection *connections*))) (move-to-end connection)))
                          "swank-client connection")))

(defun move-behind-others (connection)
  "Leave errors of background threads to the connection that receives them now. Swank gives them to the first connection of its list."
  (let ((lock (connection-lock)))
    (if lock
        (swank/backend:call-with-lock-held lock (lambda () (move-to-end connection)))
        (move-to-end-once-listed connection))))

(defun attach (foreign-errors)
  "Guard this connection and move it behind the others. Each connection calls this once. => the number of other connections
FOREIGN-ERRORS says who receives errors of background threads: :AUTO, the connection that does so now; :MINE, this one; :THEIRS, never this
one."
  (let ((connection *emacs-connection*)
        (*break-on-signals* nil))
    (guard connection)
    (keep-own-streams connection)
    (move-behind-others connection)
    (unless (eq foreign-errors :auto)
      (choose-foreign-errors (eq foreign-errors :mine)))
    (1- (length *connections*))))
