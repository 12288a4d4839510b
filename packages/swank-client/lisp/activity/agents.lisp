;;;; The agents that are connected.

(in-package #:swank-client/activity)

(defvar *agents* (make-hash-table :test 'eq :weakness :key :synchronized t) "Names of agents by connection.")

(defun agent-name (connection)
  "The name of the agent of CONNECTION, or NIL for a client that has none."
  (values (gethash connection *agents*)))

(defun agents ()
  "The names of the agents that are connected, sorted."
  (sb-ext:with-locked-hash-table (*agents*)
    (sort (loop for connection being the hash-keys of *agents* using (hash-value name)
                when (connection-open-p connection) collect name)
          #'string<)))

(defun agents-now ()
  "(VERSION NUMBER (NAME ...)): the agents of this version of the runtime. Of two such lists, the one with the greater NUMBER is newer."
  (with-calls-locked ()
    (list (package-name (symbol-package 'agents-now)) (next-number) (agents))))

(defun unused-name (name)
  "NAME, with a number if another agent that is connected has it."
  (loop with taken = (agents)
        for number from 1
        for candidate = (if (= number 1) name (format nil "~a ~d" name number))
        unless (member candidate taken :test #'equal) return candidate))

(defun introduce (name)
  "Record what this connection's client, an agent called NAME, does from now on. => the name by which Emacs shows it"
  (let ((connection *emacs-connection*))
    (or (agent-name connection)
        (let ((own (unused-name (bounded name 100))))
          (setf (gethash connection *agents*) own)
          (forget-closed-listeners)
          (tell :agents (agents-now))
          own))))

(defun note-departure (session)
  "End the calls of SESSION's client if that has disconnected."
  (let ((connection (session-connection session)))
    (when (and (agent-name connection) (not (connection-open-p connection)))
      (dolist (call (open-calls connection))
        (tell-end call :lost "The agent disconnected."))
      (remhash connection *agents*)
      (tell :agents (agents-now)))))

(defun tell-end (call status result)
  "End CALL with STATUS and the text RESULT, and tell the listeners, unless it has ended before."
  (let ((revision (end-call call status result)))
    (when revision
      (tell :end (call-number call) revision (call-status call) (call-result call) (seconds (call-ended call))))))

(defun seconds (time)
  "TIME, in seconds since 1970, as a number that Emacs reads exactly."
  (and time (coerce time 'double-float)))

(pushnew 'note-departure *departure-hooks*)
