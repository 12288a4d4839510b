;;; Calls LOAD for a new connection whose threads run side by side, once its first request has been evaluated: that tells Swank which packages are
;;; not new, and Swank would look through all of them if LOAD made some before. => the value of LOAD, or NIL
(cl:lambda (load)
  (cl:let ((connection swank::*emacs-connection*))
    (cl:when (cl:eq (swank::connection.communication-style connection) :spawn)
      (cl:loop :repeat 50
               :until (swank::connection.indentation-cache-packages connection)
               :do (cl:sleep 1/10000))
      (cl:funcall load))))
