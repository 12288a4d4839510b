;;;; Releases the threads that are stopped for a connection when it closes.

(in-package #:swank-client/connection)

;;; In the stopped thread

(define-condition runtime-stop (condition)
  ()
  (:documentation "A condition with which the library stops a thread, and which ends when the library resumes it."))

(define-condition interruption (runtime-stop)
  ()
  (:documentation "A stop at a client's wish. That of an evaluation ends with the evaluation."))

(defun of-runtime-p (condition thread)
  "True if the library stopped THREAD with CONDITION, a step, a breakpoint or an interrupt of no evaluation, and also resumes it."
  (typecase condition
    (sb-ext:step-condition t)
    (interruption (not (evaluation-p thread)))
    (runtime-stop t)))

(defun hand-over (condition)
  "Stop this background thread where it would have stopped without this library."
  (let ((next (default-connection))
        (*sldb-level* 0)
        (sb-debug:*stack-top-hint* *sldb-stack-top*)
        (sb-kernel:*restart-clusters* (member-if (lambda (cluster) (intersection cluster *sldb-restarts*))
                                                 sb-kernel:*restart-clusters*)))
    (if next
        (with-connection (next) (debug-in-emacs condition))
        (let ((*emacs-connection* nil))
          (invoke-default-debugger condition)))))

(defun leave-stop (condition)
  "Leave the stop at CONDITION that this thread is in."
  ;; no client acknowledges messages sent from here
  (setf *send-counter* 0)
  (cond ((of-runtime-p condition sb-thread:*current-thread*))
        (*sldb-quit-restart* (swank:throw-to-toplevel))
        ((> *sldb-level* 1) (swank:sldb-abort))
        (t (hand-over condition))))

;;; Releasing

(defun level-for (connection thread)
  "The debugger level at which THREAD is stopped for CONNECTION, 0 if it is not."
  (or (and (eq connection (value-in-thread '*emacs-connection* thread))
           (value-in-thread '*sldb-level* thread))
      0))

(defun release (connection thread level &optional (patience 100))
  "Make THREAD leave its stop at LEVEL for CONNECTION, if it is still there when the interrupt arrives.
A thread that describes its stop hides the restarts through which it leaves: it is interrupted again later, at most PATIENCE times."
  (ignore-errors
   (queue-interrupt thread
                    (lambda ()
                      (when (= level (level-for connection sb-thread:*current-thread*))
                        (if (or sb-kernel:*restart-clusters* (zerop patience))
                            (leave-stop *swank-debugger-condition*)
                            (release-later connection thread level (1- patience))))))))

(defun release-later (connection thread level patience)
  "Do what RELEASE does, 20 ms later."
  (start-runtime-thread (lambda ()
                          (sleep 1/50)
                          (release connection thread level patience))
                        "swank-client release"))

(defun release-new-stops (connection asked)
  "Release the threads that are stopped for CONNECTION and not in ASKED, ((THREAD . LEVEL) ...). => ASKED with those threads added"
  (loop for thread in (sb-thread:list-all-threads)
        for level = (level-for connection thread)
        when (and (plusp level) (not (eql level (cdr (assoc thread asked)))))
          do (release connection thread level)
             (push (cons thread level) asked))
  asked)

(defun release-waiting-threads (connection)
  "Unwind the threads that run a request and wait for CONNECTION's client to acknowledge output or to answer."
  (dolist (thread (sb-thread:list-all-threads))
    (when (and (eq connection (value-in-thread '*emacs-connection* thread))
               (value-in-thread '*sldb-quit-restart* thread)
               (waiting-p thread))
      (ignore-errors (queue-interrupt thread #'swank:throw-to-toplevel)))))

(defun serving-threads-p (connection)
  "True if a thread runs or is stopped for CONNECTION."
  (some (lambda (thread) (eq connection (value-in-thread '*emacs-connection* thread))) (sb-thread:list-all-threads)))

(defun release-all (connection dispatched)
  "Release everything that runs or is stopped for CONNECTION, which is closed, and the requests in the cell DISPATCHED.
Each thread is interrupted once at each level, because SBCL crashes when many interrupts are queued. The threads are checked repeatedly,
because one may be about to stop, or may be stopped at a lower level as well."
  (loop with asked = '()
        repeat 40
        for before = asked
        do (setf asked (release-new-stops connection asked))
           (sleep (if (serving-threads-p connection) 1/20 1/50))
        count (eq asked before) into quiet
        until (= quiet 3))
  (release-waiting-threads connection)
  (end-requests connection dispatched))

;;; Handing stopped threads to an Emacs that connects. A background thread leaves its stop here through Swank's way to another debugger,
;;; and stops again where it would have stopped without this library.

(defun repl-p (connection)
  "True if CONNECTION's client has a REPL. Clients of this library only have synonym streams for the process's streams."
  (typep (connection.user-output connection) '(and stream (not synonym-stream))))

(defun open-p (connection)
  "True until CONNECTION is closed."
  (open-stream-p (connection.socket-io connection)))

(defun stranded-p (thread connection)
  "True if THREAD is stopped for CONNECTION or for a disconnected client, and runs neither a request nor code of this library."
  (let ((owner (value-in-thread '*emacs-connection* thread)))
    (and owner
         (eql 1 (value-in-thread '*sldb-level* thread))
         (null (value-in-thread '*sldb-quit-restart* thread))
         (not (of-runtime-p (value-in-thread '*swank-debugger-condition* thread) thread))
         (or (eq owner connection) (not (open-p owner))))))

(defun no-longer-leaving (leaving thread)
  "Remove THREAD from the list in the cell LEAVING."
  (sb-ext:atomic-update (car leaving) (lambda (threads) (remove thread threads))))

(defun hand-over-thread (thread connection leaving)
  "Make THREAD leave its stop for CONNECTION, so that Swank's debugger hook stops it again. Until then it is in the cell LEAVING."
  (ignore-errors
   (queue-interrupt
    thread
    (lambda ()
      ;; if the connection has closed, it releases its threads itself, and no debugger would receive this one
      (when (and (open-p connection) (stranded-p thread connection))
        (setf *send-counter* 0)
        (sb-ext:atomic-push thread (car leaving))
        (signal 'invoke-default-debugger)
        ;; the signal was not handled: the thread stays
        (no-longer-leaving leaving thread))))))

(defun hand-over-threads (new connection leaving)
  "Hand the background threads that are stopped for CONNECTION to the connection NEW if that has a REPL."
  ;; the streams of a REPL are set shortly after the client connects
  (loop repeat 600
        while (and (open-p new) (open-p connection))
        until (streamp (connection.user-output new))
        do (sleep 1/20))
  (when (and (open-p new) (open-p connection) (repl-p new) (not (eq connection (default-connection))))
    (dolist (thread (sb-thread:list-all-threads))
      (when (stranded-p thread connection)
        (hand-over-thread thread connection leaving)))))
