;;;; Notes what agents do, found in the messages between them and Swank, for each Emacs that listens.

(in-package #:swank-client/emacs)

;;; The requests of a client that do something, found in the messages that it sends.

(defparameter *actions*
  '("COMPILE-CODE" "CONTINUE-STOP" "END-THREAD-BY" "EVAL-IN-FRAME" "EVALUATE" "INVOKE-OFFERED-RESTART" "REMOVE-BREAKPOINT" "RESET"
    "RESTART-FRAME" "RETURN-FROM-FRAME" "SAVE-CHANGES" "SET-BREAKPOINT" "STEP-ON" "STOP-THREAD")
  "The functions of the runtime that change something for the client.")

(defun runtime-function-p (operator)
  "True if OPERATOR names a function of a version of the runtime."
  (and (symbolp operator) (runtime-symbol-p operator)))

(defun quoted-form (argument)
  "The form that ARGUMENT quotes, or NIL."
  (and (typep argument '(cons (eql quote) (cons t null))) (second argument)))

(defun wrapped-form (form)
  "The call that FORM makes in a stopped thread, or NIL if it makes none."
  (and (runtime-function-p (first form))
       (cond ((string= "AT-STOP" (first form)) (quoted-form (third form)))
             ((string= "ASK-STOP" (first form)) (quoted-form (fifth form))))))

(defun called-form (form)
  "The call of a function of the runtime that the request FORM makes, or NIL."
  (loop while (consp form)
        do (let ((wrapped (wrapped-form form)))
             (if wrapped
                 (setf form wrapped)
                 (return (and (runtime-function-p (first form)) form))))))

(defun without-home (code)
  "CODE without the packages of the runtime's functions, which it names to load systems or to run tests."
  (loop for start = (search "SWANK-CLIENT/" code :test #'char-equal)
        for end = (and start (position #\: code :start start))
        while (and end (notany (lambda (char) (find char " ()\"")) (subseq code start end)))
        do (setf code (concatenate 'string (subseq code 0 start) (subseq code (1+ end))))
        finally (return code)))

(defun data-in (text)
  "The data that the runtime has printed as TEXT, or that a client has written for it. Symbols are keywords, except NIL."
  (with-standard-io-syntax
    (let ((*read-eval* nil) (*package* (find-package "KEYWORD")))
      (subst nil :nil (read-from-string text)))))

(defparameter *tools* '(("LOAD-CODE" . "load-system") ("LOAD-CHANGES" . "load-changes") ("RUN-TESTS" . "run-tests"))
  "The functions of the runtime that clients call in evaluated code, because they can stop, and the names that people know.")

(defun called-tool (code)
  "=> the name of the tool that CODE of an evaluation calls, or NIL, and its arguments"
  (let ((end (and (eql 0 (search "(SWANK-CLIENT/" code :test #'char-equal)) (position #\Space code))))
    (when end
      (let* ((colon (position #\: code :end end :from-end t))
             (tool (and colon (cdr (assoc (subseq code (1+ colon) end) *tools* :test #'string-equal)))))
        (and tool
             (nil-on (or reader-error end-of-file) (values tool (data-in (concatenate 'string "(" (subseq code end))))))))))

(defun tool-text (tool arguments)
  "The call of TOOL with ARGUMENTS, of a function of the runtime, as the user reads it."
  (destructuring-bind (&optional (first "") system (name "") force test) arguments
    (if (string= tool "load-system")
        (format nil "(load-system ~:[:file ~;~]~s~:[~; :force t~]~:[~; :test t~])" (eq system :t) name (eq force :t) (eq test :t))
        (format nil "(~a~:[ ~s~;~])" tool (null first) first))))

(defun argument-text (argument)
  "ARGUMENT of a request as text. It is data that came over the wire."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*print-case* :downcase) (*package* (find-package "KEYWORD")))
      (prin1-to-string argument))))

(defun operation-of (form)
  "The name of what FORM, a call of a function of the runtime, does."
  (or (and (string= "EVALUATE" (first form)) (called-tool (second form)))
      (string-downcase (first form))))

(defun action-text (form)
  "FORM, a call that does something, as the user reads it."
  (destructuring-bind (operator &rest arguments) form
    (cond ((string= operator "EVALUATE")
           (multiple-value-bind (tool tool-arguments) (called-tool (first arguments))
             (if tool (tool-text tool tool-arguments) (without-home (first arguments)))))
          ((string= operator "EVAL-IN-FRAME") (fourth arguments))
          (t (format nil "(~(~a~)~{ ~a~})" operator (mapcar #'argument-text arguments))))))

;;; The results of requests as the user reads them. They are data on their way to the client.

(defun shown-values (plist)
  "The printed values in PLIST."
  (format nil "~:[; No values~;~:*~{=> ~a~^~%~}~]" (getf plist :values)))

(defun problem-text (plist)
  "The condition in PLIST, a snapshot."
  (format nil "[ERROR] ~a: ~a" (getf plist :type) (getf plist :message)))

(defun tool-outcome-text (tool reply)
  "REPLY of TOOL, a function of the runtime that evaluated code has called, as the user reads it."
  (case (first reply)
    (:loading (destructuring-bind (system file systems compiled &rest more) (rest reply)
                (declare (ignore more))
                (format nil "~:[~a~;System ~:*~a~*~]: ~d of ~d files loaded, ~d compiled now."
                        (text-or-nil system) (text-or-nil file)
                        (reduce #'+ systems :key #'second) (reduce #'+ systems :key #'third) compiled)))
    (:loads (format nil "~d form~:p looked at." (length (second reply))))
    (:tests (destructuring-bind (target frameworks passed failed skipped &rest more) (rest reply)
              (declare (ignore frameworks more))
              (format nil "~a: ~d passed, ~d failed, ~d skipped." target passed failed skipped)))
    ((:file-not-found :not-found) (format nil "~a is not found." (second reply)))
    (t (format nil "~(~a~) of ~a" (first reply) tool))))

(defun text-or-nil (datum)
  "DATUM unless it is not a string."
  (and (stringp datum) datum))

(defun tool-result-text (tool text)
  "What TEXT, the printed values of an evaluation that called TOOL, says."
  (or (and (< (length text) 200000)
           (eql 0 (search "=> " text))
           (nil-on (or reader-error end-of-file) (tool-outcome-text tool (data-in (subseq text 3)))))
      "Done."))

(defun outcome (result)
  "=> the status and the text of RESULT, a value that a function of the runtime returned"
  (if (not (and (consp result) (keywordp (first result))))
      (values :returned "")
      (destructuring-bind (status &optional data &rest more) result
        (case status
          (:returned (values :returned (if (consp data) (shown-values data) "")))
          (:values (values :returned (shown-values data)))
          ;; from a thread that is stopped in another client's debugger
          (:value (outcome data))
          (:failed (values :failed (if (consp data) (problem-text data) (format nil "[ERROR] ~a: ~a" data (first more)))))
          (:error (values :failed (format nil "[ERROR] ~a: ~a" data (first more))))
          (:aborted (values :aborted "Aborted."))
          ((:no-such-package :no-such-type :stale :no-restart :wrong-count :refused :no-frame :interrupted :silent)
           (values :failed (format nil "~(~a~)~{: ~a~}" status (remove-if-not #'stringp (cons data more)))))
          (t (values :returned ""))))))

;;; Notes what agents do, for each Emacs that listens.

;;; Notes what agents do from the messages between them and Swank. Called in the thread that dispatches a connection's messages, so it
;;; neither waits nor prints objects of the user.

(defun call-plist (call &optional (limit +kept-text-limit+))
  "What Emacs shows of CALL, with at most LIMIT characters of output."
  (list :number (call-number call)
        :revision (call-revision call)
        :agent (call-agent call)
        :operation (call-operation call)
        :code (call-code call)
        :package (call-package call)
        :begun (seconds (call-begun call))
        :ended (seconds (call-ended call))
        :output (output-text call limit)
        :stop (call-stop call)
        :status (call-status call)
        :result (call-result call)))

(defun begin-call (connection form package request)
  "Enter FORM, a call with the id REQUEST of CONNECTION's client, in the ledger."
  (let* ((own-package (and (string= "EVALUATE" (first form)) (getf (cddr form) :package)))
         (call (make-call :number (next-number)
                          :agent (agent-name connection)
                          :connection connection
                          :request request
                          :operation (operation-of form)
                          :code (first-characters (action-text form))
                          :package (or own-package package)
                          :begun (now))))
    (add-call call)
    (tell :begin (call-plist call))))

(defun note-request (connection form package thread request)
  "Note the request FORM of CONNECTION's client to THREAD."
  (declare (ignore thread))
  (let ((called (called-form form)))
    (when (and called (member (first called) *actions* :test #'string=)) (begin-call connection called package request))))

(defun note-output (connection text target)
  "Note TEXT that an evaluation printed, if TARGET says so."
  (let ((call (and (consp target) (member (second target) '(1 2)) (find-open-call connection (first target)))))
    (when call
      (multiple-value-bind (revision kept) (add-output call text)
        (when kept (tell :output (call-number call) revision kept))))))

(defun note-stop (connection thread level condition requests)
  "Note that THREAD stopped at LEVEL with CONDITION, (MESSAGE TYPE ...), while it ran one of REQUESTS."
  (let ((stop (list thread level (first-characters (princ-to-string (first condition)) 2000)))
        (call (or (some (lambda (request) (find-open-call connection request)) requests)
                  (find-if (lambda (call) (eql thread (first (call-stop call)))) (open-calls connection)))))
    (if call
        (tell :stop (call-number call) (changing-call (call) (setf (call-stop call) stop)) stop)
        (begin-background-stop connection stop))))

(defun begin-background-stop (connection stop)
  "Enter STOP, of a thread that runs no request of CONNECTION's client, in the ledger."
  (let ((call (make-call :number (next-number)
                         :agent (agent-name connection)
                         :connection connection
                         :request +no-request+
                         :operation *background-stop*
                         :code (format nil ";; Thread ~d" (first stop))
                         :begun (now)
                         :stop stop)))
    (add-call call)
    (tell :begin (call-plist call))))

(defun note-resumption (connection thread level)
  "Note that THREAD left its stop at LEVEL."
  (dolist (call (open-calls connection))
    (when (eql thread (first (call-stop call)))
      (cond ((string/= *background-stop* (call-operation call))
             (tell :resume (call-number call) (changing-call (call) (setf (call-stop call) nil))))
            ;; from a deeper level it returns to this stop
            ((eql level 1) (tell-end call :returned ""))))))

(defun call-outcome (call result)
  "=> the status and the text of RESULT, which ended CALL"
  (multiple-value-bind (status text) (outcome result)
    (values status
            (if (and (eq status :returned) (rassoc (call-operation call) *tools* :test #'string=))
                (tool-result-text (call-operation call) text)
                text))))

(defun note-reply (connection reply request)
  "Note the REPLY to REQUEST."
  (let ((call (find-open-call connection request)))
    (when call
      (destructuring-bind (status &optional data) reply
        (multiple-value-bind (status text)
            (case status
              (:ok (call-outcome call data))
              (:refused (values :failed "The result could not be sent."))
              (t (values :aborted "")))
          (tell-end call status text))))))

(defun observe (connection message)
  "Note what MESSAGE between CONNECTION's client and Swank says about the agent, if the client is one."
  (when (agent-name connection)
    (case (first message)
      (:emacs-rex (destructuring-bind (form package thread request) (rest message)
                    (note-request connection form package thread request)))
      (:write-string (note-output connection (second message) (third message)))
      (:debug (destructuring-bind (thread level condition restarts frames requests) (rest message)
                (declare (ignore restarts frames))
                (note-stop connection thread level condition requests)))
      (:debug-return (note-resumption connection (second message) (third message)))
      (:return (note-reply connection (third message) (fourth message))))))

(setf *observer* 'observe)

;;; What an agent's server tells about itself: questions to the user and their answers, and calls that it refused. No message to Swank shows
;;; these.

(defun note-call (operation code package &optional (connection *emacs-connection*))
  "Enter CODE in the ledger, with which CONNECTION's client has begun OPERATION without a request. => the call, or NIL for a client that is no
agent"
  (when (agent-name connection)
    (let ((call (make-call :number (next-number)
                           :agent (agent-name connection)
                           :connection connection
                           :request +no-request+
                           :operation operation
                           :code (first-characters code)
                           :package package
                           :begun (now))))
      (add-call call)
      (tell :begin (call-plist call))
      call)))

(defun note-question (text)
  "Enter a question to the agent's user in the ledger, with TEXT, Lisp code and comments. => its number, or NIL"
  (let ((call (note-call *question* text nil)))
    (and call (call-number call))))

(defun note-answer (number allowed text)
  "End the question with NUMBER. TEXT says who has answered, and how; ALLOWED is true if the answer was yes."
  (let ((call (find number (open-calls *emacs-connection*) :key #'call-number)))
    (when call (tell-end call (if allowed :returned :refused) text))
    t))

(defun note-refusal (operation code package text)
  "Enter CODE in the ledger, which the agent wanted to use in OPERATION, a tool's name, and TEXT, which says why it was refused."
  (let ((call (note-call operation code package)))
    (when call (tell-end call :refused text))
    t))

;;; What agents do at stops in the debugger of the user's Emacs: it shows who looks at a stop, and what has changed there.

(defun tell-client (connection &rest event)
  "Send EVENT to the client of CONNECTION, if that listens."
  (let ((listener (find connection (live-listeners (first event)) :key #'first)))
    (when listener (recording-faults (send-event connection (second listener) event)))))

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
