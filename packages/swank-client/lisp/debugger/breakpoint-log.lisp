;;;; Breakpoints that print instead of stopping, and those that have stopped nothing.

(in-package #:swank-client/debugger)

(defconstant +kept-lines+ 20 "Lines kept for one breakpoint of what it printed outside running evaluations.")

(defconstant +logged-value-limit+ 1000 "Characters shown of one value that a breakpoint prints.")

(defvar *in-condition* nil "True while code of a breakpoint is evaluated: its calls are no hits.")

;;; Running a breakpoint's code

(defun call-without-stepping (function)
  "Call FUNCTION without stepping into it."
  (if (stepping-enabled-p)
      (unwind-protect (progn (disable-stepping) (funcall function))
        (enable-stepping))
      (funcall function)))

(defun value-at-call (code breakpoint arguments)
  "The value of CODE, of BREAKPOINT, at a call with ARGUMENTS."
  (with-code-of ((breakpoint-session breakpoint))
    (let ((*in-condition* t)
          (*condition-log* nil))
      (call-without-stepping (lambda () (call-code code (parameters-of breakpoint) arguments))))))

(defun wrapper-frame ()
  "The frame that stands in for the call that is about to begin, shown as the top of the stack."
  (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
        while frame
        when (breakpoint-wrapper-p (frame-name frame)) return frame))

;;; Printing

(defun dispatch-name-p (name)
  "True if NAME is that of a frame between a method and the call of its generic function or of the next method. SBCL's names differ."
  (destructuring-bind (&optional kind local &rest more) (if (consp name) name '())
    (declare (ignore more))
    (or (and (symbolp kind) (string= kind "EMF"))
        (and (member kind '(flet labels)) (symbolp local) (eql 0 (search "CALL-NEXT-METHOD" (symbol-name local)))))))

(defun no-caller-p (name)
  "True if NAME is that of a frame between a call and the function of the program that made it."
  (or (between-calls-p name)
      (system-name-p name)
      (dispatch-name-p name)))

(defun caller-text ()
  "Text that says which call made the call that a breakpoint has reached."
  (loop for frame = (sb-di:frame-down (wrapper-frame)) then (sb-di:frame-down frame)
        for name = (and frame (frame-name frame))
        until (or (null frame) (member name '(eval call-user call-own (lambda ())) :test #'equal))
        unless (no-caller-p name) return (concatenate 'string "called by " (frame-text frame nil))
        finally (return "called at top level")))

(defun logged-text (breakpoint arguments)
  "The value of the expression that BREAKPOINT prints at a call with ARGUMENTS, as text; or the error of the expression."
  (handler-case (line-text (value-at-call (breakpoint-log breakpoint) breakpoint arguments) +logged-value-limit+)
    (error (condition)
      (format nil "#<~a: ~a>" (class-name-text (shown-class condition)) (on-one-line (report-text condition 300))))))

(defun watched-evaluation (session)
  "The running evaluation of SESSION that this thread runs, or whose code started this thread; or NIL."
  (let ((evaluation (or *evaluation* *starting-evaluation*)))
    (and evaluation
         (eq session (evaluation-session evaluation))
         (not (evaluation-over evaluation))
         evaluation)))

(defun keep-line (breakpoint line)
  "Keep LINE, which no running evaluation can print."
  (sb-ext:atomic-update (breakpoint-lines breakpoint)
                        (lambda (lines)
                          (cons line (subseq lines 0 (min (length lines) (1- +kept-lines+)))))))

(defun log-hit (breakpoint hit arguments)
  "Print the expression of BREAKPOINT at HIT, a call with ARGUMENTS."
  (let* ((*breakpoint-call* (cons (breakpoint-name breakpoint) arguments))
         (*in-condition* t)
         (evaluation (watched-evaluation (breakpoint-session breakpoint)))
         (line (format nil "; ~a, hit ~d: ~a, ~a"
                       (place-text breakpoint) hit (logged-text breakpoint arguments) (caller-text))))
    (if evaluation
        ;; not *STANDARD-OUTPUT*, which the program may read as data
        (format (evaluation-stdout evaluation) "~&~a~%" line)
        (keep-line breakpoint line))))

;;; Breakpoints that have stopped nothing

(defun own-breakpoints (session)
  "The breakpoints of SESSION, oldest first."
  (sort (loop for breakpoint being the hash-values of *breakpoints*
              when (eq (breakpoint-session breakpoint) session) collect breakpoint)
        #'< :key #'breakpoint-id))

(defun lost-p (breakpoint)
  "True if calls of the function of BREAKPOINT no longer reach it, or if its method is gone."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (if method
        (null (current-method name method))
        (not (sb-int:encapsulated-p name (breakpoint-tag breakpoint))))))

(defun idle-p (breakpoint evaluation)
  "True if BREAKPOINT has done nothing, and EVALUATION should have reached it. Threads that it started may still do so."
  (and (< (car (breakpoint-hits breakpoint)) (breakpoint-from breakpoint))
       (null (breakpoint-failure breakpoint))
       (member (breakpoint-thread breakpoint) (list nil (not (evaluation-threaded evaluation)) (current-thread-id)))))

(defun idle-plist (breakpoint)
  "A plist that says why BREAKPOINT has done nothing."
  (list :id (breakpoint-id breakpoint)
        :function (place-text breakpoint)
        :calls (car (breakpoint-calls breakpoint))
        :calls-elsewhere (car (breakpoint-calls-elsewhere breakpoint))
        :hits (car (breakpoint-hits breakpoint))
        :hit-count (breakpoint-from breakpoint)
        :lost (lost-p breakpoint)
        :missed (and (null (breakpoint-method breakpoint)) (missed-calls-text (breakpoint-name breakpoint) "do not reach the breakpoint"))))

(defun idle-facts (evaluation)
  "(:idle (PLIST ...)) for the breakpoints that have done nothing when EVALUATION returns, or NIL."
  (let ((idle (remove-if-not (lambda (breakpoint) (idle-p breakpoint evaluation))
                             (own-breakpoints (evaluation-session evaluation)))))
    (and idle (list :idle (with-printing-time (mapcar #'idle-plist idle))))))

(pushnew 'idle-facts *return-hooks*)
