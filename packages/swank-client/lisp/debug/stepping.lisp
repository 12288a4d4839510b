;;;; Resumes from a stop: to continue, or to step to the next call. All functions here run in the stopped thread.

(in-package #:swank-client/debug)

(defun offered (name)
  "The innermost restart NAME of this stop. Packages are ignored, because clients see names without packages."
  (find name *sldb-restarts* :key #'restart-name :test #'string=))

(defun stepping-p ()
  "True if this thread is stopped at a step."
  (typep *swank-debugger-condition* 'sb-ext:step-condition))

(defun end-step ()
  "End the step that this thread's code is in, unless this stop only interrupts it: a step that took too long goes on to its stop."
  (unless (and *open-step* (typep *swank-debugger-condition* 'interrupted))
    (setf *open-step* nil)
    (when *step-wanted* (setf *step-wanted* :nowhere))))

(defun continue-stop (level &optional stdin)
  "Continue from this stop; the code then reads the text STDIN. An interrupted step goes on.
=> (:stale) | (:no-restart) | (:wrong-count FEWEST MOST ASKS-P) | a refusal of GIVE-CODE, or does not return"
  (let ((restart (offered (if (stepping-p) 'sb-ext:step-continue 'continue))))
    (cond ((/= level *sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          ((wrong-count restart 0))
          ((give-code restart stdin))
          (t (end-step)
             (invoke-restart restart)))))

;;; The thread's position

(defun frame-address (frame)
  "The address of FRAME. Callers have higher addresses than the functions that they call."
  (sb-sys:sap-int (frame-pointer frame)))

(defun current-frame ()
  "The innermost frame of the user, or NIL."
  (let ((position (position :user (stack-kinds))))
    (and position (nth position (stack-frames)))))

(defun at-breakpoint-p (frame)
  "True if FRAME stands in for a call that a breakpoint stopped."
  (and frame (breakpoint-wrapper-p (frame-name frame))))

(defun stepped-into-p (frame)
  "True if the stepper called FRAME's function to step into it. The stepper then notices when the function returns."
  (let ((caller (frame-down frame)))
    (and *step-out* caller (between-calls-p (frame-name caller)))))

;;; Whether code can be stepped

(defun disassembly (code)
  "The disassembly of CODE, or the empty string if that fails."
  (handler-case (with-output-to-string (out) (disassemble-code-component code :stream out))
    (error () "")))

(defun steppable-code-p (code)
  "True if CODE can be stepped: it has single-step traps, or calls no functions by name."
  (or (compiled-for-stepping-p code)
      (let ((text (disassembly code)))
        (or (search "single-step" text)
            (not (or (search "CALL" text) (search "FDEFN" text)))))))

(defun own-definition (name)
  "The function NAME without its encapsulations, which FDEFINITION does not remove in newer SBCLs."
  (loop with function = (fdefinition name)
        for encapsulation = (or-nil (encapsulation-info function))
        while encapsulation do (setf function (encapsulation-info-definition encapsulation))
        finally (return function)))

(defun method-code-function (method)
  "The function that runs the body of METHOD."
  (let ((function (sb-mop:method-function method)))
    (or (or-nil (%method-function-fast-function function)) function)))

(defun called-functions (name arguments)
  "The functions that a call of NAME with ARGUMENTS runs: the methods that apply, or the function or method."
  (if (method-name-p name)
      (list (method-code-function (named-method name)))
      (let ((function (own-definition name)))
        (if (typep function 'generic-function)
            (mapcar #'method-code-function (or-nil (compute-applicable-methods function arguments)))
            (list function)))))

(defun frame-code (frame)
  "The code component that FRAME runs."
  (compiled-debug-fun-component (frame-debug-fun frame)))

(defun codes-at (frame)
  "The code components that a step from FRAME may run."
  (if (at-breakpoint-p frame)
      (destructuring-bind (name . arguments) *breakpoint-call*
        (loop for function in (called-functions name arguments) collect (fun-code-header (%fun-fun function))))
      (list (frame-code frame))))

(defun steppable-p (frame)
  "True if a step from FRAME can stop, or if that is unknown. One steppable method of several is enough."
  (handler-case (some #'steppable-code-p (codes-at frame))
    (error () t)))

;;; Stepping

(defun step-from-step (mode)
  "Continue from a step to the next one for MODE."
  (ecase mode
    (:into (resume-with 'sb-ext:step-into :anywhere))
    (:over (resume-with 'sb-ext:step-next :anywhere))
    (:out (if (stepped-into-p *sldb-stack-top*)
              (resume-with 'sb-ext:step-out :anywhere)
              (resume-with 'sb-ext:step-next (outside *sldb-stack-top*))))))

(defun resume-with (restart-name wanted)
  "Invoke the restart RESTART-NAME, and stop at the next step that is WANTED (see *STEP-WANTED*)."
  (setf *step-wanted* wanted
        *sldb-stepping-p* t)
  (invoke-restart (offered restart-name)))

(defun outside (frame)
  "A predicate on frames, true for the callers of FRAME."
  (let ((here (frame-address frame)))
    (lambda (stepped) (> (frame-address stepped) here))))

(defun not-inside (frame)
  "A predicate on frames, true for FRAME and its callers."
  (let ((here (frame-address frame)))
    (lambda (stepped) (>= (frame-address stepped) here))))

(defun in-breakpoint-call (frame)
  "A predicate on frames, true for the call that a breakpoint stopped at FRAME and for its callers, but not for functions that it calls.
The call has no frame yet, so it is recognized by its code."
  (let ((codes (codes-at frame)) (outside-p (outside frame)))
    (lambda (stepped) (or (funcall outside-p stepped) (member (frame-code stepped) codes)))))

(defun wanted-from (frame mode)
  "The value of *STEP-WANTED* for a step from FRAME in MODE."
  (cond ((or (null frame) (eq mode :into)) :anywhere)
        ((eq mode :out) (outside frame))
        ((at-breakpoint-p frame) (in-breakpoint-call frame))
        (t (not-inside frame))))

(defun not-steppable (mode)
  "(REASON [FUNCTION]) if a stop that is not a step, such as a breakpoint, cannot be stepped from in MODE, or NIL."
  (let ((frame (current-frame)))
    (cond ((null (offered 'continue)) '(:no-way-on))
          ((not (or *evaluation* (at-breakpoint-p frame))) '(:foreign-thread))
          ((and frame (not (eq mode :out)) (not (steppable-p frame)))
           (list :code (called-function-text frame))))))

(defun begin-stepping (mode)
  "Begin to step from a stop that is not a step."
  (enable-stepping)
  ;; otherwise STEP-OUT would return from a function stepped into further out
  (setf *step-out* nil)
  (resume-with 'continue (wanted-from (current-frame) mode)))

(defun step-on (level mode &optional stdin)
  "Step from this stop in MODE; the code then reads the text STDIN.
=> (:stale) | (:not-steppable REASON [FUNCTION]) | a refusal of GIVE-CODE, or does not return"
  (let ((refusal (and (not (stepping-p)) (not-steppable mode))))
    (cond ((/= level *sldb-level*) '(:stale))
          (refusal (cons :not-steppable refusal))
          ((give-code (and (not (stepping-p)) (offered 'continue)) stdin))
          (t (setf *open-step* mode)
             (if (stepping-p) (step-from-step mode) (begin-stepping mode))))))
