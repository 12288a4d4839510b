;;;; Runs: code, or seconds, during which something is switched on in the image. Whatever ends a run switches it off: the end of the code,
;;;; a stop in the debugger, the end of the request, or that of the client.

(in-package #:swank-client/observe)

(defstruct run
  "Something that is switched on while code runs or some seconds pass."
  (session (current-session))
  ;; :OPEN, then why it has ended: :RETURNED, :UNWOUND, :STOPPED in the debugger, :DEPARTED with its client, or another keyword
  (end :open)
  ;; a function of the run that switches off what is on; it may be called more than once
  (switch-off #'identity :type function))

(defun end-run (run reason)
  "End RUN for REASON, unless it has ended. Any thread may call this."
  (when (eq :open (sb-ext:compare-and-swap (run-end run) :open reason))
    (funcall (run-switch-off run) run)))

(defvar *open-runs* (list '()) "A cell with the list of runs that have not ended.")

(defun end-runs (session)
  "End all runs of SESSION, whose client has disconnected or resets it."
  (dolist (run (car *open-runs*))
    (when (eq session (run-session run))
      (recording-faults (end-run run :departed))
      (recording-faults (funcall (run-switch-off run) run)))))

(pushnew 'end-runs *departure-hooks*)

(defun call-as-run (run switch-on function)
  "Call SWITCH-ON with RUN, and then FUNCTION. => the values of FUNCTION
When FUNCTION has ended in any way, or this thread stops in the debugger, or the client is gone, RUN has ended."
  (let ((*stop-hook* (lambda () (end-run run :stopped)))
        (returned nil))
    (unwind-protect
         (progn
           (sb-ext:atomic-push run (car *open-runs*))
           (funcall switch-on run)
           (when (session-departed (run-session run)) (end-run run :departed))
           ;; another thread may have ended it before it was switched on
           (unless (eq :open (run-end run)) (funcall (run-switch-off run) run))
           (multiple-value-prog1 (funcall function)
             (setf returned t)))
      (sb-sys:without-interrupts
        (end-run run (if returned :returned :unwound))
        ;; another thread may still be switching it off
        (funcall (run-switch-off run) run)
        (sb-ext:atomic-update (car *open-runs*) (lambda (runs) (remove run runs)))))))

;;; What a run has switched on

(defstruct armed
  "The points, functions or methods of the program, that a run has switched on."
  (points '() :type list)
  (lock (sb-thread:make-mutex :name "swank-client trace")))

;;; The latest runs of each client, so that it can ask about one that has stopped

(defconstant +kept-runs+ 10 "Runs of a client that are remembered after their end.")

(defconstant +most-prepared-runs+ 1000 "Runs of a client that have not ended, or whose code was never evaluated, and are remembered.")

(defvar *runs* (make-hash-table :test 'eq :weakness :key :synchronized t) "((KEY . RUN) ...) of each session, the latest first.")

(defun runs-to-keep (known)
  "The entries of KNOWN, ((KEY . RUN) ...), that one more leaves."
  (let ((ended +kept-runs+)
        (open +most-prepared-runs+))
    (remove-if-not (lambda (entry) (plusp (if (eq :open (run-end (cdr entry))) (decf open) (decf ended)))) known)))

(defun remember-run (key run)
  "Remember RUN under KEY, a number that the client chose."
  (sb-ext:with-locked-hash-table (*runs*)
    (setf (gethash (run-session run) *runs*)
          (acons key run (runs-to-keep (gethash (run-session run) *runs*))))))

(defun kept-run (key)
  "The run that this client has under KEY, or NIL."
  (cdr (assoc key (gethash (current-session) *runs*))))

;;; What a run does

(defun call-measured-code (functions)
  "Call FUNCTIONS, made by COMPILED-PARTS. => the values of the last one as a list"
  (let ((values '()))
    (dolist (function functions values)
      (setf values (multiple-value-list (call-own function '()))))))

(defun wait-milliseconds (milliseconds run progress &optional (count (constantly 0)))
  "Let MILLISECONDS pass, unless RUN ends before. Each second an evaluation reports PROGRESS, a control string for the seconds that have
passed, all of them, and the value of COUNT."
  (loop with start = (nanoseconds-now)
        with told = 0
        with seconds = (/ milliseconds 1000)
        for passed = (/ (- (nanoseconds-now) start) 1000000000)
        while (and (< passed seconds) (eq :open (run-end run)))
        do (when (and *evaluation* (> (floor passed) told))
             (report-progress *evaluation* progress (setf told (floor passed)) (ceiling seconds) (funcall count)))
           (sleep (min 1/10 (- seconds passed)))))

(defun facts-under (key type facts)
  "What FACTS returns for the run under KEY, which has ended and is a TYPE; or (:unknown)."
  (let ((*package* (session-package-now (current-session)))
        (run (kept-run key)))
    (if (and (typep run type) (not (eq :open (run-end run))))
        (funcall facts run)
        '(:unknown))))

(defun value-texts (values)
  "The first of VALUES as text."
  (with-printing-time
    (loop for value in values
          repeat 5
          collect (line-text-in-time value 500))))
