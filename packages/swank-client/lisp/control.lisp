;;;; Looking at, interrupting and ending an evaluation from outside, and cleaning up after a client.

(in-package #:@runtime@)

(defun find-evaluation (id)
  (gethash id (session-evaluations (current-session))))

(defun cannot-enable-interrupts-p ()
  "True, inside WITH-INTERRUPTS, if this thread was interrupted as it begins or ends to hold the garbage collector off.
SBCL binds two variables for that, one after the other, and takes an interrupt between the two, in which interrupts stay disabled:
a thread that stopped there would never take another one."
  (not sb-sys:*interrupts-enabled*))

(defun call-in-thread (thread wanted-p function &key (interrupt #'sb-thread:interrupt-thread) (patience 250))
  "Have THREAD call FUNCTION, unless WANTED-P, called there first, says that it does something else by then.
In the middle of changing what everybody uses, and where interrupts stay disabled, it is let alone for a moment more, PATIENCE times two
milliseconds at most.
INTERRUPT is called with THREAD and what it should call."
  (flet ((call ()
           (sb-sys:with-interrupts
             (cond ((not (funcall wanted-p)) nil)
                   ((and (plusp patience)
                         (or (cannot-enable-interrupts-p) (holds-mailbox-p) (holds-package-lock-p) (holds-world-lock-p)))
                    (call-later thread wanted-p function interrupt (1- patience)))
                   ((holds-mailbox-p) nil)
                   (t (funcall function))))))
    (handler-case (funcall interrupt thread #'call)
      ;; it has just ended
      (sb-thread:interrupt-thread-error () nil))))

(defun call-later (thread wanted-p function interrupt patience)
  (start-helper (lambda ()
                  (sleep 1/500)
                  (call-in-thread thread wanted-p function :interrupt interrupt :patience patience))
                "swank-client interrupt"))

(defun interrupt-unless-over (evaluation kind function)
  "Have EVALUATION's thread call FUNCTION, unless it is about to end, which SBCL does not always survive, or the last of this KIND has
not reached it yet: of what has gathered while it runs without interrupts, each interrupts the one before, and SBCL dies of the eighth."
  (flet ((call ()
           (sb-thread::with-system-mutex ((evaluation-lock evaluation))
             (setf (evaluation-on-the-way evaluation) (remove kind (evaluation-on-the-way evaluation))))
           (funcall function)))
    (sb-thread::with-system-mutex ((evaluation-lock evaluation))
      (unless (or (evaluation-over evaluation) (member kind (evaluation-on-the-way evaluation)))
        (push kind (evaluation-on-the-way evaluation))
        (sb-thread:interrupt-thread (evaluation-thread evaluation) #'call)))))

(defun call-in-evaluation (evaluation kind function)
  (call-in-thread (evaluation-thread evaluation)
                  (lambda () (eq *evaluation* evaluation))
                  function
                  :interrupt (lambda (thread call)
                               (declare (ignore thread))
                               (interrupt-unless-over evaluation kind call))))

(defun enter-interrupt (evaluation)
  (let ((condition (make-condition 'interrupted)))
    (cond ((holds-package-lock-p) (leave-with-failure evaluation condition))
          (t (setf swank::*buffer-package* *package*)
             (with-simple-restart (continue "Continue the evaluation")
               (with-printer-of-its-own (swank::invoke-slime-debugger condition)))))))

(defun thread-number (evaluation)
  (swank/backend:thread-id (evaluation-thread evaluation)))

(defun interrupt (id number)
  "Stop evaluation ID in the debugger. => its thread's number, NIL if it is not running
The client's interrupt NUMBER has an effect once: asked again, it is for the case that it met the thread as it left another stop."
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (setf (evaluation-interrupts-wanted evaluation) (max number (evaluation-interrupts-wanted evaluation)))
      (call-in-evaluation evaluation :interrupt
                          (lambda ()
                            (let ((wanted (evaluation-interrupts-wanted evaluation)))
                              (when (and (zerop swank::*sldb-level*) (> wanted (evaluation-interrupts evaluation)))
                                (setf (evaluation-interrupts evaluation) wanted)
                                (enter-interrupt evaluation)))))
      (thread-number evaluation))))

(defun unwind-evaluation (evaluation)
  (call-in-evaluation evaluation :abort (lambda () (leave evaluation '(:aborted)))))

(defun abort-evaluation (id)
  "Unwind evaluation ID to its end, stopped or running. => its thread's number, NIL if it is gone"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (unwind-evaluation evaluation)
      (thread-number evaluation))))

(defun end-thread (evaluation)
  (interrupt-unless-over evaluation :kill (lambda () (sb-thread:abort-thread :allow-exit t))))

(defun kill (id)
  "End the thread of evaluation ID, which did not let itself be unwound. => its number, NIL if it is gone"
  (let ((evaluation (find-evaluation id)))
    (when evaluation
      (end-thread evaluation)
      (thread-number evaluation))))

(defun running ()
  "The ids of this client's evaluations."
  (loop for id being the hash-keys of (session-evaluations (current-session)) collect id))

;;; In a stopped thread

(defvar *stop-numbers* (make-hash-table :test 'eq :weakness :key :synchronized t))
(defvar *last-stop* (list 0))

(defun stop-number ()
  "Tells this stop from the one before at the same level: its list of restarts is a new one."
  (let ((restarts swank::*sldb-restarts*))
    (or (gethash restarts *stop-numbers*)
        (setf (gethash restarts *stop-numbers*) (1+ (sb-ext:atomic-incf (car *last-stop*)))))))

(defun at-stop (number call)
  "What CALL gives if that is the stop that the thread is in, or (:stale): the request may have waited while the thread went on."
  (if (eql number (stop-number)) (eval call) '(:stale)))

(defun stop ()
  "A snapshot of the stop that this thread is in, with what was warned before it."
  (let ((evaluation *evaluation*))
    (when evaluation
      (flush-evaluation evaluation))
    (append (list :number (stop-number) :own (and (null evaluation) (code-session) t))
            (snapshot-plist swank::*swank-debugger-condition* swank::*sldb-restarts*)
            (when evaluation (outcome-facts evaluation)))))

(defun argument-values (attempt sources)
  "(:values VALUE ...) of the expressions SOURCES, all of them before any is used, or what CALL-ATTEMPT gives instead."
  (call-attempt attempt
                (lambda ()
                  (let ((*package* (code-package)))
                    (cons :values (mapcar #'value-of-source sources))))))

(defun restart-lambda-list (restart)
  "What is known of the arguments that RESTART takes: nothing, for one that was compiled without debugging information."
  (let ((known (handler-case (sb-kernel:%fun-lambda-list (sb-kernel:%fun-fun (sb-kernel::restart-function restart)))
                 (error () :unknown))))
    (if (listp known) known '(&rest arguments))))

(defun argument-range (restart)
  "The fewest and the most arguments that RESTART takes, NIL for no limit. One that would prompt for arguments is given some: it never prompts."
  (let* ((lambda-list (restart-lambda-list restart))
         (required (or (position-if (lambda (item) (member item lambda-list-keywords)) lambda-list)
                       (length lambda-list)))
         (optional (loop for item in (rest (member '&optional lambda-list))
                         until (member item lambda-list-keywords) count t)))
    (values (if (and lambda-list (sb-kernel::restart-interactive-function restart)) (max required 1) required)
            (unless (intersection '(&rest &key sb-int:&more) lambda-list) (+ required optional)))))

(defun wrong-count (restart count)
  "(:wrong-count FEWEST MOST), or NIL: a restart with too few arguments would trade the stop for another.
Of some restarts of several arguments Lisp does not know how many they are."
  (multiple-value-bind (fewest most) (argument-range restart)
    (unless (<= fewest count (or most count))
      (list :wrong-count fewest most))))

(defun invoke-offered-restart (level index attempt sources)
  "Leave the stop at LEVEL through its restart INDEX, with the values of SOURCES as arguments.
=> (:stale) | (:no-restart) | (:wrong-count FEWEST MOST) | (:error TYPE MESSAGE) | (:returned) | (:interrupted), or does not return"
  (let ((restart (nth index swank::*sldb-restarts*)))
    (cond ((/= level swank::*sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          ((wrong-count restart (length sources)))
          ((null sources) (leave-through restart '() attempt))
          (t (destructuring-bind (status . values) (argument-values attempt sources)
               (if (eq status :values)
                   (leave-through restart values attempt)
                   (cons status values)))))))

(defun abort-restart ()
  "What SWANK:THROW-TO-TOPLEVEL invokes: it leads to where the thread's request began, or to the end of a thread that has none."
  (or (and swank::*sldb-quit-restart* (find-restart swank::*sldb-quit-restart*))
      (first (last (compute-restarts)))))

(defun abort-stop ()
  "Unwind this stopped thread. => (:no-restart) | (:returned) if the restart does not transfer control, or does not return"
  (let ((restart (abort-restart)))
    (cond ((null restart) '(:no-restart))
          (t (leave-stack)
             (invoke-restart restart)
             '(:returned)))))

;;; The client goes, its threads end

(defun visitor-p (thread connection)
  "True if THREAD runs no evaluation, and stands where CONNECTION's client had it stop."
  (flet ((value (symbol) (ignore-errors (sb-thread:symbol-value-in-thread symbol thread nil))))
    (and (eq connection (value 'swank::*emacs-connection*))
         (null (value '*evaluation*))
         (typep (value 'swank::*swank-debugger-condition*) '(or breakpoint-reached sb-ext:step-condition)))))

(defun let-visitors-go (connection)
  "Have the threads of others go on that a breakpoint or step of CONNECTION's client has stopped."
  (dolist (thread (sb-thread:list-all-threads))
    (when (visitor-p thread connection)
      (call-in-thread thread
                      (lambda () (visitor-p sb-thread:*current-thread* connection))
                      (lambda ()
                        (setf swank::*send-counter* 0
                              *step-wanted* nil)
                        (invoke-restart (or (find-restart 'sb-ext:step-continue) 'continue)))))))

(defun end-evaluations (session)
  (dolist (attempt '(abort abort kill))
    (let ((left (loop for evaluation being the hash-values of (session-evaluations session) collect evaluation)))
      (when (null left) (return))
      (dolist (evaluation left)
        (ignore-errors
         (if (eq attempt 'kill)
             (end-thread evaluation)
             (unwind-evaluation evaluation))))
      (sleep 1))))

(defun end-session (connection session)
  (setf (session-departed session) t)
  (dolist (hook *departure-hooks*) (ignore-errors (funcall hook session)))
  (ignore-errors (let-visitors-go connection))
  (ignore-errors (end-waits connection))
  (when (plusp (hash-table-count (session-evaluations session)))
    (start-helper #'end-evaluations "swank-client clean-up" session)))

(defun clean-up (connection)
  (let ((session (sb-ext:with-locked-hash-table (*sessions*) (gethash connection *sessions*))))
    (when session
      (end-session connection session)
      (ignore-errors (prune-mailboxes))
      (leave-unless-needed))))

;;; The image ends

(defun waiting-messages-p (connection)
  (let ((mailbox (find (swank::mconn.control-thread connection) swank/sbcl::*mailboxes* :key #'swank/sbcl::mailbox.thread)))
    (and mailbox (swank/sbcl::mailbox.queue mailbox))))

(defun send-last-words ()
  "Have what was printed sent before all threads are ended, those that send included; no longer than a tenth of a second."
  (let ((connections (loop for connection being the hash-keys of *sessions* using (hash-value session)
                           unless (session-departed session) collect connection)))
    (dolist (connection connections)
      (loop for evaluation being the hash-values of (session-evaluations (session-of connection))
            do (flush-evaluation evaluation)))
    (loop repeat 50
          while (some #'waiting-messages-p connections)
          do (sleep 1/500))
    ;; for the last of them, which is being written
    (when connections (sleep 1/100))))

;;; Swank on SBCL keeps a mailbox for every thread that ever was, and searches them all at each message

(defvar *evaluations-run* (list 0))

(defun prune-mailboxes ()
  (let ((lock (find-symbol "*MAILBOX-LOCK*" "SWANK/SBCL"))
        (boxes (find-symbol "*MAILBOXES*" "SWANK/SBCL")))
    (when (and lock boxes (boundp lock) (boundp boxes))
      (sb-thread:with-mutex ((symbol-value lock))
        (setf (symbol-value boxes)
              (delete-if-not #'sb-thread:thread-alive-p (symbol-value boxes)
                             :key (symbol-function (find-symbol "MAILBOX.THREAD" "SWANK/SBCL"))))))))

(defun prune-mailboxes-at-times ()
  (when (zerop (mod (sb-ext:atomic-incf (car *evaluations-run*)) 64))
    (prune-mailboxes)))
