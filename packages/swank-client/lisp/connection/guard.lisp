;;;; The socket of a connection, and what is set up in Swank for each connection, until the connection closes.

(in-package #:swank-client/connection)

;;; The socket of a connection.

(defconstant +tcp+ 6 "The level of TCP's options.")

(defun set-socket-options (descriptor)
  "Send data over DESCRIPTOR without delay, and detect within a minute that the client's machine has vanished."
  ;; TCP_NODELAY: without it, a reply of two messages waits 40 ms for an acknowledgement
  (set-socket-option descriptor +tcp+ 1 1)
  ;; SO_KEEPALIVE of SOL_SOCKET
  (set-socket-option descriptor #+linux 1 #-linux #xffff #+linux 9 #-linux 8 1)
  #+linux
  (loop for (option value) in '((4 20)      ; TCP_KEEPIDLE, in seconds
                                (5 5)       ; TCP_KEEPINTVL, in seconds
                                (6 4)       ; TCP_KEEPCNT
                                (18 40000)) ; TCP_USER_TIMEOUT, in milliseconds: by default, Linux sends unacknowledged data for 15 minutes
        do (set-socket-option descriptor +tcp+ option value)))

(defun connection-descriptor (connection)
  "The descriptor of CONNECTION's socket."
  (sb-sys:fd-stream-fd (connection.socket-io connection)))

(defun close-despite-errors (close connection arguments)
  "Call CLOSE, Swank's function, with CONNECTION and ARGUMENTS so that it completes.
Swank closes the stream of a lost connection before it removes the connection and runs its hooks. If the stream holds unsent output, that
signals an error, which stops Swank's thread: from then on no client can connect properly."
  (let ((*log-output* (make-broadcast-stream)))
    (handler-case (apply close connection arguments)
      (error ()
        (recording-faults (close (connection.socket-io connection) :abort t))
        (apply close connection arguments)))))

;;; Encapsulates functions of Swank for each connection, until the connection closes.
;;; When an Emacs connects, it is given the background threads that stopped in this client before. When the connection closes, for any
;;; reason, its stopped threads are released.

(defun call-counted (dispatched function)
  "Call FUNCTION with a function that removes a request from the number in the cell DISPATCHED, once, at the latest at the end.
A request that came before the guard was not counted."
  (let ((counted t))
    (flet ((remove-one ()
             (when (shiftf counted nil) (sb-ext:atomic-update (car dispatched) (lambda (count) (max 0 (1- count)))))))
      (unwind-protect (funcall function #'remove-one)
        (remove-one)))))

(defun begin-request (connection dispatched serve form package id)
  "Call SERVE, Swank's function, with FORM, PACKAGE and ID, a request of CONNECTION that is counted in the cell DISPATCHED until END-REQUESTS
finds its thread. If the connection has closed, the request ends at once."
  (call-counted dispatched
                (lambda (begun)
                  (when (open-p connection)
                    (multiple-value-prog1 (serve-request dispatched serve form package id begun)
                      (prune-mailboxes-at-times))))))

(defun repl-missing-p (event)
  "True if EVENT is a request for the thread of a REPL, and Swank's REPL is not loaded. Swank would close the connection."
  (and (eq (first event) :emacs-rex) (eq (fourth event) :repl-thread) (null (repl-symbol "CREATE-REPL"))))

(defun refuse-repl-thread (event)
  "Reply to the request EVENT as Swank does if its REPL is loaded, but the client has none."
  (encode-message (list :invalid-rpc (fifth event) "Thread not found: :REPL-THREAD") (current-socket-io)))

(defvar *observer* nil
  "A function of a connection of this library and a message to or from its client, or NIL. See emacs/observer.lisp.")

(defun observed (connection event)
  "EVENT, a message to or from CONNECTION's client, after the observer has seen it."
  (let ((observer *observer*))
    ;; an error here would end the connection
    (when observer (recording-faults (funcall observer connection event)))
    event))

(defun passed-on-p (event)
  "True if Swank gives EVENT, which a client has sent, to a thread as a request."
  (and (eq (first event) :emacs-rex)
       (let ((thread (fourth event)))
         ;; a client names a thread that cannot be to ask whether the connection is served
         (or (not (integerp thread)) (swank/backend:find-thread thread)))))

(defun thread-to-interrupt (event)
  "The thread that EVENT, which a client has sent, interrupts by its id, or NIL."
  (and (eq (first event) :emacs-interrupt)
       (integerp (second event))
       (swank/backend:find-thread (second event))))

(defconstant +deepest-break+ 6 "The number of interrupts, each inside the one before, at which a thread is not stopped again.")

(defun break-unless-deep ()
  "Stop this thread, which a client has interrupted. Swank from 2.31 on waits for messages inside the interrupt, and SBCL ends the image at
the ninth: the last are for the end of the stop, and for garbage collections."
  (when (< (interrupt-depth sb-thread:*current-thread*) +deepest-break+)
    (swank:simple-break)))

(defun serving-thread-p (connection)
  "True if this thread is one of Swank's that serve CONNECTION and evaluate nothing."
  (member sb-thread:*current-thread*
          (list (mconn.reader-thread connection) (mconn.control-thread connection) (mconn.indentation-cache-thread connection))))

(defun continue-after-break (condition)
  "Continue after CONDITION if it is a break. The user's *BREAK-ON-SIGNALS* would stop Swank's threads where they handle errors, such as the end
of the connection, which then never closed."
  (unless (typep condition 'serious-condition) (continue condition)))

(defvar *stopped-outside-requests* nil
  "True in a thread that was first stopped while it ran no request, whatever requests it runs in the debugger.")

(defun install-guard (connection tag connected closed leaving dispatched)
  "Encapsulate Swank's functions under TAG to guard CONNECTION. CONNECTED and CLOSED are called with connections that open and close.
The cell LEAVING holds the threads that move to another debugger. The car of the cell DISPATCHED is the number of requests that were passed on
and that no thread has begun; its cdr becomes true when everything is installed."
  (sb-ext:atomic-push connected (symbol-value '*new-connection-hook*))
  (guard-function 'invoke-default-debugger tag
                  (lambda (enter condition)
                    (cond ((member sb-thread:*current-thread* (car leaving))
                           (no-longer-leaving leaving sb-thread:*current-thread*)
                           (swank:swank-debugger-hook condition nil))
                          (t (funcall enter condition)))))
  (recording-faults (set-socket-options (connection-descriptor connection)))
  (sb-ext:atomic-push closed (symbol-value '*connection-closed-hook*))
  (guard-function 'close-connection% tag
                  (lambda (close closing &rest arguments)
                    ;; others too, as that of a client that gave up before it had a guard
                    (let ((*break-on-signals* nil))
                      (close-despite-errors close closing arguments))))
  ;; The thread that closes a lost connection ends the others, which have met its end, too. One that was ended while SBCL finds the name of a C
  ;; function in its stack would hold dlsym's lock for ever. CLOSE-DESPITE-ERRORS discards the text.
  (guard-function 'safe-backtrace tag
                  (lambda (backtrace)
                    (unless (serving-thread-p connection) (funcall backtrace))))
  (guard-function 'invoke-slime-debugger tag
                  (lambda (enter condition)
                    (when (serving-thread-p connection) (continue-after-break condition))
                    ;; a step that ran into an error is not over, and would stop in code that the debugger runs: printing methods, and
                    ;; what a client evaluates
                    (if (eq *emacs-connection* connection)
                        (let ((*stopped-outside-requests* (or *stopped-outside-requests* (null *pending-continuations*))))
                          (call-without-stepping (lambda () (funcall enter condition))))
                        (funcall enter condition))))
  (guard-function 'eval-for-emacs tag
                  ;; other clients of Slynk may give further options
                  (lambda (serve form package id &rest options)
                    (if (eq *emacs-connection* connection)
                        (begin-request connection dispatched serve form package id)
                        (apply serve form package id options))))
  (guard-function 'dispatch-event tag
                  (lambda (dispatch receiver event)
                    (let ((interrupted (and (eq receiver connection) (thread-to-interrupt event))))
                      (cond ((not (eq receiver connection)) (funcall dispatch receiver event))
                            ((repl-missing-p event) (refuse-repl-thread event))
                            ;; Swank would interrupt a thread that sends a message, which ends the image
                            (interrupted
                             (observed connection event)
                             (nil-on sb-thread:interrupt-thread-error
                               (queue-interrupt interrupted #'break-unless-deep)))
                            (t
                             (when (passed-on-p event) (sb-ext:atomic-incf (car dispatched)))
                             (funcall dispatch receiver (observed connection (fitting-event event))))))))
  (guard-function 'sync-indentation-to-emacs tag
                  (lambda (synchronize) (sync-indentation-except connection synchronize)))
  (loop for (name . function) in (further-guards connection) do (guard-function name tag function))
  (setf (cdr dispatched) t))

(defun uninstall-guard (tag connected closed)
  "Undo what INSTALL-GUARD did, except that requests still begin as it says."
  (unguard-function 'close-connection% tag)
  (unguard-function 'dispatch-event tag)
  (unguard-function 'sync-indentation-to-emacs tag)
  (unguard-function 'invoke-default-debugger tag)
  (loop for (name) in (further-guards nil) do (unguard-function name tag))
  (sb-ext:atomic-update (symbol-value '*new-connection-hook*) (lambda (hooks) (remove connected hooks)))
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) (lambda (hooks) (remove closed hooks))))

(defun end-guard (connection tag dispatched)
  "End everything that runs or is stopped for CONNECTION, which is closed, and then the rest of the guard."
  (unwind-protect (release-all connection dispatched)
    (unguard-function 'eval-for-emacs tag)
    (unguard-function 'invoke-slime-debugger tag)
    (unguard-function 'safe-backtrace tag)
    (note-unguarded connection)))

(defun guard (connection)
  "Guard CONNECTION until it is closed."
  (note-guarded connection)
  (let ((tag (gensym "SWANK-CLIENT"))
        (leaving (list nil))
        (dispatched (list 0)))
    (labels ((connected (new)
               (unless (eq new connection)
                 (start-runtime-thread #'hand-over-threads "swank-client hand-over" new connection leaving)))
             (closed (closing)
               (when (eq closing connection)
                 (uninstall-guard tag #'connected #'closed)
                 ;; a thread that leaves its request prints what is left there, and would wait for the client's answer for ever
                 (keep-own-streams closing)
                 (start-runtime-thread #'end-guard "swank-client clean-up" connection tag dispatched))))
      (nil-on sb-posix:syscall-error (keep-from-children (connection-descriptor connection)))
      (install-guard connection tag #'connected #'closed leaving dispatched))))

;;; Decides which connection receives errors from background threads.

(defun choose-foreign-errors (choice)
  "Until this connection closes, give it the errors of background threads if CHOICE is :MINE, those that no other connection takes if it is :LAST,
and none if it is :THEIRS. => T
Later connections become Swank's default, so this encapsulates DEFAULT-CONNECTION instead of changing the list."
  (let ((connection *emacs-connection*)
        (tag (gensym "SWANK-CLIENT")))
    (labels ((closed (closing)
               (when (eq closing connection)
                 (unguard-function 'default-connection tag)
                 (sb-ext:atomic-update (symbol-value '*connection-closed-hook*)
                                       (lambda (hooks) (remove #'closed hooks)))))
             (choose (default)
               (let ((mine (find connection *connections*)))
                 (if (eq choice :mine)
                     (or mine (funcall default))
                     (or (let ((*connections* (remove connection *connections*)))
                           (funcall default))
                         (and (eq choice :last) mine))))))
      (sb-ext:atomic-push #'closed (symbol-value '*connection-closed-hook*))
      (guard-function 'default-connection tag #'choose)
      t)))

;;; Sets up a new connection so that it does not disturb the others.

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
one; :LAST, this one while there is no other."
  (let ((connection *emacs-connection*)
        (*break-on-signals* nil))
    (guard connection)
    (keep-own-streams connection)
    (move-behind-others connection)
    (unless (eq foreign-errors :auto)
      (choose-foreign-errors foreign-errors))
    (1- (length *connections*))))
