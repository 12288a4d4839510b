;;;; What agents run now, for other agents.

(in-package #:swank-client/activity)

(defun call-thread (call)
  "The thread that runs the evaluation of CALL, or NIL."
  (let* ((session (gethash (call-connection call) *sessions*))
         (evaluation (and session (gethash (call-request call) (session-evaluations session))))
         (thread (and evaluation (evaluation-thread evaluation))))
    (and thread (sb-thread:thread-alive-p thread) thread)))

(defun call-state (call)
  "What CALL, which has not ended, does."
  (cond ((equal (call-operation call) *question*) :asking)
        ((call-stop call) :stopped)
        (t :running)))

(defun running ()
  "(AGENT THREAD-ID OPERATION FIRST-LINE BEGUN STATE MINE) of each call that has not ended, oldest first. BEGUN is in milliseconds since 1970;
MINE is true for the calls of the client that asks."
  (loop for call in (reverse (open-calls))
        for thread = (call-thread call)
        collect (list (call-agent call)
                      (and thread (swank/backend:thread-id thread))
                      (call-operation call)
                      (first-line (call-code call))
                      (floor (* 1000 (call-begun call)))
                      (call-state call)
                      (eq (call-connection call) *emacs-connection*))))
