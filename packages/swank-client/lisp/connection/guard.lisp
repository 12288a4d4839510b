;;;; Encapsulates functions of Swank for each connection, until the connection closes.
;;;; When an Emacs connects, it is given the background threads that stopped in this client before. When the connection closes, for any
;;;; reason, its stopped threads are released.

(in-package #:swank-client/connection)

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
  "A function of a connection of this library and a message to or from its client, or NIL. See activity/observer.lisp.")

(defun observed (connection event)
  "EVENT, a message to or from CONNECTION's client, after the observer has seen it."
  (let ((observer *observer*))
    ;; an error here would end the connection
    (when observer (ignore-errors (funcall observer connection event)))
    event))

(defun passed-on-p (event)
  "True if Swank gives EVENT, which a client has sent, to a thread as a request."
  (and (eq (first event) :emacs-rex)
       (let ((thread (fourth event)))
         ;; a client names a thread that cannot be to ask whether the connection is served
         (or (not (integerp thread)) (swank/backend:find-thread thread)))))

(defun serving-thread-p (connection)
  "True if this thread is one of Swank's that serve CONNECTION and evaluate nothing."
  (member sb-thread:*current-thread*
          (list (mconn.reader-thread connection) (mconn.control-thread connection) (mconn.indentation-cache-thread connection))))

(defun continue-after-break (condition)
  "Continue after CONDITION if it is a break. The user's *BREAK-ON-SIGNALS* would stop Swank's threads where they handle errors, such as the end
of the connection, which then never closed."
  (unless (typep condition 'serious-condition) (continue condition)))

(defun install-guard (connection tag connected closed leaving dispatched)
  "Encapsulate Swank's functions under TAG to guard CONNECTION. CONNECTED and CLOSED are called with connections that open and close.
The cell LEAVING holds the threads that move to another debugger. The car of the cell DISPATCHED is the number of requests that were passed on
and that no thread has begun; its cdr becomes true when everything is installed."
  (sb-ext:atomic-push connected (symbol-value '*new-connection-hook*))
  (encapsulate-function 'invoke-default-debugger tag
                        (lambda (enter condition)
                          (cond ((member sb-thread:*current-thread* (car leaving))
                                 (no-longer-leaving leaving sb-thread:*current-thread*)
                                 (swank:swank-debugger-hook condition nil))
                                (t (funcall enter condition)))))
  (ignore-errors (set-socket-options (connection-descriptor connection)))
  (sb-ext:atomic-push closed (symbol-value '*connection-closed-hook*))
  (encapsulate-function 'close-connection% tag
                        (lambda (close closing &rest arguments)
                          (if (eq closing connection)
                              (let ((*break-on-signals* nil)) (close-despite-errors close closing arguments))
                              (apply close closing arguments))))
  (encapsulate-function 'invoke-slime-debugger tag
                        (lambda (enter condition)
                          (when (serving-thread-p connection) (continue-after-break condition))
                          (funcall enter condition)))
  (encapsulate-function 'eval-for-emacs tag
                        (lambda (serve form package id)
                          (if (eq *emacs-connection* connection)
                              (begin-request connection dispatched serve form package id)
                              (funcall serve form package id))))
  (encapsulate-function 'dispatch-event tag
                        (lambda (dispatch receiver event)
                          (cond ((not (eq receiver connection)) (funcall dispatch receiver event))
                                ((repl-missing-p event) (refuse-repl-thread event))
                                (t
                                 (when (passed-on-p event) (sb-ext:atomic-incf (car dispatched)))
                                 (funcall dispatch receiver (observed connection (fitting-event event)))))))
  (encapsulate-function 'sync-indentation-to-emacs tag
                        (lambda (synchronize) (sync-indentation-except connection synchronize)))
  (setf (cdr dispatched) t))

(defun uninstall-guard (tag connected closed)
  "Undo what INSTALL-GUARD did, except that requests still begin as it says."
  (unencapsulate-function 'close-connection% tag)
  (unencapsulate-function 'dispatch-event tag)
  (unencapsulate-function 'sync-indentation-to-emacs tag)
  (unencapsulate-function 'invoke-default-debugger tag)
  (sb-ext:atomic-update (symbol-value '*new-connection-hook*) (lambda (hooks) (remove connected hooks)))
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) (lambda (hooks) (remove closed hooks))))

(defun end-guard (connection tag dispatched)
  "End everything that runs or is stopped for CONNECTION, which is closed, and then the rest of the guard."
  (unwind-protect (release-all connection dispatched)
    (unencapsulate-function 'eval-for-emacs tag)
    (unencapsulate-function 'invoke-slime-debugger tag)
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
                 (start-runtime-thread #'end-guard "swank-client clean-up" connection tag dispatched))))
      (ignore-errors (keep-from-children (connection-descriptor connection)))
      (install-guard connection tag #'connected #'closed leaving dispatched))))
