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

(defvar *attempt* nil "The number by which the client knows what this stopped thread evaluates now.")

(defun error-entry (condition)
  (list :error (class-name-text (shown-class condition)) (message-text condition)))

(defun give-up-attempt (condition hook)
  "In place of the debugger: it would stop one level deeper."
  (declare (ignore hook))
  (throw 'attempt (error-entry condition)))

(defun stack-exhausted-p ()
  "True in a thread that stands at the very end of its stack: a second exhaustion there would end the image."
  (typep swank::*swank-debugger-condition* 'sb-kernel::control-stack-exhausted))

(defun call-attempt (number function)
  "What FUNCTION gives | (:error TYPE MESSAGE) | (:interrupted) if END-ATTEMPT was called meanwhile."
  (if (stack-exhausted-p)
      (list :error "STORAGE-CONDITION" "This thread has no stack left to evaluate anything on: abort it, or look at its frames.")
      (call-attempt-with-stack number function)))

(defun call-attempt-with-stack (number function)
  (take-over-stack)
  (catch 'attempt
    (let ((*attempt* number)
          (*debugger-hook* nil)
          (sb-ext:*invoke-debugger-hook* #'give-up-attempt))
      (handler-case (without-way-back (funcall function))
        (serious-condition (condition)
          (unless (typep swank::*swank-debugger-condition* 'storage-condition)
            ;; the stack of the stop itself is in order: so it must be again
            (when (typep condition 'storage-condition) (heal-stack)))
          (error-entry condition))))))

(defun leave-through (restart values attempt)
  "=> (:returned) from a restart that does not transfer control | (:interrupted), or does not return"
  (catch 'attempt
    (let ((*attempt* attempt))
      (leave-stack)
      (apply #'invoke-restart restart values)
      '(:returned))))

(defun end-attempt (thread-id number)
  "Break off what the stopped thread evaluates. False if there is no such thread."
  (let ((thread (swank/backend:find-thread thread-id)))
    (when thread
      (call-in-thread thread
                      (lambda () (eql *attempt* number))
                      (lambda () (throw 'attempt '(:interrupted))))
      t)))
