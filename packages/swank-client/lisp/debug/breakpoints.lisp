;;;; Breakpoints. Those on functions encapsulate the function, which works with any number of threads and leaves nothing behind.

(in-package #:swank-client/debug)

(defun breakpoint-report (breakpoint hit connection)
  "The report of a stop at HIT of BREAKPOINT in the debugger of CONNECTION's client."
  (format nil "Breakpoint ~d on ~a, hit ~d~:[, set by another client of this image~;~].~@[~%It is disabled, because its condition signalled an error: ~a~]"
          (breakpoint-id breakpoint) (place-text breakpoint) hit (eq connection (breakpoint-connection breakpoint))
          (breakpoint-failure breakpoint)))

;;; Reaching a breakpoint

(defun watched-thread-p (breakpoint)
  "True if BREAKPOINT applies to the code that this thread runs. Code of the debugger and of breakpoints never counts."
  (let ((thread (breakpoint-thread breakpoint)))
    (and (zerop *sldb-level*)
         (not *in-condition*)
         (cond ((null thread)
                (and *evaluation* *in-user-code* (eq (evaluation-session *evaluation*) (breakpoint-session breakpoint))))
               ((eq thread t) (or (null *evaluation*) *in-user-code*))
               (t (eql thread (current-thread-id)))))))

(defun condition-holds-p (breakpoint arguments)
  "True if the condition of BREAKPOINT holds for ARGUMENTS, or fails. A failure stops once and disables the breakpoint."
  (let ((test (breakpoint-condition breakpoint)))
    (or (null test)
        (handler-case (value-at-call test breakpoint arguments)
          (error (condition)
            (setf (breakpoint-failure breakpoint) (report-text condition 500))
            t)))))

(defun count-in (cell)
  "Add 1 to the number in CELL. => the new number"
  (1+ (sb-ext:atomic-incf (car cell))))

(defun counted-if-watched (breakpoint)
  "Count a call of the function of BREAKPOINT. => true if BREAKPOINT applies to this thread"
  (let ((watched (watched-thread-p breakpoint)))
    (count-in (if watched (breakpoint-calls breakpoint) (breakpoint-calls-elsewhere breakpoint)))
    watched))

(defun hit-of (breakpoint arguments)
  "The number of the hit if BREAKPOINT fires at this call of its function with ARGUMENTS, else NIL."
  (and (null (breakpoint-failure breakpoint))
       (not (breakpoint-removed breakpoint))
       (not (session-departed (breakpoint-session breakpoint)))
       (counted-if-watched breakpoint)
       (condition-holds-p breakpoint arguments)
       (let ((hit (count-in (breakpoint-hits breakpoint))))
         (and (or (breakpoint-failure breakpoint) (>= hit (breakpoint-from breakpoint)))
              hit))))

(defun reached-name (breakpoint)
  "The name of the function or method of BREAKPOINT, as in a backtrace."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (if method (cons :method (rest (method-form name method))) name)))

(defun stopped-call (breakpoint arguments)
  "The value of *BREAKPOINT-CALL* for a stop at BREAKPOINT before a call with ARGUMENTS. Code in the stop can change its arguments."
  (cons (reached-name breakpoint) (copy-list arguments)))

(defun note-stop-before-others (breakpoint)
  "Note that a call stops at BREAKPOINT in the other breakpoints on its function: a call that is left in the stop does not reach them."
  (loop for other being the hash-values of *breakpoints*
        when (and (not (eq other breakpoint)) (same-target-p breakpoint other))
          do (setf (breakpoint-stopped-before other) t)))

(defun enter-breakpoint (breakpoint hit call connection)
  "Stop at HIT of BREAKPOINT, before CALL, in the debugger of CONNECTION. => the arguments with which the call continues"
  (note-stop-before-others breakpoint)
  (let* ((*breakpoint-call* call)
         (*breakpoint-lambda-list* (parameters-of breakpoint))
         (*breakpoint-variables* (argument-bindings *breakpoint-lambda-list* (rest call)))
         (*stack-top-hint* (wrapper-frame))
         (condition (make-condition 'breakpoint-reached :id (breakpoint-id breakpoint) :hit hit
                                                        :text (breakpoint-report breakpoint hit connection))))
    (with-simple-restart (continue "Continue with the call")
      (with-connection (connection)
        (let ((*buffer-package* *package*))
          (invoke-slime-debugger condition))))
    (rest call)))

(defun enter-breakpoint-elsewhere (breakpoint hit call connection)
  "Do what ENTER-BREAKPOINT does in the debugger of CONNECTION, another client, whose code this thread runs: its user must be able to resume it."
  (recording-faults (notify-of-hit breakpoint connection))
  (restart-case (enter-breakpoint breakpoint hit call connection)
    (remove-breakpoint ()
      :report "Remove the breakpoint, and continue with the call"
      (disarm breakpoint)
      (rest call))))

