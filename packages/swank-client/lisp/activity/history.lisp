;;;; What an Emacs that has just come reads about the past, and about the threads.

(in-package #:swank-client/activity)

(defconstant +shown-calls+ 100 "Calls that an Emacs gets when it asks for the ledger.")

(defconstant +shown-output+ 4000 "Characters of each call's output that it then gets.")

(defun first-line (code)
  "The first line of CODE that is not blank, at most 60 characters."
  (let* ((start (or (position-if-not (lambda (char) (member char '(#\Space #\Tab #\Newline #\Return))) code) 0))
         (end (or (position #\Newline code :start start) (length code))))
    (if (> (- end start) 60)
        (concatenate 'string (subseq code start (+ start 57)) "...")
        (subseq code start end))))

(defun ledger ()
  "A plist of the agents that are connected, of the questions without an answer, of the number of calls, and of the latest calls,
oldest first."
  (list :agents (agents-now)
        :questions (open-questions)
        :total (+ *forgotten-calls* (length *calls*))
        :calls (let ((calls (subseq *calls* 0 (min +shown-calls+ (length *calls*)))))
                 (mapcar (lambda (call) (call-plist call +shown-output+)) (reverse calls)))))

(defun session-workers (connection session)
  "(THREAD-ID AGENT FIRST-LINE) of each thread that runs an evaluation of SESSION, of CONNECTION's client."
  (loop for id being the hash-keys of (session-evaluations session) using (hash-value evaluation)
        for call = (find-open-call connection id)
        for thread = (evaluation-thread evaluation)
        when (and call (sb-thread:thread-alive-p thread))
          collect (list (swank/backend:thread-id thread) (call-agent call) (first-line (call-code call)))))

(defun workers ()
  "(THREAD-ID AGENT FIRST-LINE) of each thread that runs an agent's evaluation."
  (let ((sessions (sb-ext:with-locked-hash-table (*sessions*)
                    (loop for connection being the hash-keys of *sessions* using (hash-value session)
                          when (agent-name connection) collect (cons connection session)))))
    (loop for (connection . session) in sessions append (session-workers connection session))))
