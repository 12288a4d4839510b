;;;; Decides which connection receives errors from background threads.

(in-package #:swank-client/connection)

(defun choose-foreign-errors (mine)
  "Until this connection closes, give it the errors of background threads if MINE is true, and never give them to it otherwise. => T
Later connections become Swank's default, so this encapsulates DEFAULT-CONNECTION instead of changing the list."
  (let ((connection *emacs-connection*)
        (tag (gensym "SWANK-CLIENT")))
    (labels ((closed (closing)
               (when (eq closing connection)
                 (unencapsulate-function 'default-connection tag)
                 (sb-ext:atomic-update (symbol-value '*connection-closed-hook*)
                                       (lambda (hooks) (remove #'closed hooks)))))
             (choose (default)
               (cond ((not mine)
                      (let ((*connections* (remove connection *connections*)))
                        (funcall default)))
                     ((member connection *connections*) connection)
                     (t (funcall default)))))
      (sb-ext:atomic-push #'closed (symbol-value '*connection-closed-hook*))
      (encapsulate-function 'default-connection tag #'choose)
      t)))