(defun notify-of-hit (breakpoint connection)
  "Notify the client that set BREAKPOINT that a thread stopped at it in the debugger of CONNECTION's client."
  (let ((*emacs-connection* (breakpoint-connection breakpoint)))
    (number-connections))
  (send (mconn.control-thread (breakpoint-connection breakpoint))
               (list :write-string ""
                     (list :hit (list :breakpoint (breakpoint-id breakpoint)
                                      :function (place-text breakpoint)
                                      :thread (current-thread-id)
                                      :name (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*))
                                      :owner (owner-plist connection))))))

(defun enter-step (connection condition)
  "Stop at CONDITION, a step, in the debugger of CONNECTION."
  (unless (connection-open-p connection)
    (invoke-restart 'sb-ext:step-continue))
  (let ((*stack-top-hint* (find-stepped-frame)))
    (with-connection (connection)
      (let ((*buffer-package* *package*))
        (invoke-slime-debugger condition)))))

(defmacro with-stepper ((connection) &body body)
  "Run BODY with stepping enabled in a thread that runs no evaluation."
  `(let ((*in-user-code* t)
         (*step-wanted* nil)
         (*open-step* nil)
         (sb-ext:*stepper-hook* (make-stepper (lambda (condition) (enter-step ,connection condition)))))
     (handler-bind ((sb-ext:step-condition #'invoke-stepper))
       ,@body)))

(defun served-connection ()
  "The connection of the client whose code this thread runs, or NIL. Its user must be able to see and resume a stop of the thread."
  (or (and (connection-open-p *emacs-connection*) *emacs-connection*)
      (let ((session (code-session))) (and session (session-connection session)))))

(defun enter-if-reached (breakpoint arguments)
  "Stop or print at BREAKPOINT if this call with ARGUMENTS reaches it.
=> the number of the hit if the call must stop and run with stepping enabled by WITH-STEPPER, or NIL; and the arguments of the call"
  (let ((hit (hit-of breakpoint arguments)))
    (if hit
        (let ((own (breakpoint-connection breakpoint))
              (served (served-connection)))
          (cond ((and (breakpoint-log breakpoint) (null (breakpoint-failure breakpoint)))
                 (log-hit breakpoint hit arguments)
                 (values nil arguments))
                ((and served (not (eq served own)))
                 (values nil (enter-breakpoint-elsewhere breakpoint hit (stopped-call breakpoint arguments) served)))
                (*evaluation*
                 (values nil (enter-breakpoint breakpoint hit (stopped-call breakpoint arguments) own)))
                (t (values hit arguments))))
        (values nil arguments))))

(defmacro with-breakpoint ((breakpoint arguments) call)
  "Evaluate CALL, which BREAKPOINT stops if the value of the variable ARGUMENTS makes it fire. In CALL, ARGUMENTS are those of the call, which
may have been changed in the stop. The frame of the function around this form stands in for the call."
  (let ((hit (gensym "HIT")))
    `(multiple-value-bind (,hit ,arguments) (enter-if-reached ,breakpoint ,arguments)
       (if ,hit
           (with-stepper ((breakpoint-connection ,breakpoint))
             (let ((,arguments (enter-breakpoint ,breakpoint ,hit (stopped-call ,breakpoint ,arguments)
                                                 (breakpoint-connection ,breakpoint))))
               ,call))
           ,call))))

(defun make-wrapper (breakpoint kind &optional inner)
  "The function that runs BREAKPOINT before a call. WRAPPER-OF-KIND explains KIND and INNER."
  (wrapper-of-kind (kind inner arguments call)
    (with-breakpoint (breakpoint arguments) call)))

(note-frame-role 'make-wrapper :breakpoint)

;;; Setting

(defconstant +setting-seconds+ 5 "Seconds that reading and compiling a breakpoint's condition may take.")

(defun named-package (name)
  "The package NAME. Signals an error if there is none."
  (or (find-designated-package name) (error "There is no package ~a." name)))

(defun new-breakpoint (name condition log from thread)
  "=> a breakpoint on the function or method NAME, and the compiler's warnings about the sources CONDITION and LOG"
  (let* ((method (and (method-name-p name) (named-method name)))
         (breakpoint (make-breakpoint :session (current-session) :connection *emacs-connection*
                                      :name (if method (second name) name) :method method
                                      :from from :thread thread))
         (parameters (parameters-of breakpoint)))
    (multiple-value-bind (test test-warnings) (read-code condition parameters "condition")
      (multiple-value-bind (log log-warnings) (read-code log parameters "log" :single t)
        (setf (breakpoint-condition breakpoint) test
              (breakpoint-log breakpoint) log)
        (values breakpoint (append test-warnings log-warnings))))))

(defun call-with-breakable (function source package)
  "Call FUNCTION with the name that SOURCE, read in PACKAGE, has of a function or method, if a breakpoint can be set on that.
=> what FUNCTION returns | (:refused REASON KIND)"
  (handler-case
      (sb-ext:with-timeout +setting-seconds+
        (with-code-syntax ((current-session) (if package (named-package package) (session-package-now (current-session))))
          (let ((name (read-name source)))
            (multiple-value-bind (reason kind)
                (if (method-name-p name)
                    (unbreakable-method-reason (second name) (named-method name))
                    (unbreakable-reason name))
              (if reason
                  (list :refused reason kind)
                  (funcall function name))))))
    (sb-ext:timeout () (list :refused "Compiling its code takes too long." :code))
    (refused-code (problem) (list :refused (message-text problem) :code))
    (error (problem) (list :refused (message-text problem) :name))))

(defun check-breakpoint (source package)
  "Whether SET-BREAKPOINT accepts the name SOURCE, so that nobody is asked in vain. => (:breakable) | (:refused REASON KIND)"
  (call-with-breakable (constantly '(:breakable)) source package))

(defun set-breakpoint (source &key condition log (from 1) thread package)
  "Set a breakpoint on the function that SOURCE names. It stops if CONDITION is true, or prints the value of LOG instead.
SOURCE, CONDITION and LOG are read in PACKAGE, by default the session's.
=> (:set PLIST WARNING) | (:refused REASON KIND), where KIND is :name, :undefined, :macro, :used-by-lisp or :code"
  (call-with-breakable (lambda (name) (multiple-value-call #'arm (new-breakpoint name condition log from thread)))
                       source package))

(defun setting-warning (function warnings)
  "A warning for a breakpoint, or NIL. FUNCTION is its name unless it is on a method. WARNINGS are the compiler's about its code."
  (let ((sentences (append (remove nil (list (and function (missed-calls-text function "do not stop"))))
                           (and warnings (list (format nil "The compiler warns about its code: ~{~a~^; ~}." warnings))))))
    (and sentences (format nil "~{~a~^ ~}" sentences))))

(defun arm (breakpoint warnings)
  "Number BREAKPOINT, and make calls of its function or method reach it. => (:set PLIST WARNING)"
  (setf (breakpoint-id breakpoint) (1+ (sb-ext:atomic-incf (car *last-breakpoint*))))
  (connect breakpoint)
  (setf (gethash (breakpoint-id breakpoint) *breakpoints*) breakpoint)
  (list :set (breakpoint-plist breakpoint)
        (setting-warning (and (null (breakpoint-method breakpoint)) (breakpoint-name breakpoint)) warnings)))

(defun source-of (code)
  "The source of CODE, or NIL if that is NIL."
  (and code (code-source code)))

(defun breakpoint-plist (breakpoint)
  "A plist that describes BREAKPOINT to a client."
  (list :id (breakpoint-id breakpoint)
        :function (place-text breakpoint)
        :condition (source-of (breakpoint-condition breakpoint))
        :log (source-of (breakpoint-log breakpoint))
        :hit-count (and (> (breakpoint-from breakpoint) 1) (breakpoint-from breakpoint))
        :thread (let ((thread (breakpoint-thread breakpoint))) (if (eq thread t) :any thread))
        :hits (car (breakpoint-hits breakpoint))
        :lost (lost-p breakpoint)
        :failure (breakpoint-failure breakpoint)
        :lines (reverse (breakpoint-lines breakpoint))))

;;; Listing and removing

(defun list-breakpoints ()
  "=> (PLIST ...) for the breakpoints of this session"
  (let ((session (current-session)))
    (with-code-syntax (session (session-package-now session))
      (with-printing-time (mapcar #'breakpoint-plist (own-breakpoints session))))))

(defun disarm (breakpoint)
  "Remove BREAKPOINT."
  (setf (breakpoint-removed breakpoint) t)
  (remhash (breakpoint-id breakpoint) *breakpoints*)
  (disconnect breakpoint))

(defun remove-breakpoint (id)
  "Remove breakpoint ID. False if this session has no such breakpoint."
  (let ((breakpoint (gethash id *breakpoints*)))
    (when (and breakpoint (eq (breakpoint-session breakpoint) (current-session)))
      (disarm breakpoint)
      t)))

(defun remove-breakpoints (session)
  "Remove all breakpoints of SESSION."
  (mapc #'disarm (own-breakpoints session))
  nil)

(pushnew 'remove-breakpoints *departure-hooks*)
