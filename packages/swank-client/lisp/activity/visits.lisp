;;;; What agents do at stops in the debugger of the user's Emacs: it shows who looks at a stop, and what has changed there.

(in-package #:swank-client/activity)

(defun tell-client (connection &rest event)
  "Send EVENT to the client of CONNECTION, if that listens."
  (let ((listener (find connection (live-listeners (first event)) :key #'first)))
    (when listener (ignore-errors (send-event connection (second listener) event)))))

(defparameter *visits* '("FRAMES" "FRAME-LOCALS" "EVAL-IN-FRAME")
  "The functions of the runtime that examine a stop. Their first arguments are its level and the index of a frame.")

(defun note-visit (thread form)
  "Show in the Emacs that has THREAD in its debugger that this connection's agent has evaluated FORM there."
  (let ((agent (agent-name *emacs-connection*))
        (called (called-form form)))
    (when (and agent (member (first called) *visits* :test #'string=))
      (destructuring-bind (operator level index &rest more) called
        (declare (ignore more))
        (tell-client (value-in-thread '*emacs-connection* thread)
                     :visit (swank/backend:thread-id thread) level agent
                     (and (string= operator "EVAL-IN-FRAME") index))))))

(pushnew 'note-visit *visit-hooks*)
