;;;; Evaluating somebody's expressions in a stopped thread, so that the stop stays as it was whatever they do.

(in-package #:@runtime@)

(defun source-forms (source)
  "The forms of SOURCE, read in the current package."
  (handler-case (with-input-from-string (stream source)
                  (loop with eof = (list nil)
                        for form = (read stream nil eof)
                        until (eq form eof) collect form))
    (end-of-file () (error "The code ends in the middle of a form."))))

(defun value-of-source (source)
  (let ((forms (source-forms source)))
    (if (= (length forms) 1)
        (eval (first forms))
        (error "One expression is wanted, not ~d." (length forms)))))

(defstruct attempt
  "What a client has a stopped thread evaluate."
  ;; a string that no other attempt of any client has
  token
  (broken-off nil))

(defvar *attempts* '() "The attempts that this stopped thread runs, innermost first: an answer to another client interrupts one.")

(defun leave-if-broken-off ()
  "Leave the innermost attempt if it was broken off while an answer to another client interrupted it."
  (when (and *attempts* (attempt-broken-off (first *attempts*)))
    (throw 'attempt '(:interrupted))))

(defun break-off-attempt (attempt)
  (setf (attempt-broken-off attempt) t)
  ;; one that is interrupted by another is left when that is over
  (leave-if-broken-off))

(defmacro with-attempt ((token) &body body)
  "The values of BODY, or (:interrupted) if END-ATTEMPT was called with TOKEN meanwhile."
  `(catch 'attempt
     (let ((*attempts* (cons (make-attempt :token ,token) *attempts*)))
       ,@body)))

(defun error-entry (condition)
  (list :error (class-name-text (shown-class condition)) (message-text condition)))

(defun give-up-attempt (condition hook)
  "In place of the debugger: it would stop one level deeper."
  (declare (ignore hook))
  (throw 'attempt (error-entry condition)))

(defun stack-exhausted-p ()
  "True in a thread that stands at the very end of its stack: a second exhaustion there would end the image."
  (typep swank::*swank-debugger-condition* 'sb-kernel::control-stack-exhausted))

(defun call-attempt (token function)
  "What FUNCTION gives | (:error TYPE MESSAGE) | (:interrupted) if END-ATTEMPT was called meanwhile."
  (if (stack-exhausted-p)
      (list :error "STORAGE-CONDITION" "This thread has no stack left to evaluate anything on: abort it, or look at its frames.")
      (call-attempt-with-stack token function)))

(defun attempt-session ()
  "Whose code an attempt is: of the client that this thread runs code of, or stands in the debugger of. NIL: of none of ours."
  (or (code-session) (gethash swank::*emacs-connection* *sessions*)))

(defun call-attempt-with-stack (token function)
  (take-over-stack)
  (with-attempt (token)
    (let ((*debugger-hook* nil)
          (sb-ext:*invoke-debugger-hook* #'give-up-attempt))
      (handler-case (with-code-of ((attempt-session)) (without-way-back (funcall function)))
        (serious-condition (condition)
          (unless (typep swank::*swank-debugger-condition* 'storage-condition)
            ;; the stack of the stop itself is in order: so it must be again
            (when (typep condition 'storage-condition) (heal-stack)))
          (error-entry condition))))))

(defun leave-through (restart values token)
  "=> (:returned) from a restart that does not transfer control | (:interrupted), or does not return"
  (with-attempt (token)
    (leave-stack)
    (apply #'invoke-restart restart values)
    '(:returned)))

(defun find-attempt (token)
  "The attempt of this thread with that TOKEN."
  (find token *attempts* :key #'attempt-token :test #'equal))

(defun end-attempt (thread-id token)
  "Break off what the stopped thread evaluates under TOKEN. False if there is no such thread."
  (let ((thread (swank/backend:find-thread thread-id)))
    (when thread
      (call-in-thread thread
                      (lambda () (find-attempt token))
                      (lambda () (break-off-attempt (find-attempt token))))
      t)))
