;;;; Letting others connect to an image of our own, such as a person's Emacs.

(in-package "SWANK-CLIENT.LAUNCH")

(defun share (port)
  "Serve others on PORT of this machine, or on any free one if it is 0. => (:shared PORT) | (:in-use) | (:failed MESSAGE)"
  (handler-case
      ;; by number: a bare container may not resolve the name
      (let ((swank::*loopback-interface* "127.0.0.1"))
        (list :shared (swank::setup-server port (constantly nil) :spawn t nil)))
    (sb-bsd-sockets:address-in-use-error () '(:in-use))
    (error (condition) (list :failed (condition-text condition)))))

(export 'share)
