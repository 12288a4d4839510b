;;;; The Emacs connections that listen, the calls of agents that they are told of, and the agents.

(in-package #:swank-client/emacs)

;;; Where versions of the runtime and Emacs find each other: the property list of the keyword :SWANK-MCP. Its names never change.
;;;   :LISTENERS  a cell with ((CONNECTION CHANNEL PROTOCOL (EVENT ...)) ...), the Emacs connections that understand events of a protocol,
;;;               and which, as keywords: one of another version is sent no others. A program that shows the agents to a person as Emacs does
;;;               has :PAGE among them, which is no event
;;;   :RUNTIMES   a cell with ((PROTOCOL VERSION FUNCTION) ...), the latest first; FUNCTION answers the requests of Emacs
;;;   :CALLS      a cell with the number of the latest call
;;; Either side makes a cell that does not exist, so Emacs can announce itself before any agent has come.

(defconstant +protocol+ 1 "The version of the events and requests. Emacs ignores runtimes with another one.")

(defun meeting-place (name initial)
  "The cell NAME, made with the value INITIAL if there is none."
  (or (get :swank-mcp name)
      (setf (get :swank-mcp name) (list initial))))

(defun next-number ()
  "A number that no other call, note or question in the image has."
  (1+ (sb-ext:atomic-incf (car (the (cons fixnum) (meeting-place :calls 0))))))

(defun offer (function)
  "Make FUNCTION answer the requests of Emacs, before the functions of other versions."
  (let ((version (package-name *package*)))
    (sb-ext:atomic-update (car (meeting-place :runtimes '()))
                          (lambda (runtimes)
                            (cons (list +protocol+ version function)
                                  (remove version runtimes :key #'second :test #'equal))))))

;;; Sends events to the Emacs connections that have announced that they understand them. No other client is ever sent one.

(defconstant +backlog-limit+ 500 "Messages that may wait for an Emacs before events to it are dropped.")

(defvar *behind* '() "A list of the connections to which events were dropped.")

(defun listener-entries ()
  "The latest entry of each listener."
  (remove-duplicates (car (meeting-place :listeners '())) :key #'first :from-end t))

(defun listener-place (connection)
  ":EMACS, :PAGE for a program that shows the agents to a person as Emacs does, or NIL if CONNECTION is that of no listener."
  (let ((entry (find connection (listener-entries) :key #'first)))
    (and entry (if (member :page (fourth entry)) :page :emacs))))

(defun live-listeners (event &optional later-event)
  "(CONNECTION CHANNEL) of each open connection that understands EVENT, a keyword, and not LATER-EVENT, once. One that Swank serves without threads,
as in style :FD-HANDLER, can be sent nothing by other threads."
  (loop for (connection channel protocol events) in (listener-entries)
        when (and (eql protocol +protocol+)
                  (member event events)
                  (not (and later-event (member later-event events)))
                  (typep connection 'multithreaded-connection)
                  (open-stream-p (connection.socket-io connection)))
          collect (list connection channel)))

(defun backlog-p (connection limit)
  "True if more than LIMIT messages wait for the client of CONNECTION."
  (let ((mailbox (find (mconn.control-thread connection) *mailboxes* :key #'mailbox.thread)))
    (and mailbox (nthcdr limit (mailbox.queue mailbox)) t)))

(defun send-event (connection channel event)
  "Send EVENT to the Emacs of CONNECTION, or drop it if that does not read. An Emacs that reads again is told to ask for the ledger."
  (flet ((deliver (event) (send (mconn.control-thread connection) (list :channel-send channel event))))
    (cond ((backlog-p connection +backlog-limit+)
           (unless (member connection *behind*) (sb-ext:atomic-push connection (symbol-value '*behind*))))
          (t (when (member connection *behind*)
               (sb-ext:atomic-update (symbol-value '*behind*) (lambda (behind) (remove connection behind)))
               (deliver '(:gap)))
             (deliver event)))))

(defun tell-listeners (listeners event)
  "Send EVENT, a keyword and data that the wire can carry, to LISTENERS, (CONNECTION CHANNEL) each. => true if there is one"
  (loop for (connection channel) in listeners
        do (recording-faults (send-event connection channel event)))
  (and listeners t))

(defun tell (&rest event)
  "Send EVENT to every listener that understands it. => true if there is one"
  (tell-listeners (live-listeners (first event)) event))

(defun forget-closed-listeners ()
  "Remove connections that have closed from the list of listeners."
  (sb-ext:atomic-update (car (meeting-place :listeners '()))
                        (lambda (listeners)
                          (remove-if-not (lambda (connection) (open-stream-p (connection.socket-io connection)))
                                         listeners :key #'first))))

;;; The ledger: the latest calls of agents.

(defconstant +no-request+ -1 "The id of the request of a call that is none. Those of requests are positive.")

(defconstant +kept-calls+ 200 "Calls that are kept.")

(defconstant +kept-text-limit+ 20000 "Characters that are kept of each call's code, output and result.")

(defparameter *question* "approval" "The operation of a question to the user.")

(defparameter *background-stop* "background stop" "The operation of a stop in a thread that runs no request.")

(defstruct (call (:copier nil))
  "A request by which an agent did something."
  (number 0 :type integer)
  ;; how often it has changed, so that Emacs can tell a ledger from events that came before it
  (revision 0 :type fixnum)
  (agent "" :type string)
  connection
  ;; the id of the request, or +NO-REQUEST+
  (request 0 :type integer)
  ;; the name of the runtime's function: "evaluate", "set-breakpoint", ...
  (operation "" :type string)
  (code "" :type string)
  (package nil :type (or null string))
  ;; seconds since 1970
  (begun 0 :type rational)
  (ended nil :type (or null rational))
  ;; the pieces, latest first, and their length
  (output '() :type list)
  (output-length 0 :type fixnum)
  ;; (THREAD LEVEL TYPE MESSAGE) while it is stopped
  (stop nil :type list)
  ;; :returned, :failed, :aborted, :lost, :refused; NIL while it runs
  (status nil :type symbol)
  (result "" :type string))

(defmethod print-object ((call call) stream)
  (print-unreadable-object (call stream :type t)
    (format stream "~d ~a" (call-number call) (call-operation call))))

(defvar *agent-calls* '() "The latest calls, latest first.")

(defvar *forgotten-calls* 0 "The number of earlier calls.")

(defvar *calls-lock* (sb-thread:make-mutex :name "swank-client calls") "Held while *CALLS* or a call changes.")

(defmacro with-calls-locked (() &body body)
  "Run BODY while no other thread changes calls."
  `(with-system-mutex (*calls-lock*) ,@body))

(defmacro changing-call ((call) &body body)
  "Run BODY, which changes CALL, while no other thread does. => the new revision of CALL"
  `(with-calls-locked ()
     ,@body
     (incf (call-revision ,call))))

(defun now ()
  "Seconds since 1970, in milliseconds."
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
    (+ seconds (/ (floor microseconds 1000) 1000))))

(defun first-characters (text &optional (limit +kept-text-limit+))
  "TEXT, or its beginning with the number of characters left out."
  (if (<= (length text) limit)
      text
      (format nil "~a [... ~d more characters]" (subseq text 0 limit) (- (length text) limit))))

(defun add-call (call)
  "Enter CALL in the ledger."
  (with-calls-locked ()
    (push call *agent-calls*)
    (let ((last (nthcdr (1- +kept-calls+) *agent-calls*)))
      (when (rest last)
        (incf *forgotten-calls* (length (rest last)))
        (setf (rest last) '())))))

(defun find-open-call (connection request)
  "The call of CONNECTION's client with the id REQUEST that has not ended, or NIL."
  (find-if (lambda (call)
             (and (eql request (call-request call)) (eq connection (call-connection call)) (null (call-ended call))))
           *agent-calls*))

(defun open-calls (&optional connection)
  "The calls that have not ended, of CONNECTION's client if that is given."
  (remove-if (lambda (call) (or (call-ended call) (and connection (not (eq connection (call-connection call))))))
             *agent-calls*))

(defun add-output (call text)
  "Keep TEXT, which CALL printed. => the new revision, and what Emacs shows of it, or NIL: once it does not fit, a mark"
  (let ((shown nil))
    (values (changing-call (call)
              (let* ((before (call-output-length call))
                     (room (max 0 (- +kept-text-limit+ before))))
                (setf (call-output-length call) (+ before (length text)))
                (cond ((<= (length text) room)
                       (push text (call-output call))
                       (setf shown text))
                      ((<= before +kept-text-limit+)
                       (let ((kept (subseq text 0 room)))
                         (push kept (call-output call))
                         (setf shown (format nil "~a [... further output is left out]" kept)))))))
            shown)))

(defun output-text (call limit)
  "The kept output of CALL, at most LIMIT characters, with the number of those left out."
  (let* ((text (apply #'concatenate 'string (reverse (call-output call))))
         (shown (if (<= (length text) limit) text (subseq text 0 limit)))
         (left-out (- (call-output-length call) (length shown))))
    (if (plusp left-out) (format nil "~a [... ~d more characters]" shown left-out) shown)))

(defun end-call (call status result)
  "End CALL with STATUS and the text RESULT. => the new revision, NIL if it has ended before"
  (let ((first-p nil))
    (let ((revision (changing-call (call)
                      (unless (call-ended call)
                        (setf first-p t
                              (call-stop call) nil
                              (call-status call) status
                              (call-result call) (first-characters result)
                              (call-ended call) (now))))))
      (and first-p revision))))

;;; The agents that are connected.

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
        (let ((own (unused-name (first-characters name 100))))
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
