;;; Sent once after connecting, as a form; nothing is defined by it.
;;; Swank gives errors of foreign threads to the newest connection: that stays whose it was, so ours goes to the end of the list.
;;; When the Emacs goes that started the Lisp and had its output redirected, Swank redirects it to the next connection, REPL or not: with
;;; no streams there, the next output of any thread would recur until the stack is exhausted. Ours are the process's own.
;;; => the number of other connections
(cl:lambda ()
  (cl:declare (cl:optimize (cl:safety 1) (sb-c:insert-step-conditions 0)))
  (cl:let ((connection swank::*emacs-connection*)
           (lock (cl:find-symbol "*CONNECTION-LOCK*" "SWANK")))
    (cl:let ((input (cl:make-synonym-stream 'sb-sys:*stdin*))
             (output (cl:make-synonym-stream 'sb-sys:*stdout*)))
      (cl:setf (swank::connection.user-input connection) input
               (swank::connection.user-output connection) output
               (swank::connection.user-io connection) (cl:make-two-way-stream input output)))
    (cl:labels ((entered-p () (cl:member connection swank::*connections*))
                ;; others enter and leave meanwhile: nothing of that may be undone
                (step-back ()
                  (sb-ext:atomic-update (cl:symbol-value 'swank::*connections*)
                                        (cl:lambda (connections)
                                          (cl:if (cl:member connection connections)
                                                 (cl:append (cl:remove connection connections) (cl:list connection))
                                                 connections))))
                (step-back-without-lock ()
                  ;; a thread of its own enters new connections, a moment after they are made
                  (cl:loop :repeat 1000
                           :while (cl:open-stream-p (swank::connection.socket-io connection))
                           :until (entered-p)
                           :do (cl:sleep 1/100))
                  (step-back)
                  ;; that thread may have been in the middle of entering another one, and then not have noticed
                  (cl:sleep 1/100)
                  (cl:when (cl:eq connection (cl:first swank::*connections*)) (step-back))))
      (cl:if (cl:and lock (cl:boundp lock))
             (swank/backend:call-with-lock-held (cl:symbol-value lock) (cl:function step-back))
             (step-back-without-lock)))
    (cl:1- (cl:length swank::*connections*))))
