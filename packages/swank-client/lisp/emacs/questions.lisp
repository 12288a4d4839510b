;;;; Questions of agents to the user, and what the user asks of agents.

(in-package #:swank-client/emacs)

;;; Questions to the user: what an agent may do only with a yes is asked in each Emacs that listens, and by each program that listens as Emacs
;;; does. The first answer counts.

(defconstant +poll-seconds+ 1/5 "Seconds after which an open question is looked at again: whether anybody can still answer it.")

(defstruct (question (:copier nil))
  "What an agent asks the user to allow."
  (number 0 :type integer)
  (agent "" :type string)
  ;; a verb phrase, the details as (LABEL TEXT), and lines about where it would happen
  (action "" :type string)
  (particulars '() :type list)
  (circumstances '() :type list)
  ;; (THREAD LEVEL TOKEN) of the stop that it is about, for which the user can allow it as a whole; or NIL
  (stop nil :type list)
  ;; true if a single key must not allow it
  (in-full-p nil)
  (asked 0 :type rational)
  (seconds 0 :type real)
  ;; the agent's name for it, a text, if it can be answered in the agent's client, too: it then stays while nobody who listens can answer it
  (key nil :type (or null string))
  ;; true from its end on, when no answer counts
  (over-p nil)
  ;; :yes, :no or :stop, and where it was given: :emacs, :page or :client
  (answer nil :type symbol)
  (place nil :type symbol)
  ;; the connections whose users cannot be asked
  (passed '() :type list)
  (news (sb-thread:make-semaphore :name "swank-client question")))

(defmethod print-object ((question question) stream)
  (print-unreadable-object (question stream :type t)
    (format stream "~d ~a" (question-number question) (question-answer question))))

(defvar *questions* '() "The questions without an answer, latest first.")

(defconstant +past-questions+ 8 "Questions that are kept after their end.")

(defvar *past-questions* '() "The latest questions with a key that have ended, latest first.")

(defun question-plist (question)
  "What Emacs shows of QUESTION."
  (list :number (question-number question)
        :agent (question-agent question)
        :action (question-action question)
        :particulars (question-particulars question)
        :circumstances (question-circumstances question)
        :for-stop (and (question-stop question) t)
        :in-full (and (question-in-full-p question) t)
        :asked (seconds (question-asked question))
        :seconds (question-seconds question)))

(defun answerable-p (question)
  "True if the user of some Emacs can still answer QUESTION."
  (loop for (connection) in (live-listeners :ask)
        thereis (not (member connection (question-passed question)))))

(defun stop-of (thread-id level)
  "The stop of the thread with the id THREAD-ID at LEVEL: (THREAD LEVEL TOKEN), where the TOKEN is NIL if it is not there."
  (let ((thread (swank/backend:find-thread thread-id)))
    (list thread level (and thread (= level (debugger-level thread)) (value-in-thread '*sldb-restarts* thread)))))

(defun stop-gone-p (stop)
  "True if the thread of STOP has left it. At a deeper level, it has not."
  (destructuring-bind (thread level token) stop
    (let ((now (if (and thread (sb-thread:thread-alive-p thread)) (debugger-level thread) 0)))
      (or (< now level)
          (and (= now level) (not (eq token (value-in-thread '*sldb-restarts* thread))))))))

(defun await-answer (question)
  "Wait until QUESTION is answered, its stop has ended, its time is over, or nobody can answer it.
=> :answered, :stop-gone, :unanswered or :nobody"
  (loop for left = (- (+ (question-asked question) (question-seconds question)) (now))
        do (cond ((question-answer question) (return :answered))
                 ((and (question-stop question) (stop-gone-p (question-stop question))) (return :stop-gone))
                 ((not (or (question-key question) (answerable-p question))) (return :nobody))
                 ((<= left 0) (return :unanswered)))
           (sb-thread:wait-on-semaphore (question-news question) :timeout (min left +poll-seconds+))))

(defun close-question (question reason)
  "Let no answer to QUESTION count from now on, because of REASON. => the reason, which an answer that was faster changes"
  (with-calls-locked ()
    (setf (question-over-p question) t)
    (when (question-key question)
      (push question *past-questions*)
      (setf *past-questions* (subseq *past-questions* 0 (min +past-questions+ (length *past-questions*)))))
    (if (and (question-answer question) (member reason '(:unanswered :nobody))) :answered reason)))

(defun end-question (question reason)
  "End QUESTION wherever it is asked, because of REASON."
  (sb-ext:atomic-update (symbol-value '*questions*) (lambda (questions) (remove question questions)))
  (let ((facts (list (question-number question) reason (question-answer question))))
    (tell-listeners (live-listeners :withdrawn) `(:withdrawn ,@facts ,(question-place question)))
    ;; earlier versions of swank-mcp.el accept no place
    (tell-listeners (live-listeners :withdraw :withdrawn) `(:withdraw ,@facts))))

(defun comment (text)
  "TEXT as a comment of Lisp."
  (with-output-to-string (stream)
    (write-string ";; " stream)
    (loop for char across text
          do (write-char char stream)
             (when (char= char #\Newline) (write-string ";; " stream)))))

(defun question-text (question)
  "QUESTION as Lisp code and comments, for the ledger."
  (format nil "~{~a~^~%~}"
          (append (list (comment (format nil "~a?" (question-action question))))
                  (loop for (label text) in (question-particulars question)
                        collect (if (string= label "Code") text (comment (format nil "~a: ~a" label text))))
                  (mapcar #'comment (question-circumstances question)))))

(defun conclusion (question reason)
  "=> the status of QUESTION, which ended because of REASON, in the ledger, and a text about it"
  (ecase reason
    (:answered (let ((place (ecase (question-place question)
                              (:emacs "in Emacs")
                              (:page "on the page")
                              (:client "in the agent's client"))))
                 (case (question-answer question)
                   (:no (values :refused (format nil "Not allowed ~a: the user said no" place)))
                   (:stop (values :returned (format nil "Allowed ~a: Yes, for this stop" place)))
                   (t (values :returned (format nil "Allowed ~a: Yes" place))))))
    (:unanswered (values :refused (format nil "Not allowed~:[ in Emacs~;~]: no answer came within ~d s"
                                          (question-key question) (question-seconds question))))
    (:nobody (values :aborted "No Emacs could ask."))
    (:stop-gone (values :aborted "The stop has ended."))
    (:gone (values :aborted "The agent does not ask any more."))))

(defun pose (question connection)
  "Ask QUESTION of CONNECTION's agent wherever a user can be asked, and enter it in the ledger.
=> (:answered ANSWER PLACE) | (:unanswered) | (:nobody) | (:stop-gone)"
  (let ((end :gone)
        (call (note-call *question* (question-text question) nil connection)))
    (sb-ext:atomic-push question (symbol-value '*questions*))
    (unwind-protect
         (progn (tell :ask (question-plist question))
                (setf end (await-answer question)))
      (setf end (close-question question end))
      (end-question question end)
      (when call
        (multiple-value-bind (status text) (conclusion question end)
          (tell-end call status text))))
    (if (eq end :answered)
        (list end (question-answer question) (question-place question))
        (list end))))

(defun user-reachable-p ()
  "True if an Emacs, or a program like it, listens where the user can be asked."
  (and (live-listeners :ask) t))

(defun ask-user (action particulars circumstances stop seconds &key key)
  "Ask the user whether this connection's agent may do ACTION. PARTICULARS are lists (LABEL TEXT). STOP is NIL or (THREAD-ID LEVEL).
=> (:answered ANSWER PLACE): ANSWER is :YES, :NO or, with a STOP, :STOP, and PLACE :EMACS, :PAGE or :CLIENT; (:stop-gone) if the thread has left STOP;
(:unanswered) after SECONDS; (:nobody) if nobody asks, or not any more. With a KEY, a text for SETTLE-QUESTION that no other question has, the
question is there for who listens later, too."
  (if (or key (user-reachable-p))
      (pose (make-question :number (next-number)
                           :agent (or (agent-name *emacs-connection*) "agent")
                           :action action :particulars particulars :circumstances circumstances
                           :stop (and stop (apply #'stop-of stop)) :asked (now) :seconds seconds
                           :key key)
            *emacs-connection*)
      '(:nobody)))

(defun answer-if-open (question answer place)
  "Answer QUESTION with ANSWER, given at PLACE, unless it is answered or has ended. => true if the answer counts"
  (with-calls-locked ()
    (unless (or (question-answer question) (question-over-p question))
      (setf (question-place question) place
            (question-answer question) answer))))

(defun keyed-question (key)
  "The question with KEY, which has just been asked, or NIL."
  (loop repeat 50
        thereis (find key (append *questions* *past-questions*) :key #'question-key :test #'equal)
        ;; its request may be on its way
        do (sleep 1/50)))

(defun settle-question (key answer)
  "Note that the user has answered ANSWER in the agent's client to the question with KEY.
=> (:answered ANSWER PLACE), the first answer, which counts; (:nobody) if none was given here"
  (let ((question (keyed-question key)))
    (when question
      (answer-if-open question answer :client)
      (sb-thread:signal-semaphore (question-news question)))
    (if (and question (question-answer question))
        (list :answered (question-answer question) (question-place question))
        '(:nobody))))

(defun answer-question (connection number answer)
  "Answer question NUMBER for the user of CONNECTION, unless that is answered; :PASS if the user cannot be asked there.
=> true if the answer counts"
  (let ((question (find number *questions* :key #'question-number)))
    (when question
      (prog1 (if (eq answer :pass)
                 (with-calls-locked ()
                   (pushnew connection (question-passed question))
                   nil)
                 (and (answer-if-open question
                                      (if (or (eq answer :yes) (and (eq answer :stop) (question-stop question))) answer :no)
                                      ;; Emacs is a listener whenever it answers
                                      (or (listener-place connection) :page))
                      t))
        (sb-thread:signal-semaphore (question-news question))))))

;;; The end of the image

(defun note-wait (connection id waits-p)
  "Tell CONNECTION's client whether its evaluation ID waits for the user, because that time is not the evaluation's."
  (send (mconn.control-thread connection) (list :write-string (if waits-p "asking" "") (list id 5))))

(defun ask-to-exit (operator arguments)
  "True if the user allows code of an agent to end the image by calling OPERATOR with ARGUMENTS."
  (let* ((session (code-session))
         (connection (and session (session-connection session)))
         (call (and *evaluation* connection (find-open-call connection (evaluation-id *evaluation*)))))
    (when (and call (user-reachable-p))
      (note-wait connection (call-request call) t)
      (unwind-protect
           (eq :yes (second (pose (make-question :number (next-number)
                                                 :agent (call-agent call)
                                                 :action "end this Lisp, for all its clients"
                                                 :particulars (list (list "Call" (argument-text (cons operator arguments)))
                                                                    (list "Code" (call-code call)))
                                                 :in-full-p t
                                                 :asked (now) :seconds 60)
                                  connection)))
        (note-wait connection (call-request call) nil)))))

(setf *ask-to-exit* 'ask-to-exit)

;;; What the user asks agents to look at.

(defconstant +request-limit+ 4000 "Characters of a request of the user.")

(defun open-agents ()
  "((CONNECTION . NAME) ...) of the agents that are connected."
  (sb-ext:with-locked-hash-table (*agents*)
    (loop for connection being the hash-keys of *agents* using (hash-value name)
          when (connection-open-p connection) collect (cons connection name))))

(defun ask-agents (agent text place)
  "Let AGENT or, if that is NIL, every agent read with its next answer that the user asks TEXT at PLACE, a text or NIL.
=> the names of the agents that will read it"
  (loop with request = (list :text (first-characters text +request-limit+) :place (and place (first-characters place +request-limit+)))
        for (connection . name) in (open-agents)
        when (or (null agent) (equal agent name))
          do (send (mconn.control-thread connection) (list :write-string "" (list :user-asks request)))
          and collect name))
