;;;; The session whose code a thread runs.

(in-package #:swank-client/sessions)

(defvar *code-home* nil "The connection that this thread served when *CODE-SESSION* was bound.")

(defvar *code-unwinds* nil "True if errors in threads that this code starts end the threads instead of stopping them.")

(defmacro with-code-of ((session) &body body)
  "Run BODY, which is code of SESSION."
  `(let ((*code-session* ,session)
         (*code-home* *emacs-connection*))
     ,@body))

(defun code-session ()
  "The session whose code this thread runs now, or NIL.
A Swank server that the code started serves other clients in threads that do not run the session's code."
  (let ((session *code-session*))
    (and session
         (not (session-departed session))
         (member *emacs-connection* (list nil *code-home* (session-connection session)))
         session)))
