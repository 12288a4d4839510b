;;;; Breakpoints on functions, by encapsulation: exact with any number of threads, and gone without a trace when removed.

(in-package #:@module@)

(defstruct breakpoint
  id
  session
  connection
  ;; what is encapsulated, and the method that counts if it is a generic function's
  name
  method
  ;; source and function of the condition
  condition
  test
  ;; the first hit that stops
  (from 1)
  ;; NIL: the session's own evaluations; T: every thread; or a thread's id
  thread
  (hits (list 0))
  ;; what went wrong in the condition; nothing fires then any more
  (failure nil)
  (tag (gensym "BREAKPOINT")))

(defvar *breakpoints* (make-hash-table :synchronized t) "By id.")
(defvar *last-breakpoint* (list 0))

(defun place-text (breakpoint)
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (function-text (if method (method-name name method) name))))

(defun reached-text (breakpoint connection)
  (format nil "Breakpoint ~d on ~a~:[, set by another client of this image~;~].~@[~%Its condition signalled an error, and it does not fire any more: ~a~]"
          (breakpoint-id breakpoint) (place-text breakpoint) (eq connection (breakpoint-connection breakpoint))
          (breakpoint-failure breakpoint)))

;;; When it is reached

(defun watched-thread-p (breakpoint)
  "True if this thread runs code that the breakpoint is for, and not the debugger's own."
  (let ((thread (breakpoint-thread breakpoint)))
    (and (zerop swank::*sldb-level*)
         (cond ((null thread)
                (and *evaluation* *in-user-code* (eq (evaluation-session *evaluation*) (breakpoint-session breakpoint))))
               ((eq thread t) (or (null *evaluation*) *in-user-code*))
               (t (eql thread (swank::current-thread-id)))))))

