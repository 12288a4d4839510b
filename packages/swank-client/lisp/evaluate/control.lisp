;;;; Inspects, interrupts and ends evaluations, and cleans up after a client.

(in-package #:swank-client/evaluate)

(defun find-evaluation (id)
  "The running evaluation ID of this session, or NIL."
  (gethash id (session-evaluations (current-session))))

(defun interrupt-unless-over (evaluation kind function)
  "Make EVALUATION's thread call FUNCTION, unless it is about to end or an interrupt of this KIND is still pending.
Interrupting a thread that ends can crash SBCL. So can eight interrupts that are queued while a thread runs without interrupts, because
each of them interrupts the one before."
  (flet ((call ()
           (with-system-mutex ((evaluation-lock evaluation))
             (setf (evaluation-pending-interrupts evaluation) (remove kind (evaluation-pending-interrupts evaluation))))
           (funcall function)))
    (with-system-mutex ((evaluation-lock evaluation))
      (unless (or (evaluation-over evaluation) (member kind (evaluation-pending-interrupts evaluation)))
        (push kind (evaluation-pending-interrupts evaluation))
        (sb-thread:interrupt-thread (evaluation-thread evaluation) #'call)))))

(defun call-in-evaluation (evaluation kind function)
  "Make the thread of EVALUATION call FUNCTION while it runs EVALUATION. INTERRUPT-UNLESS-OVER explains KIND."
  (call-in-thread (evaluation-thread evaluation)
                  (lambda () (eq *evaluation* evaluation))
                  function
                  :interrupt (lambda (thread call)
                               (declare (ignore thread))
                               (interrupt-unless-over evaluation kind call))))

(defun enter-interrupt (evaluation)
  "Stop this thread, which runs EVALUATION, in the debugger, or end EVALUATION where the thread must not stop."
  (let ((condition (make-condition 'interrupted))
        (*interrupted-wait* nil))
    (cond ((holds-package-lock-p) (leave-with-failure evaluation condition))
          (t (setf *buffer-package* *package*)
             (with-simple-restart (continue "Continue the evaluation")
               (with-fresh-printer-state (invoke-slime-debugger condition)))))))

(defun thread-number (evaluation)
  "Swank's id for the thread of EVALUATION."
  (swank/backend:thread-id (evaluation-thread evaluation)))

(defun interrupt (id number)
  "Stop evaluation ID in the debugger. => its thread's number, NIL if it is not running
Each interrupt NUMBER takes effect once. The client repeats a request in case the first one arrived while the thread left another stop."
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (setf (evaluation-interrupts-wanted evaluation) (max number (evaluation-interrupts-wanted evaluation)))
      (call-in-evaluation evaluation :interrupt
                          (lambda ()
                            (let ((wanted (evaluation-interrupts-wanted evaluation)))
                              (when (and (zerop *sldb-level*) (> wanted (evaluation-interrupts evaluation)))
                                (setf (evaluation-interrupts evaluation) wanted)
                                (enter-interrupt evaluation)))))
      (thread-number evaluation))))

(defun cleaning-up-p (evaluation)
  "True if this thread, which runs EVALUATION, may be running the cleanup forms of its first unwinding. They have a second.
A thread that has stopped in one is unwound again."
  (let ((start (evaluation-unwound-at evaluation)))
    (and start
         (zerop *sldb-level*)
         (< (- (get-internal-real-time) start) internal-time-units-per-second))))

(defun unwind-evaluation (evaluation)
  "Unwind EVALUATION. The client repeats the request."
  (call-in-evaluation evaluation :abort
                      (lambda ()
                        (unless (cleaning-up-p evaluation) (leave evaluation '(:aborted))))))

(defun abort-evaluation (id)
  "Unwind evaluation ID, stopped or running. => its thread's number, NIL if it has ended"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (unwind-evaluation evaluation)
      (thread-number evaluation))))

(defun end-thread (evaluation)
  "End the thread of EVALUATION."
  (interrupt-unless-over evaluation :kill (lambda () (sb-thread:abort-thread :allow-exit t))))

(defun kill (id)
  "End the thread of evaluation ID, which could not be unwound. => the thread's number, NIL if the evaluation has ended"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (end-thread evaluation)
      (thread-number evaluation))))

(defun running ()
  "The ids of this client's evaluations."
  (loop for id being the hash-keys of (session-evaluations (current-session)) collect id))

;;; In a stopped thread

(defvar *stop-numbers* (make-hash-table :test 'eq :weakness :key :synchronized t) "Maps the list of restarts of a stop to the stop's number.")

(defvar *last-stop* (list 0) "A cell with the number of the latest stop.")

(defun stop-number ()
  "The number of this thread's stop. Each stop has its own list of restarts, so two stops at one level get different numbers."
  (let ((restarts *sldb-restarts*))
    (or (gethash restarts *stop-numbers*)
        (setf (gethash restarts *stop-numbers*) (1+ (sb-ext:atomic-incf (car *last-stop*)))))))

(defun at-stop (number call)
  "Evaluate CALL if this thread is in stop NUMBER, else return (:stale): the thread may have resumed while the request waited."
  (if (eql number (stop-number)) (eval call) '(:stale)))

(defun stop-identity ()
  "A plist of the number of this thread's stop, the thread's name, and whether the client's code started the thread."
  (list :number (stop-number)
        :thread-name (princ-to-string (sb-thread:thread-name sb-thread:*current-thread*))
        :own (and (null *evaluation*) (code-session) t)))

(defun stop ()
  "A snapshot of this thread's stop, with the warnings before it."
  (let ((evaluation *evaluation*))
    (when evaluation
      (flush-evaluation evaluation))
    (append (stop-identity)
            (snapshot-plist *swank-debugger-condition* *sldb-restarts*)
            (when evaluation (outcome-facts evaluation)))))

(defun argument-values (attempt sources)
  "(:values VALUE ...) of the expressions SOURCES, or a failure of CALL-ATTEMPT. All are evaluated before one is used."
  (call-attempt attempt
                (lambda ()
                  (let ((*package* (code-package)))
                    (cons :values (mapcar #'value-of-source sources))))))

(defun asked-values (restart attempt stdin)
  "(:values VALUE ...) that the interactive function of RESTART reads from STDIN, or a failure of CALL-ATTEMPT. Gives what it does not read
to the code."
  (call-attempt attempt
                (lambda ()
                  (let* ((input (make-string-input-stream stdin))
                         (terminal (make-two-way-stream input *standard-output*))
                         (*package* (code-package)))
                    (let ((values (let ((*standard-input* input) (*query-io* terminal) (*terminal-io* terminal) (*debug-io* terminal))
                                    (funcall (restart-interactive-function restart)))))
                      (when *evaluation*
                        (give-input (loop for line = (read-line input nil) while line collect (format nil "~a~%" line))))
                      (cons :values values))))))

(defun leave-with-arguments (restart attempt given)
  "Leave the stop through RESTART with the arguments in GIVEN, (:values VALUE ...), unless GIVEN is a failure."
  (destructuring-bind (status . values) given
    (if (eq status :values)
        (leave-through restart values attempt)
        given)))

(defun leave-with-answers (restart attempt sources)
  "Leave the stop through RESTART, of ASSERT, whose code then reads the values of SOURCES for the places."
  (destructuring-bind (status . values) (argument-values attempt sources)
    (cond ((eq status :values)
           (give-input (loop for value in values
                             ;; ASSERT asks first whether to change the place
                             append (list (format nil "y~%") (line-with-value value))))
           (leave-through restart '() attempt))
          (t (cons status values)))))

(defun invoke-offered-restart (level index attempt sources &optional stdin)
  "Leave the stop at LEVEL through its restart INDEX, with the values of SOURCES as arguments; STDIN is text that the restart or its code reads.
=> (:stale) | (:no-restart) | (:wrong-count FEWEST MOST ASKS-P) | (:no-input) | (:error TYPE MESSAGE) | (:returned) | (:interrupted), or does
not return"
  (let* ((restart (nth index *sldb-restarts*))
         (places (and restart *evaluation* sources (asserted-places restart)))
         (asks-p (and restart (restart-interactive-function restart) t)))
    (cond ((/= level *sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          ((and places (= (length places) (length sources))) (leave-with-answers restart attempt sources))
          (places (list :wrong-count (length places) (length places) nil))
          ((and stdin asks-p (null sources)) (leave-with-arguments restart attempt (asked-values restart attempt stdin)))
          ((wrong-count restart (length sources)))
          ((and stdin (null *evaluation*)) '(:no-input))
          (t (let ((given (if sources (argument-values attempt sources) '(:values))))
               (when (and stdin (eq :values (first given))) (give-input (text-lines stdin)))
               (leave-with-arguments restart attempt given))))))

(defun abort-restart ()
  "The restart that SWANK:THROW-TO-TOPLEVEL invokes. It ends the thread's request, or the thread if that serves none."
  (or (and *sldb-quit-restart* (find-restart *sldb-quit-restart*))
      (first (last (compute-restarts)))))

(defun abort-stop ()
  "Unwind this stopped thread. => (:no-restart) | (:returned) if the restart transfers no control, or does not return"
  (let ((restart (abort-restart)))
    (cond ((null restart) '(:no-restart))
          (t (schedule-stack-repair)
             (when *evaluation* (note-unwinding *evaluation*))
             (invoke-restart restart)
             '(:returned)))))

;;; Cleaning up after a client

(defun stopped-for-p (thread connection)
  "True if THREAD runs no evaluation, and is stopped at a breakpoint, step or interrupt of CONNECTION's client."
  (flet ((value (symbol) (ignore-errors (sb-thread:symbol-value-in-thread symbol thread nil))))
    (and (eq connection (value '*emacs-connection*))
         (null (value '*evaluation*))
         (typep (value '*swank-debugger-condition*) '(or breakpoint-reached interrupted sb-ext:step-condition)))))

(defun resume-stopped-threads (connection)
  "Resume threads without an evaluation that are stopped at a breakpoint, step or interrupt of CONNECTION's client."
  (dolist (thread (sb-thread:list-all-threads))
    (when (stopped-for-p thread connection)
      (call-in-thread thread
                      (lambda () (stopped-for-p sb-thread:*current-thread* connection))
                      (lambda ()
                        (setf *send-counter* 0
                              *step-wanted* nil)
                        (invoke-restart (or (find-restart 'sb-ext:step-continue) 'continue)))))))

(defun end-evaluations (session)
  "End all evaluations of SESSION. The threads of those that cannot be unwound within 2 s are killed."
  (flet ((evaluations ()
           (loop for evaluation being the hash-values of (session-evaluations session) collect evaluation)))
    (dolist (attempt '(abort abort kill))
      (dolist (evaluation (evaluations))
        (ignore-errors
         (if (eq attempt 'kill)
             (end-thread evaluation)
             (unwind-evaluation evaluation))))
      (loop repeat 50
            while (evaluations)
            do (sleep 1/50)))))

(defun end-session (connection session)
  "End everything that runs or is stopped for CONNECTION, whose session is SESSION."
  (setf (session-departed session) t)
  (dolist (hook *departure-hooks*) (ignore-errors (funcall hook session)))
  (ignore-errors (resume-stopped-threads connection))
  (ignore-errors (end-waits connection))
  (when (plusp (hash-table-count (session-evaluations session)))
    (start-runtime-thread #'end-evaluations "swank-client clean-up" session)))

(defun clean-up (connection)
  "Called by Swank with a CONNECTION that has closed."
  (let ((session (sb-ext:with-locked-hash-table (*sessions*) (gethash connection *sessions*))))
    (when session
      (end-session connection session)
      (ignore-errors (prune-mailboxes))
      (uninstall-unless-needed))))

;;; The end of the image

(defun waiting-messages-p (connection)
  "True if messages to CONNECTION's client are waiting to be sent."
  (let ((mailbox (find (mconn.control-thread connection) *mailboxes* :key #'mailbox.thread)))
    (and mailbox (mailbox.queue mailbox))))

(defun send-remaining-output ()
  "Send all output before EXIT ends the threads that send it. Takes at most 0.1 s."
  (let ((connections (loop for connection being the hash-keys of *sessions* using (hash-value session)
                           unless (session-departed session) collect connection)))
    (dolist (connection connections)
      (loop for evaluation being the hash-values of (session-evaluations (session-of connection))
            do (flush-evaluation evaluation)))
    (loop repeat 50
          while (some #'waiting-messages-p connections)
          do (sleep 1/500))
    ;; the last message is still being written
    (when connections (sleep 1/100))))
