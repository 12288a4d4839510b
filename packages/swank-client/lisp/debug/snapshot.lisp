;;;; Describes a condition and the stack below it, as plain data for the wire.

(in-package #:swank-client/snapshots)

;;; The package from which a report prints symbols: the one in which the client works, or the one that most of the shown functions belong to.

(defconstant +many-frames+ 3 "A report is printed from another package if at least this many of its frames, and half of them, belong to that.")

(defconstant +counted-frames+ 20 "Frames that are counted: those that a report shows.")

(defun working-package ()
  "The package in which the client of this thread's code works; for code of no client, the current one."
  (let ((session (code-session)))
    (if (and session (not (and *evaluation* (not (evaluation-updates-package *evaluation*)))))
        (session-package-now session)
        *package*)))

(defun named-elsewhere (frame home)
  "The package of FRAME's function if code in HOME needs its name, else NIL."
  (let* ((symbol (name-symbol (called-name frame)))
         (package (and symbol (symbol-package symbol))))
    (and package
         (not (sb-ext:package-locked-p package))
         (not (eq symbol (accessible-symbol (symbol-name symbol) home)))
         package)))

(defun report-package (frames kinds)
  "The package from which to print a report of FRAMES, of KINDS, and true if it is another one than that in which the client works."
  (let* ((home (working-package))
         (shown (loop for frame in frames
                      for kind in kinds
                      when (eq kind :user) collect frame into users
                      until (= +counted-frames+ (length users))
                      finally (return users)))
         (packages (remove nil (mapcar (lambda (frame) (recording-faults (named-elsewhere frame home))) shown)))
         ;; the result of REMOVE-DUPLICATES may share conses with its argument
         (most (first (sort (copy-list (remove-duplicates packages)) #'> :key (lambda (package) (count package packages)))))
         (count (count most packages)))
    (if (and most (>= count +many-frames+) (>= (* 2 count) (length shown)))
        (values most t)
        (values home nil))))

(defmacro with-report-package ((name frames kinds) &body body)
  "Run BODY, which prints a report of FRAMES, of KINDS, from its package. NAME is that package's name if the report must say so, else NIL."
  (let ((package (gensym "PACKAGE")) (other (gensym "OTHER")))
    `(multiple-value-bind (,package ,other) (report-package ,frames ,kinds)
       (let ((*package* ,package)
             (,name (and ,other (package-name ,package))))
         ,@body))))

(defun stop-reason (condition)
  "The reason for a stop at CONDITION."
  (cond ((typep condition 'interrupted) :interrupt)
        ((typep condition 'breakpoint-reached) :breakpoint)
        ((typep condition 'sb-ext:step-condition) :step)
        ((eq (type-of condition) 'simple-condition) :break)
        (t :error)))

(defvar *open-step* nil "The mode, such as :OVER, of a step that has not led to its stop, because the code runs or has stopped for another reason; or NIL.")

(defun stop-detail (condition)
  "The call that a step is about to make, the breakpoint that was reached, or the step that was interrupted, as a plist."
  (typecase condition
    (interrupted (and *open-step* (list :step *open-step*)))
    (sb-ext:step-form-condition (list :form (sb-ext:step-condition-form condition)))
    (breakpoint-reached (list :breakpoint (reached-breakpoint condition) :hits (reached-hit condition)))))

(defun names-meant-at (condition)
  "Names that code may mean by the one that has no definition according to CONDITION, an error about a function or a variable."
  (let ((name (and (typep condition '(or undefined-function unbound-variable)) (cell-error-name condition))))
    (when (and name (symbolp name))
      (names-meant name (if (typep condition 'undefined-function) #'fboundp #'boundp)))))

(defun condition-plist (condition restart-texts &key (message (message-text condition)) frames (total 0) locals caller-locals waiting
                                                    printed-from)
  "A plist that describes CONDITION, with the other arguments."
  (list* :reason (stop-reason condition)
         :detail (append (stop-detail condition) waiting)
         :type (class-name-text (shown-class condition))
         :class (class-name-text (class-of condition))
         :supertypes (supertype-texts condition)
         :message message
         :slots (slot-texts condition)
         :restarts restart-texts
         :frames frames
         :total total
         :locals locals
         :caller-locals caller-locals
         :printed-from printed-from
         (let ((near (recording-faults (names-meant-at condition)))) (and near (list :near near)))))

(defun stack-plist (condition message frames kinds)
  "A plist of what a stop at CONDITION, with MESSAGE, shows of its FRAMES, all of them, of KINDS."
  (let ((*shown-objects* (make-hash-table :test 'eq)))
    (remember-message condition message)
    (destructuring-bind (&optional first-user caller) (first-users kinds)
      (list :frames (with-places (first-frames frames kinds condition) frames)
            :total (length frames)
            :locals (and first-user (local-texts first-user))
            :caller-locals (and caller (caller-texts caller))
            :waiting (waiting-plist condition frames first-user)))))

(defun snapshot-plist (condition restarts)
  "The complete description of a stop at CONDITION. Runs in the stopped thread, inside Swank's debugging environment."
  (reset-guard-pages)
  (let* ((frames (stack-frames))
         (kinds (frame-kinds (mapcar #'frame-name frames) condition)))
    (with-report-package (package-name frames kinds)
      (let ((restarts (restart-texts (offered-restarts restarts))))
        (with-printing-time
          ;; the message first, because the time limit should at least allow that
          (let ((message (message-text condition)))
            (apply #'condition-plist condition restarts :message message :printed-from package-name
                   (stack-plist condition message frames kinds))))))))

(defun capture (condition)
  "A snapshot for a condition whose thread will not stay stopped."
  (swank/backend:call-with-debugging-environment
   (lambda () (snapshot-plist condition (compute-restarts condition)))))

;;; Decides which calls of code compiled for stepping are stops.

(defvar *step-wanted* nil
  "Where to stop: a predicate on the calling frame, :ANYWHERE, :NOWHERE, or NIL if only the code itself started stepping.")

(defun expansion-form-p (form)
  "True if FORM, the text of a call, comes from the expansion of a macro of Lisp, and not from the source."
  (and (search "#:" form)
       (let ((operator (subseq form 1 (position-if (lambda (char) (find char " )")) form))))
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
        (cond (restart (invoke-restart restart))
              (t (setf *open-step* nil)
                 (funcall enter-debugger condition)))))))

(defun signal-step (signal &rest arguments)
  "Encapsulates the functions that signal the stepper's conditions: handlers of the user's code, as for CONDITION, do not see them."
  (if (or *evaluation* *in-user-code* (code-session))
      (with-initial-handlers (apply signal arguments))
      (apply signal arguments)))
