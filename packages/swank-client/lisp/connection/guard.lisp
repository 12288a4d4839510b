;;;; Encapsulates functions of Swank for each connection, until the connection closes.
;;;; When an Emacs connects, it is given the background threads that stopped in this client before. When the connection closes, for any
;;;; reason, its stopped threads are released.

(in-package #:swank-client/connection)

(defun install-guard (connection tag connected closed leaving)
  "Encapsulate Swank's functions under TAG to guard CONNECTION. CONNECTED and CLOSED are called with connections that open and close."
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
                              (close-despite-errors close closing arguments)
                              (apply close closing arguments))))
  (encapsulate-function 'eval-for-emacs tag
                        (lambda (serve form package id)
                          (if (eq *emacs-connection* connection)
                              (serve-request serve form package id)
                              (funcall serve form package id))))
  (encapsulate-function 'dispatch-event tag
                        (lambda (dispatch receiver event)
                          (funcall dispatch receiver (if (eq receiver connection) (fitting-event event) event))))
  ;; each new package makes Swank send 40 kB that only editors need, and compute them for 40 ms
  (encapsulate-function 'sync-indentation-to-emacs tag
                        (lambda (synchronize)
                          (unless (eq *emacs-connection* connection) (funcall synchronize)))))

(defun uninstall-guard (tag connected closed)
  "Undo what INSTALL-GUARD did."
  (unencapsulate-function 'close-connection% tag)
  (unencapsulate-function 'dispatch-event tag)
  (unencapsulate-function 'sync-indentation-to-emacs tag)
  (unencapsulate-function 'eval-for-emacs tag)
  (unencapsulate-function 'invoke-default-debugger tag)
  (sb-ext:atomic-update (symbol-value '*new-connection-hook*) (lambda (hooks) (remove connected hooks)))
  (sb-ext:atomic-update (symbol-value '*connection-closed-hook*) (lambda (hooks) (remove closed hooks))))

(defun guard (connection)
  "Guard CONNECTION until it is closed."
  (let ((tag (gensym "SWANK-CLIENT"))
        ;; threads that are moving to another debugger
        (leaving (list nil)))
    (labels ((connected (new)
               (unless (eq new connection)
                 (sb-thread:make-thread #'hand-over-threads :arguments (list new connection leaving)
                                                       :name "swank-client hand-over")))
             (closed (closing)
               (when (eq closing connection)
                 (uninstall-guard tag #'connected #'closed)
                 (sb-thread:make-thread #'release-all :arguments (list connection) :name "swank-client clean-up"))))
      (ignore-errors (keep-from-children (connection-descriptor connection)))
      (install-guard connection tag #'connected #'closed leaving))))
