;;;; What an agent's server tells about itself: questions to the user and their answers, and calls that it refused. No message to Swank shows
;;;; these.

(in-package #:swank-client/activity)

(defun note-call (operation code package &optional (connection *emacs-connection*))
  "Enter CODE in the ledger, with which CONNECTION's client has begun OPERATION without a request. => the call, or NIL for a client that is no
agent"
  (when (agent-name connection)
    (let ((call (make-call :number (next-number)
                           :agent (agent-name connection)
                           :connection connection
                           :request +no-request+
                           :operation operation
                           :code (bounded code)
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
