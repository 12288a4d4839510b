;;;; Inspects, interrupts and ends evaluations, and cleans up after a client.

(in-package #:swank-client/evaluate)

(defun find-evaluation (id)
  "The running evaluation ID of this session, or NIL."
  (gethash id (session-evaluations (current-session))))

(defun enter-interrupt (evaluation)
  "Stop this thread, which runs EVALUATION, in the debugger, or end EVALUATION where the thread must not stop."
  (let ((condition (make-condition 'interrupted))
        (*interrupted-wait* nil))
    (cond ((holds-package-lock-p) (leave-with-failure evaluation condition :held (held-lock-text)))
          (t (setf *buffer-package* *package*)
             (with-simple-restart (continue "Continue the evaluation")
               (with-fresh-printer-state (invoke-slime-debugger condition)))))))

(defun evaluation-thread-id (evaluation)
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
      (evaluation-thread-id evaluation))))

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
      (evaluation-thread-id evaluation))))

(defun end-thread (evaluation)
  "End the thread of EVALUATION."
  (call-in-evaluation evaluation :kill (lambda () (sb-thread:abort-thread :allow-exit t)) :wanted-p (constantly t)))

(defun kill (id)
  "End the thread of evaluation ID, which could not be unwound. => the thread's number, NIL if the evaluation has ended"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (end-thread evaluation)
      (evaluation-thread-id evaluation))))

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
  "(:values VALUE ...) that the interactive function of RESTART reads from STDIN, (:too-short PROMPT), or a failure of CALL-ATTEMPT. Gives what
it does not read to the code. What it prints is part of the output only if it returns."
  (let* ((lines (text-lines stdin t))
         ;; Y-OR-N-P discards the rest of the line that it reads, as of the evaluation's input
         (input (swank/backend:make-input-stream (lambda () (or (pop lines) ""))))
         (output (make-string-output-stream))
         (terminal (make-two-way-stream input output))
         (given (call-attempt attempt
                              (lambda ()
                                (let ((*package* (code-package))
                                      (*standard-input* input)
                                      (*standard-output* output)
                                      (*query-io* terminal)
                                      (*terminal-io* terminal)
                                      (*debug-io* terminal))
                                  (handler-case (cons :values (funcall (restart-interactive-function restart)))
                                    (end-of-file (condition)
                                      (if (member (stream-error-stream condition) (list input terminal))
                                          '(:too-short)
                                          (error condition)))))))))
    (case (first given)
      (:values (write-string (get-output-stream-string output))
       (when *evaluation* (give-input (loop for line = (read-line input nil) while line collect (format nil "~a~%" line))))
       given)
      (:too-short (let ((prompt (get-output-stream-string output))) (list :too-short (subseq prompt 0 (min 500 (length prompt))))))
      (t given))))

(defun leave-with-arguments (restart attempt given)
  "Leave the stop through RESTART with the arguments in GIVEN, (:values VALUE ...), unless GIVEN is a failure."
  (destructuring-bind (status . values) given
    (cond ((not (eq status :values)) given)
          ((wrong-count restart (length values)))
          ((let ((*package* (code-package))) (wrong-arguments restart values)))
          (t (leave-through restart values attempt)))))

(defun asserted-values (attempt sources)
  "(:values ANSWERS TEXT) of SOURCES, expressions for the new values of the places of ASSERT, or a failure of CALL-ATTEMPT."
  (call-attempt attempt
                (lambda ()
                  (let ((*package* (code-package)))
                    (list :values (mapcar (lambda (source) (list (multiple-value-list (value-of-source source)))) sources) "")))))

