;;;; Decides which calls of code compiled for stepping are stops.

(in-package #:swank-client/stops)

(defvar *step-wanted* nil
  "Where to stop: a predicate on the calling frame, :ANYWHERE, :NOWHERE, or NIL if only the code itself started stepping.")

(defun operator-text (form)
  "The operator in FORM, the text of a call."
  (subseq form 1 (position-if (lambda (char) (find char " )")) form)))

(defun expansion-form-p (form)
  "True if FORM, the text of a call, comes from the expansion of a macro of Lisp, and not from the source."
  (and (search "#:" form)
       (let ((operator (operator-text form)))
         (or (eql 0 (search "SB-" operator))
             (accessible-symbol operator "COMMON-LISP")))))

(defun step-restart-for (condition)
  "The restart that continues from CONDITION without a stop, or NIL for a stop."
  (cond ((or (not *in-user-code*) (eq *step-wanted* :nowhere)) 'sb-ext:step-continue)
        ;; a Swank that was compiled for stepping, returning from the last stop
        ((system-name-p (frame-name (find-stepped-frame))) 'sb-ext:step-next)
        ((functionp *step-wanted*)
         (unless (and (funcall *step-wanted* (find-stepped-frame))
                      (not (expansion-form-p (sb-ext:step-condition-form condition))))
           'sb-ext:step-next))
        ((expansion-form-p (sb-ext:step-condition-form condition)) 'sb-ext:step-into)))

(defun make-stepper (enter-debugger)
  "A function for SB-EXT:*STEPPER-HOOK* that stops with ENTER-DEBUGGER."
  (lambda (condition)
    (when (typep condition 'sb-ext:step-form-condition)
      (let ((restart (step-restart-for condition)))
        (if restart
            (invoke-restart restart)
            (funcall enter-debugger condition))))))

(defun signal-step (signal &rest arguments)
  "Encapsulates the functions that signal the stepper's conditions: handlers of the user's code, as for CONDITION, do not see them."
  (if (or *evaluation* *in-user-code* (code-session))
      (with-initial-handlers (apply signal arguments))
      (apply signal arguments)))
