;;;; Stops, unwinds and ends running threads.

(in-package #:swank-client/program)

(defconstant +ending-seconds+ 2 "Seconds that the cleanup forms of a thread have before an answer says that it still runs.")

;;; In the interrupted thread

(defun stop-for-owner (owner condition)
  "Stop this thread at CONDITION in the debugger of OWNER, the connection of another client, whose code it runs."
  (with-connection (owner)
    (let ((*buffer-package* *package*))
      (with-fresh-printer-state (invoke-slime-debugger condition)))))

(defun stop-here (session)
  "Stop this thread, which runs no evaluation of SESSION. It stops in the debugger of SESSION's client unless it runs code of another client,
whose user must be able to resume it."
  (unless (or (plusp *sldb-level*) (must-not-stop-here-p))
    (let ((owner (served-connection))
          (condition (make-condition 'interrupted :activity "thread"))
          (*interrupted-wait* nil))
      (with-simple-restart (continue "Continue the thread")
        (if (and owner (not (eq owner (session-connection session))))
            (stop-for-owner owner condition)
            (stop-own-thread session condition nil))))))

(defun unwind-here ()
  "Unwind this thread to where its request or its code began. A thread without a request ends."
  ;; no client acknowledges messages sent from here
  (setf *send-counter* 0)
  (invoke-restart (or *outermost-restart* (abort-restart))))

;;; The calls

(defun untouchable-thread (thread action)
  "Why THREAD must not be changed by ACTION: (:GONE), (:SERVICE), (:MAIN), (:STOPPED) or NIL."
  (cond ((null thread) '(:gone))
        ((or (eq thread sb-thread:*current-thread*) (equal '(:service) (whose thread))) '(:service))
        ((and (eq thread (sb-thread:main-thread)) (not (eq action :stop))) '(:main))
        ((and (plusp (debugger-level thread)) (not (eq action :kill))) '(:stopped))))

(defun own-evaluation (thread)
  "The evaluation of this session that THREAD runs, or NIL."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (and evaluation (eq (evaluation-session evaluation) (current-session)) evaluation)))

(defun stop-thread (id)
  "Stop thread ID in the debugger, soon. => (:stopping) | a value of UNTOUCHABLE-THREAD"
  (let* ((thread (swank/backend:find-thread id))
         (session (current-session))
         (evaluation (and thread (own-evaluation thread))))
    (or (untouchable-thread thread :stop)
        (progn
          (if evaluation
              (call-in-evaluation evaluation :interrupt
                                  (lambda () (when (zerop *sldb-level*) (enter-interrupt evaluation))))
              (call-in-thread thread
                              (lambda () (not (session-departed session)))
                              (lambda () (stop-here session))
                              :interrupt (interrupt-way thread :stop)))
          '(:stopping)))))

(defun await-end (thread)
  "Wait for the end of THREAD, but not long. => :ENDED or :RUNNING"
  (if (loop repeat (* 50 +ending-seconds+)
            thereis (not (sb-thread:thread-alive-p thread))
            do (sleep 1/50))
      :ended
      :running))

(defun end-evaluation-thread (evaluation action)
  "Unwind EVALUATION, of this session, if ACTION is :ABORT, or end its thread. => :ENDED, :RUNNING, or :SILENT if it allows no interrupts"
  (if (eq action :kill) (end-thread evaluation) (unwind-evaluation evaluation))
  (let ((fate (await-end (evaluation-thread evaluation))))
    (if (and (eq fate :running) (member action (evaluation-pending-interrupts evaluation))) :silent fate)))

(defun end-foreign-thread (thread way)
  "Make THREAD, which runs no evaluation of this session, call WAY when that is safe. => :ENDED, :RUNNING, or :SILENT if it was never safe"
  (let ((taken nil))
    (interrupt-when-safe (lambda ()
                           (setf taken t)
                           (funcall way))
                         thread
                         #'sb-thread:thread-alive-p)
    (cond (taken (await-end thread))
          ((sb-thread:thread-alive-p thread) :silent)
          (t :ended))))

(defun end-thread-by (id action)
  "Unwind thread ID if ACTION is :ABORT, or end it if that is :KILL.
=> (:done :ended) | (:done :running) if it goes on | (:done :silent) if it does not react | a value of UNTOUCHABLE-THREAD"
  (let* ((thread (swank/backend:find-thread id))
         (evaluation (and thread (own-evaluation thread))))
    (cond ((untouchable-thread thread action))
          (evaluation (list :done (end-evaluation-thread evaluation action)))
          (t (list :done (end-foreign-thread thread (if (eq action :kill) #'end-this-thread #'unwind-here)))))))