(defun give-code (restart stdin &optional attempt sources)
  "Make the code after RESTART, which takes no arguments, read the text STDIN. The code of ASSERT asks about each place: it reads the values
of SOURCES, or the answers in STDIN or in what is left of its input, which are evaluated before the stop is left. => NIL, or a refusal"
  (let ((places (and restart (asserted-places restart))))
    (cond ((and places (null *evaluation*) (or sources (code-session))) '(:cannot-ask))
          ((and places *evaluation* (not (standard-input-p *query-io*))) '(:cannot-ask t))
          ((null *evaluation*) (and stdin '(:no-input)))
          ((and places (or sources (not (evaluation-prompted *evaluation*))))
           (let ((left (left-input)))
             (destructuring-bind (status . results)
                 (if sources
                     (asserted-values attempt sources)
                     (call-attempt attempt (lambda () (let ((*package* (code-package))) (answers-in (or stdin left) places)))))
               (unless (eq status :values) (return-from give-code (cons status results)))
               (destructuring-bind (answers rest) results
                 (give-answers answers (if (or sources stdin) left rest))
                 ;; after what was left
                 (when stdin (give-input (text-lines (if sources stdin rest)))))
               nil)))
          (stdin (give-input (text-lines stdin)) nil))))

(defun invoke-offered-restart (level index attempt sources &optional stdin)
  "Leave the stop at LEVEL through its restart INDEX, with the values of SOURCES as arguments; STDIN is text that the restart or its code reads.
=> (:stale) | (:no-restart) | (:wrong-count FEWEST MOST ASKS-P) | (:no-input) | (:cannot-ask [APART-P]) | (:unanswered PLACE ...) |
(:too-short PROMPT) | (:wrong-arguments LAMBDA-LIST) | (:error TYPE MESSAGE) | (:returned) | (:interrupted), or does not return"
  (let* ((restart (nth index *sldb-restarts*))
         (places (and restart sources (asserted-places restart)))
         (asks-p (and restart (restart-interactive-function restart) t)))
    (cond ((/= level *sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          (places (cond ((/= (length places) (length sources)) (list :wrong-count (length places) (length places) nil))
                        ((give-code restart stdin attempt sources))
                        (t (leave-through restart '() attempt))))
          ((and stdin asks-p (null sources)) (leave-with-arguments restart attempt (asked-values restart attempt stdin)))
          ((wrong-count restart (length sources)))
          ((and stdin (null *evaluation*)) (give-code restart stdin))
          (t (let ((given (if sources (argument-values attempt sources) '(:values))))
               (or (and (eq :values (first given)) (give-code restart stdin attempt))
                   (leave-with-arguments restart attempt given)))))))

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
  (flet ((value (symbol) (value-in-thread symbol thread)))
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
        (recording-faults
          (if (eq attempt 'kill)
              (end-thread evaluation)
              (unwind-evaluation evaluation))))
      (loop repeat 50
            while (evaluations)
            do (sleep 1/50)))))

(defun end-session (connection session)
  "End everything that runs or is stopped for CONNECTION, whose session is SESSION."
  (setf (session-departed session) t)
  (dolist (hook *departure-hooks*) (recording-faults (funcall hook session)))
  (recording-faults (resume-stopped-threads connection))
  (recording-faults (end-waits connection))
  (when (plusp (hash-table-count (session-evaluations session)))
    (start-runtime-thread #'end-evaluations "swank-client clean-up" session)))

(defun clean-up (connection)
  "Called by Swank with a CONNECTION that has closed."
  (let ((session (sb-ext:with-locked-hash-table (*sessions*) (gethash connection *sessions*))))
    (when session
      (end-session connection session)
      (recording-faults (prune-mailboxes))
      (uninstall-unless-needed))))

;;; The end of the image

(defun waiting-messages-p (connection)
  "True if messages to CONNECTION's client are waiting to be sent."
  (let ((mailbox (find (mconn.control-thread connection) *mailboxes* :key #'mailbox.thread)))
    (and mailbox (mailbox.queue mailbox))))

;;; MAKE-THREAD waits without interrupts for the lock that EXIT holds until all threads have ended: a thread that is about to make another
;;; cannot be ended, and EXIT gives up on it after a minute.
(defun hold-requests ()
  "Make the threads that start one for each request wait while this thread runs EXIT, at most 10 s."
  (let ((exiting sb-thread:*current-thread*))
    (flet ((await-end ()
             (sb-sys:with-interrupts
               (loop repeat 500 while (sb-thread:thread-alive-p exiting) do (sleep 1/50)))))
      (dolist (connection *connections*)
        (let ((thread (and (typep connection 'multithreaded-connection) (mconn.control-thread connection))))
          (when thread
            (nil-on sb-thread:interrupt-thread-error (sb-thread:interrupt-thread thread #'await-end))))))))

(defun prepare-exit ()
  "What EXIT calls before it ends threads."
  (recording-faults (send-remaining-output))
  (recording-faults (hold-requests)))

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
