;;;; Which of the calls that code compiled for stepping announces are stops.

(in-package #:@runtime@)

(defvar *step-wanted* nil
  "Where to stop: a function of the frame that is about to call something, :ANYWHERE, :NOWHERE, or NIL for what the code itself asked for.")

(defun operator-text (form)
  (subseq form 1 (position-if (lambda (char) (find char " )")) form)))

(defun expansion-form-p (form)
  "True of the text of a call that no source has: it comes from the expansion of one of Lisp's own macros."
  (and (search "#:" form)
       (let ((operator (operator-text form)))
         (or (eql 0 (search "SB-" operator))
             (find-symbol operator "COMMON-LISP")))))

(defun step-restart-for (condition)
  "What goes on from CONDITION without a stop, or NIL for a stop."
  (cond ((or (not *in-user-code*) (eq *step-wanted* :nowhere)) 'sb-ext:step-continue)
        ;; a Swank that is compiled for stepping, on the way out of the stop before
        ((machinery-name-p (frame-name (sb-di::find-stepped-frame))) 'sb-ext:step-next)
        ((functionp *step-wanted*)
         (unless (and (funcall *step-wanted* (sb-di::find-stepped-frame))
                      (not (expansion-form-p (sb-ext:step-condition-form condition))))
           'sb-ext:step-next))
        ((expansion-form-p (sb-ext:step-condition-form condition)) 'sb-ext:step-into)))

(defun make-stepper (enter-debugger)
  "For SB-EXT:*STEPPER-HOOK*."
  (lambda (condition)
    (when (typep condition 'sb-ext:step-form-condition)
      (let ((restart (step-restart-for condition)))
        (if restart
            (invoke-restart restart)
            (funcall enter-debugger condition))))))