(defun method-applies-p (breakpoint arguments)
  "A method that is defined again is another object."
  (let ((method (breakpoint-method breakpoint)))
    (or (null method)
        (member method (ignore-errors (compute-applicable-methods (fdefinition (breakpoint-name breakpoint)) arguments))
                :test #'same-place-p))))

(defvar *in-condition* nil "True while a breakpoint's condition is evaluated: what that calls is no hit.")

(defun call-without-stepping (function)
  (if (sb-impl::stepping-enabled-p)
      (unwind-protect (progn (sb-impl::disable-stepping) (funcall function))
        (sb-impl::enable-stepping))
      (funcall function)))

(defun condition-holds-p (breakpoint arguments)
  "A condition that fails is reported once and then no more, or every call would be a stop."
  (let ((test (breakpoint-test breakpoint)))
    (or (null test)
        (handler-case (with-code-of ((breakpoint-session breakpoint))
                        (let ((*in-condition* t))
                          (call-without-stepping (lambda () (funcall test (copy-list arguments))))))
          (error (condition)
            (setf (breakpoint-failure breakpoint) (report-text condition 500))
            t)))))

(defun count-hit (breakpoint)
  (1+ (sb-ext:atomic-incf (car (breakpoint-hits breakpoint)))))

(defun fires-p (breakpoint arguments)
  (and (null (breakpoint-failure breakpoint))
       (not *in-condition*)
       (not (session-departed (breakpoint-session breakpoint)))
       (watched-thread-p breakpoint)
       (method-applies-p breakpoint arguments)
       (condition-holds-p breakpoint arguments)
       (>= (count-hit breakpoint) (breakpoint-from breakpoint))))

(defun wrapper-frame ()
  "Where the call will be that is about to begin: the top of the stack, as far as anybody is concerned."
  (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
        while frame
        when (breakpoint-wrapper-p (frame-name frame)) return frame))

(defun enter-breakpoint (breakpoint arguments connection)
  "Stop in the debugger of CONNECTION."
  (let* ((*breakpoint-call* (cons (breakpoint-name breakpoint) arguments))
         (*breakpoint-variables* (argument-bindings (breakpoint-name breakpoint) arguments))
         (sb-debug:*stack-top-hint* (wrapper-frame))
         (condition (make-condition 'breakpoint-reached :id (breakpoint-id breakpoint)
                                                        :text (reached-text breakpoint connection))))
    (with-simple-restart (continue "Continue with the call")
      (swank::with-connection (connection)
        (let ((swank::*buffer-package* *package*))
          (swank::invoke-slime-debugger condition))))))

(defun enter-breakpoint-elsewhere (breakpoint arguments connection)
  "Stop in the debugger of CONNECTION, another client that this thread works for: its user must be able to free it."
  (ignore-errors (tell-of-hit breakpoint connection))
  (restart-case (enter-breakpoint breakpoint arguments connection)
    (remove-breakpoint ()
      :report "Remove the breakpoint, and continue with the call"
      (disarm breakpoint))))

(defun tell-of-hit (breakpoint connection)
  "Tell the client that set BREAKPOINT that a thread of CONNECTION's client stopped at it, in that client's debugger."
  (let ((swank::*emacs-connection* (breakpoint-connection breakpoint)))
    (number-connections))
  (swank::send (swank::mconn.control-thread (breakpoint-connection breakpoint))
               (list :write-string ""
                     (list :hit (list :breakpoint (breakpoint-id breakpoint)
                                      :function (place-text breakpoint)
                                      :thread (swank::current-thread-id)
                                      :name (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*))
                                      :owner (owner-plist connection))))))

(defun enter-step (connection condition)
  (unless (connection-open-p connection)
    (invoke-restart 'sb-ext:step-continue))
  (let ((sb-debug:*stack-top-hint* (sb-di::find-stepped-frame)))
    (swank::with-connection (connection)
      (let ((swank::*buffer-package* *package*))
        (swank::invoke-slime-debugger condition)))))

(defmacro with-stepper ((connection) &body body)
  "Make stepping possible in a thread that is no evaluation, as long as BODY runs."
  `(let ((*in-user-code* t)
         (*step-wanted* nil)
         (sb-ext:*stepper-hook* (make-stepper (lambda (condition) (enter-step ,connection condition)))))
     (handler-bind ((sb-ext:step-condition #'sb-impl::invoke-stepper))
       ,@body)))

(defun served-connection ()
  "The connection of the client that this thread works for, or NIL: its user must be able to see and free what is stopped."
  (or (and (connection-open-p swank::*emacs-connection*) swank::*emacs-connection*)
      (let ((session (code-session))) (and session (session-connection session)))))

(defun make-wrapper (breakpoint)
  (lambda (function &rest arguments)
    (if (fires-p breakpoint arguments)
        (let ((own (breakpoint-connection breakpoint))
              (served (served-connection)))
          (cond ((and served (not (eq served own)))
                 (enter-breakpoint-elsewhere breakpoint arguments served)
                 (apply function arguments))
                (*evaluation*
                 (enter-breakpoint breakpoint arguments own)
                 (apply function arguments))
                (t
                 (with-stepper (own)
                   (enter-breakpoint breakpoint arguments own)
                   (apply function arguments)))))
        (apply function arguments))))

;;; Setting

(defconstant +setting-seconds+ 5)

(defun named-package (name)
  (or (find-package name) (error "There is no package ~a any more." name)))

(defun set-breakpoint (source &key condition (from 1) thread package)
  "PACKAGE is where SOURCE and CONDITION are read, the session's if there is none. => (:set PLIST WARNING) | (:refused REASON)"
  (handler-case
      (sb-ext:with-timeout +setting-seconds+
        (let* ((*package* (if package (named-package package) (session-package-now (current-session))))
               (name (read-name source))
               (method (and (method-name-p name) (named-method name)))
               (target (if (method-name-p name) (second name) name))
               (reason (if (and (method-name-p name) (null method)) "There is no such method." (unfit target))))
          (if reason
              (list :refused reason)
              (arm (make-breakpoint :id (1+ (sb-ext:atomic-incf (car *last-breakpoint*)))
                                    :session (current-session) :connection swank::*emacs-connection*
                                    :name target :method method :condition condition
                                    :test (and condition (compile-condition condition))
                                    :from from :thread thread)))))
    (sb-ext:timeout () (list :refused "Compiling its condition takes too long."))
    (error (problem) (list :refused (message-text problem)))))

(defun arm (breakpoint)
  (sb-int:encapsulate (breakpoint-name breakpoint) (breakpoint-tag breakpoint) (make-wrapper breakpoint))
  (setf (gethash (breakpoint-id breakpoint) *breakpoints*) breakpoint)
  (list :set (breakpoint-plist breakpoint) (misses (breakpoint-name breakpoint))))

(defun breakpoint-plist (breakpoint)
  (list :id (breakpoint-id breakpoint)
        :function (place-text breakpoint)
        :condition (breakpoint-condition breakpoint)
        :hit-count (and (> (breakpoint-from breakpoint) 1) (breakpoint-from breakpoint))
        :thread (let ((thread (breakpoint-thread breakpoint))) (if (eq thread t) :any thread))
        :hits (car (breakpoint-hits breakpoint))
        :lost (not (sb-int:encapsulated-p (breakpoint-name breakpoint) (breakpoint-tag breakpoint)))
        :failure (breakpoint-failure breakpoint)))

;;; Listing and removing

(defun own-breakpoints (session)
  (sort (loop for breakpoint being the hash-values of *breakpoints*
              when (eq (breakpoint-session breakpoint) session) collect breakpoint)
        #'< :key #'breakpoint-id))

(defun list-breakpoints ()
  (with-printing-time (mapcar #'breakpoint-plist (own-breakpoints (current-session)))))

(defun disarm (breakpoint)
  (remhash (breakpoint-id breakpoint) *breakpoints*)
  (when (fboundp (breakpoint-name breakpoint))
    (sb-int:unencapsulate (breakpoint-name breakpoint) (breakpoint-tag breakpoint))))

(defun remove-breakpoint (id)
  "False if this session has no such breakpoint."
  (let ((breakpoint (gethash id *breakpoints*)))
    (when (and breakpoint (eq (breakpoint-session breakpoint) (current-session)))
      (disarm breakpoint)
      t)))

(defun remove-breakpoints (session)
  (mapc #'disarm (own-breakpoints session))
  nil)

(pushnew 'remove-breakpoints *departure-hooks*)
