;;;; Evaluates a client's expressions in a stopped thread without changing the stop.

(in-package #:swank-client/snapshots)

(defun schedule-stack-repair ()
  "Call this before this thread is unwound: if it exhausted its stack and runs no evaluation, which would repair it, have it repaired later."
  (when (and *thread-state-slot* (null *evaluation*) (guard-page-lowered-p))
    (start-runtime-thread #'repair-stack-of "swank-client stack" sb-thread:*current-thread*)))

(defun code-forms (source package)
  "The forms of SOURCE, code of the client's session, read in PACKAGE."
  (let ((session (attempt-session)))
    (if session
        (with-code-syntax (session package) (source-forms source))
        (let ((*package* package)) (source-forms source)))))

(defun attempt-session ()
  "The session whose code an attempt is: the one whose code this thread runs, or the one whose debugger it is in; or NIL."
  (or (code-session) (gethash *emacs-connection* *sessions*)))

(defun value-of-source (source)
  "The value of SOURCE, one expression of the client's session in the current package."
  (let ((forms (code-forms source *package*)))
    (if (= (length forms) 1)
        (eval (first forms))
        (error "Expected one expression, but got ~d." (length forms)))))

(defstruct (attempt (:type vector) (:copier nil))
  "An evaluation that a client makes in a stopped thread."
  ;; a string that is unique among all clients' attempts
  token
  (cancelled nil))

(defvar *attempts* '() "The attempts that this stopped thread runs, innermost first. An answer to another client can interrupt one.")

(defun leave-if-cancelled ()
  "Leave the innermost attempt if it was cancelled while an answer to another client interrupted it."
  (when (and *attempts* (attempt-cancelled (first *attempts*)))
    (throw 'attempt '(:interrupted))))

(defun cancel-attempt (attempt)
  "End ATTEMPT as interrupted."
  (setf (attempt-cancelled attempt) t)
  ;; an attempt that another one interrupted ends when that one is over
  (leave-if-cancelled))

(defmacro with-attempt ((token) &body body)
  "The values of BODY, or (:interrupted) if END-ATTEMPT was called with TOKEN."
  `(catch 'attempt
     (let ((*attempts* (cons (make-attempt :token ,token) *attempts*)))
       ,@body)))

(defun error-entry (condition)
  "(:error TYPE MESSAGE) for CONDITION."
  (list :error (class-name-text (shown-class condition)) (message-text condition)))

(defun give-up-attempt (condition hook)
  "Leave the attempt instead of entering the debugger, which would stop one level deeper."
  (declare (ignore hook))
  (throw 'attempt (error-entry condition)))

(defun stack-exhausted-p ()
  "True in a thread that stopped because its stack is exhausted. A second exhaustion there would end the image."
  (typep *swank-debugger-condition* 'control-stack-exhausted))

(defun call-attempt (token function)
  "=> the result of FUNCTION | (:error TYPE MESSAGE) | (:interrupted) if END-ATTEMPT was called with TOKEN"
  (if (stack-exhausted-p)
      (list :error "STORAGE-CONDITION" "This thread has exhausted its stack and can evaluate nothing: abort it, or look at its frames.")
      (call-attempt-with-stack token function)))

(defun call-attempt-with-stack (token function)
  "Do what CALL-ATTEMPT does in a thread with stack left."
  (reset-guard-pages)
  (with-attempt (token)
    (let ((*debugger-hook* nil)
          (sb-ext:*invoke-debugger-hook* #'give-up-attempt))
      (handler-case (with-code-of ((attempt-session)) (without-outer-handlers (funcall function)))
        (serious-condition (condition)
          (unless (typep *swank-debugger-condition* 'storage-condition)
            ;; the stop itself did not exhaust the stack, so it must be usable again
            (when (typep condition 'storage-condition) (restore-guard-page)))
          (error-entry condition))))))

(defun leave-through (restart values token)
  "Invoke RESTART with VALUES. => (:returned) if it transfers no control | (:interrupted), or does not return"
  (with-attempt (token)
    (schedule-stack-repair)
    (apply #'invoke-restart restart values)
    '(:returned)))

(defun find-attempt (token)
  "The attempt of this thread with that TOKEN."
  (find token *attempts* :key #'attempt-token :test #'equal))

(defun end-attempt (thread-id token)
  "Cancel the attempt with TOKEN in the stopped thread THREAD-ID. False if there is no such thread."
  (let ((thread (swank/backend:find-thread thread-id)))
    (when thread
      (call-in-thread thread
                      (lambda () (find-attempt token))
                      (lambda () (cancel-attempt (find-attempt token))))
      t)))
