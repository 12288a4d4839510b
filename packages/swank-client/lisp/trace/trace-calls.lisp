;;;; Traces calls, while code runs or some seconds pass.

(in-package #:swank-client/trace)

;;; The calls

(defun threads-with-ids (ids)
  "The threads with IDS."
  (loop for id in ids
        collect (or (swank/backend:find-thread id)
                    (refuse (princ-to-string id) "There is no such thread." :thread))))

(defun prepare-trace (key names package condition threads limit)
  "Prepare a trace under KEY of the functions that NAMES name, and all functions of PACKAGE, while CONDITION holds, in THREADS: ids, or NIL for
the code's own, or all. It ends after LIMIT calls.
=> (:ready COUNT (WARNING ...)) | (:refused NAME REASON KIND (SIMILAR ...))"
  (reset-guard-pages)
  (handler-case
      (with-code-of ((current-session))
        (with-code-syntax ((current-session) (session-package-now (current-session)))
          (let* ((recording (make-recording :limit limit :switch-off #'switch-off-recording :threads (or (threads-with-ids threads) t)))
                 (points (with-printing-time (find-points recording names package condition))))
            (setf (recording-prepared recording) points)
            (remember-run key recording)
            (list :ready (length points) (missed-texts points)))))
    (refused-point (refusal) (refused-reply refusal))))

(defun prepared-recording (key)
  "The recording under KEY, which has not begun."
  (let ((recording (kept-run key)))
    (unless (and (typep recording 'recording) (recording-prepared recording))
      (error "This trace is over: call trace-calls again."))
    recording))

(defun run-recording (recording function)
  "Call FUNCTION while RECORDING records. => its values"
  (let ((points (shiftf (recording-prepared recording) '())))
    (call-as-run recording (lambda (recording) (switch-on-recording recording points)) function)))

(defun trace-code (key code)
  "Trace the calls prepared under KEY while the forms of CODE run. It is called by evaluated code, so that it can stop. => TRACE-FACTS"
  (let ((recording (prepared-recording key)))
    (setf (recording-thread recording) sb-thread:*current-thread*)
    (when (eq t (recording-threads recording)) (setf (recording-threads recording) *evaluation*))
    (setf (recording-values recording)
          (value-texts (run-recording recording (lambda () (evaluate-part code)))))
    (trace-facts recording)))

(defun trace-seconds (key milliseconds)
  "Trace the calls prepared under KEY for MILLISECONDS. It is called by evaluated code, so that it can stop. => TRACE-FACTS"
  (let ((recording (prepared-recording key))
        (seconds (/ milliseconds 1000)))
    (run-recording recording
                   (lambda ()
                     (wait-seconds seconds recording
                                   (lambda (passed)
                                     (when *evaluation*
                                       (report-progress *evaluation* "Tracing: ~d of ~d s, ~d call~:p"
                                                        passed (ceiling seconds) (car (recording-count recording))))))))
    (trace-facts recording)))

(defun trace-progress (key)
  "What the trace under KEY has recorded. => TRACE-FACTS | (:unknown)"
  (let ((*package* (session-package-now (current-session)))
        (recording (kept-run key)))
    (if (and (typep recording 'recording) (not (eq :open (run-end recording))))
        (trace-facts recording)
        '(:unknown))))
