;;; Sent once after connecting, as a form; nothing is defined by it.
;;; Swank gives errors of foreign threads to the newest connection: that stays whose it was, so ours goes to the end of the list.
;;; When the Emacs goes that started the Lisp and had its output redirected, Swank redirects it to the next connection, REPL or not: with
;;; no streams there, the next output of any thread would recur until the stack is exhausted. Ours are the process's own.
;;; => the number of other connections
(cl:lambda ()
  (cl:let ((connection swank::*emacs-connection*)
           (lock (cl:find-symbol "*CONNECTION-LOCK*" "SWANK")))
    (cl:let ((input (cl:make-synonym-stream 'sb-sys:*stdin*))
             (output (cl:make-synonym-stream 'sb-sys:*stdout*)))
      (cl:setf (swank::connection.user-input connection) input
               (swank::connection.user-output connection) output
               (swank::connection.user-io connection) (cl:make-two-way-stream input output)))
    (cl:flet ((step-back ()
                (cl:setf swank::*connections*
                         (cl:append (cl:remove connection swank::*connections*) (cl:list connection)))))
      ;; up to 2.27 a thread of its own enters new connections, a moment after they are made
      (cl:loop :repeat 100
               :until (cl:member connection swank::*connections*)
               :do (cl:sleep 1/100))
      (cl:if (cl:and lock (cl:boundp lock))
             (swank/backend:call-with-lock-held (cl:symbol-value lock) (cl:function step-back))
             (step-back)))
    (cl:1- (cl:length swank::*connections*))))
