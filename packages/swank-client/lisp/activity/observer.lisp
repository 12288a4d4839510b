;;;; Notes what agents do from the messages between them and Swank. Called in the thread that dispatches a connection's messages, so it
;;;; neither waits nor prints objects of the user.

(in-package #:swank-client/activity)

(defun call-plist (call &optional (limit +text-limit+))
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
                          :code (bounded (action-text form))
                          :package (or own-package package)
                          :begun (now))))
    (add-call call)
    (tell :begin (call-plist call))))

(defun note-request (connection form package thread request)
  "Note the request FORM of CONNECTION's client to THREAD."
  (declare (ignore thread))
  (let ((called (called-form form)))
    (when (and called (action-p called)) (begin-call connection called package request))))

(defun note-output (connection text target)
  "Note TEXT that an evaluation printed, if TARGET says so."
  (let ((call (and (consp target) (member (second target) '(1 2)) (find-open-call connection (first target)))))
    (when call
      (multiple-value-bind (revision kept) (add-output call text)
        (when kept (tell :output (call-number call) revision kept))))))

(defun note-stop (connection thread level condition requests)
  "Note that THREAD stopped at LEVEL with CONDITION, (MESSAGE TYPE ...), while it ran one of REQUESTS."
  (let ((stop (list thread level (bounded (princ-to-string (first condition)) 2000)))
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
