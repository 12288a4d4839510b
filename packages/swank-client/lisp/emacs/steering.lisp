;;;; What lives only in the image, what agents run now, what an Emacs that has just come reads, and the requests of Emacs.

(in-package #:swank-client/emacs)

;;; The definitions that live in the image and not in their files, for the user's Emacs.

(defun request-module (module)
  "Let the client of an agent load MODULE, a keyword. => true if there is one"
  (let ((agent (first (open-agents))))
    (when agent
      (send (mconn.control-thread (first agent)) (list :write-string "" (list :load-module module)))
      t)))

(defun prepare-changes ()
  "Load what CHANGES needs before it is needed, if an agent's client can. => true if it can"
  (and (or *live-changes* (request-module :changes)) t))

(defun changes (file)
  "The definitions that differ from FILE, or from all files if it is NIL.
=> (:changes (ENTRY ...) LEFT-OUT), (:loading) if the answer is available soon, (:unavailable) without an agent, or the reason"
  (cond (*live-changes*
         ;; Emacs must not become a client of this library
         (unwind-protect (let ((*emacs-connection* nil)) (funcall *live-changes* file))
           (remhash nil *sessions*)))
        ((request-module :changes) '(:loading))
        (t '(:unavailable))))

;;; What agents run now, for other agents.

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

(defun running-calls ()
  "(AGENT THREAD-ID OPERATION FIRST-CODE-LINE BEGUN STATE MINE) of each call that has not ended, oldest first. BEGUN is in milliseconds since 1970;
MINE is true for the calls of the client that asks."
  (loop for call in (reverse (open-calls))
        for thread = (call-thread call)
        collect (list (call-agent call)
                      (and thread (swank/backend:thread-id thread))
                      (call-operation call)
                      (first-code-line (call-code call))
                      (floor (* 1000 (call-begun call)))
                      (call-state call)
                      (eq (call-connection call) *emacs-connection*))))

;;; What an Emacs that has just come reads about the past, and about the threads.

(defconstant +shown-calls+ 100 "Calls that an Emacs gets when it asks for the ledger.")

(defconstant +shown-output+ 4000 "Characters of each call's output that it then gets.")

(defun first-code-line (code)
  "The first line of CODE that is not blank, at most 60 characters."
  (let* ((start (or (position-if-not (lambda (char) (member char '(#\Space #\Tab #\Newline #\Return))) code) 0))
         (end (or (position #\Newline code :start start) (length code))))
    (if (> (- end start) 60)
        (concatenate 'string (subseq code start (+ start 57)) "...")
        (subseq code start end))))

(defun agents-ledger ()
  "A plist of the agents that are connected, of the questions without an answer, of the number of calls, and of the latest calls,
oldest first."
  (list :agents (agents-now)
        :questions (mapcar #'question-plist (reverse *questions*))
        :total (+ *forgotten-calls* (length *agent-calls*))
        :calls (let ((calls (subseq *agent-calls* 0 (min +shown-calls+ (length *agent-calls*)))))
                 (mapcar (lambda (call) (call-plist call +shown-output+)) (reverse calls)))))

(defun session-workers (connection session)
  "(THREAD-ID AGENT FIRST-CODE-LINE) of each thread that runs an evaluation of SESSION, of CONNECTION's client."
  (loop for id being the hash-keys of (session-evaluations session) using (hash-value evaluation)
        for call = (find-open-call connection id)
        for thread = (evaluation-thread evaluation)
        when (and call (sb-thread:thread-alive-p thread))
          collect (list (swank/backend:thread-id thread) (call-agent call) (first-code-line (call-code call)))))

(defun workers ()
  "(THREAD-ID AGENT FIRST-CODE-LINE) of each thread that runs an agent's evaluation."
  (let ((sessions (sb-ext:with-locked-hash-table (*sessions*)
                    (loop for connection being the hash-keys of *sessions* using (hash-value session)
                          when (agent-name connection) collect (cons connection session)))))
    (loop for (connection . session) in sessions append (session-workers connection session))))

;;; Disconnects all agents at the user's wish.

(defun tcp-port (connection)
  "The local TCP port of CONNECTION, or NIL if that is not a TCP connection."
  (tcp-port-of (sb-sys:fd-stream-fd (connection.socket-io connection))))

(defun end-all-evaluations ()
  "Start to end the evaluations of all clients of this version."
  (dolist (session (sb-ext:with-locked-hash-table (*sessions*)
                     (loop for session being the hash-values of *sessions* collect session)))
    (start-runtime-thread #'end-evaluations "swank-client kick" session)))

(defun say-kicked (connections &rest particulars)
  "Tell the clients of CONNECTIONS why these will close, with PARTICULARS, and wait a moment until that is sent."
  (dolist (connection connections)
    (send (mconn.control-thread connection) (list :write-string "" (cons :kicked particulars))))
  (loop repeat 50
        while (some (lambda (connection) (backlog-p connection 0)) connections)
        do (sleep 1/100))
  (sleep 1/20))

(defun kick ()
  "End all that agents run and have stopped, close their connections, and the ports that they came through, so that none returns.
An agent that launched the image has no port: its evaluations end, but it stays, because the image would end with it. The programs that show
the agents to a person stay, too.
=> (:kicked COUNT :stayed COUNT :ports (PORT ...))"
  (let* ((connections (remove-if-not (lambda (connection)
                                       (and (typep (connection.user-output connection) 'synonym-stream)
                                            (not (eq connection *emacs-connection*))
                                            (not (eq :page (listener-place connection)))))
                                     *connections*))
         (ports (mapcar (lambda (connection) (recording-faults (tcp-port connection))) connections)))
    (end-all-evaluations)
    (dolist (port (remove-duplicates (remove nil ports)))
      (recording-faults (swank:stop-server port)))
    (recording-faults (say-kicked (loop for connection in connections for port in ports when port collect connection)))
    (loop for connection in connections
          for port in ports
          when port do (recording-faults (close-connection connection nil nil)))
    (list :kicked (count-if-not #'null ports)
          :stayed (count nil ports)
          :ports (remove-duplicates (remove nil ports)))))

;;; Steers a single agent. Its name is that of the ledger. Earlier versions answer :UNKNOWN to these requests, and do nothing.

(defun agent-connection (name)
  "The connection of the agent NAME, or NIL."
  (car (rassoc name (open-agents) :test #'equal)))

(defun kick-agent (name)
  "End all that the agent NAME runs and has stopped, and close its connection. The port that it came through stays open for others.
=> :kicked; :stayed for an agent that launched the image, because that would end with it; NIL if there is no such agent"
  (let* ((connection (agent-connection name))
         (session (and connection (gethash connection *sessions*))))
    (when session (start-runtime-thread #'end-evaluations "swank-client kick" session))
    (cond ((null connection) nil)
          ((null (recording-faults (tcp-port connection))) :stayed)
          (t (recording-faults (say-kicked (list connection) :alone))
             (recording-faults (close-connection connection nil nil))
             :kicked))))

(defun pause-agent (name paused-p)
  "Tell the client of the agent NAME that the user wants it to wait, or no longer. => true if there is such an agent"
  (let ((connection (agent-connection name)))
    (when connection
      (send (mconn.control-thread connection) (list :write-string "" (list :paused (and paused-p t))))
      t)))

;;; Answers the requests of Emacs, and offers this runtime to it.

(defun announce (connection channel events)
  "Note that the Emacs of CONNECTION understands EVENTS, which it receives through CHANNEL. => its ledger"
  (sb-ext:atomic-update (car (meeting-place :listeners '()))
                        (lambda (listeners)
                          (cons (list connection channel +protocol+ events) (remove connection listeners :key #'first))))
  (agents-ledger))

(defun respond (operation &rest arguments)
  "The answer to a request of Emacs, a list that the wire can carry. :UNKNOWN for an operation of a later version."
  (case operation
    (:announce (announce *emacs-connection* (first arguments) (second arguments)))
    (:ledger (agents-ledger))
    (:workers (workers))
    (:running (running-calls))
    (:kick (kick))
    (:kick-agent (kick-agent (first arguments)))
    (:pause (pause-agent (first arguments) (second arguments)))
    (:changes (changes (first arguments)))
    (:prepare-changes (prepare-changes))
    (:ask-agents (apply #'ask-agents arguments))
    (:answer (answer-question *emacs-connection* (first arguments) (second arguments)))
    (t :unknown)))

(offer 'respond)
(tell :runtime)
