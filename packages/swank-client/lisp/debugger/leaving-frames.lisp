;;;; Leaves a stop through a frame: to call its function again, or to return from it. All functions here run in the stopped thread.

(in-package #:swank-client/debugger)

(defun toplevel-frame-p (index)
  "True if frame INDEX is of kind :TOPLEVEL: one below the user's code."
  (eq :toplevel (nth index (stack-kinds))))

;;; Calling a frame's function again

(defun outer-frame (index usablep)
  "(INDEX CALL) of the innermost frame of the user outside frame INDEX of which USABLEP, a function of a frame and its index, is true, or NIL."
  (loop for frame in (nthcdr (1+ index) (stack-frames))
        for kind in (nthcdr (1+ index) (stack-kinds))
        for outer from (1+ index)
        when (and (eq kind :user) (funcall usablep frame outer))
          return (list outer (frame-text frame *swank-debugger-condition*))))

(defun restart-frame (level index)
  "Call the function of frame INDEX again.
=> (:stale) | (:no-frame TOTAL) | (:not-restartable REASON NAME [OUTER-INDEX OUTER-CALL]), or does not return"
  (with-frame (level index)
    (let ((frame (nth-frame index)))
      (multiple-value-bind (function result)
          (if (toplevel-frame-p index) (values nil :toplevel) (restarted-function frame))
        (if function
            (sb-debug:unwind-to-frame-and-call frame (lambda () (apply function result)))
            (list* :not-restartable result (called-function-text frame) (outer-frame index #'restartable-frame-p)))))))

;;; Returning from a frame

(defun return-refusal (frame index)
  "The reason for which FRAME, with INDEX, cannot be returned from, or NIL.
SBCL's UNWIND-TO-FRAME-AND-CALL runs a local function again, on a frame that it has destroyed, or crashes."
  (let ((name (frame-name frame)))
    (cond ((toplevel-frame-p index) :toplevel)
          ((not (sb-debug:frame-has-debug-tag-p frame)) :no-tag)
          ((not (or (breakpoint-wrapper-p name) (sb-int:legal-fun-name-p name) (method-name-p name) (macro-function-name-p name)))
           :local))))

(defun returnable-frame-p (frame index)
  "True if FRAME, with INDEX, can be returned from."
  (null (return-refusal frame index)))

(defun return-from-frame (level index attempt source)
  "Return the values of SOURCE, evaluated in frame INDEX, from it.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE PACKAGE-NAME) | (:interrupted)
| (:not-returnable REASON NAME [OUTER-INDEX OUTER-CALL]), or does not return"
  (with-frame (level index)
    (let* ((frame (nth-frame index))
           (package (frame-home index))
           (reason (return-refusal frame index)))
      (if reason
          (list* :not-returnable reason (called-function-text frame) (outer-frame index #'returnable-frame-p))
          (destructuring-bind (status . values)
              (call-reading attempt package (lambda () (cons :values (values-in-frame source index package))))
            (if (eq status :values)
                (sb-debug:unwind-to-frame-and-call frame (lambda () (values-list values)))
                (cons status values)))))))
