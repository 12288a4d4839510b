;;;; Ends requests whose client has stopped waiting; otherwise they could run forever. The module `evaluate` ends evaluations.

(in-package #:swank-client/connection)

;;; Which threads

(defun requests-in (connection thread)
  "The requests of CONNECTION that THREAD runs, the innermost first."
  (and (eq connection (value-in-thread '*emacs-connection* thread))
       (value-in-thread '*requests* thread)))

(defun request-in (connection id thread)
  "Request ID of CONNECTION if THREAD runs it, or NIL."
  (find id (requests-in connection thread) :key #'request-id))

(defun stopped-p (thread)
  "True if THREAD is stopped in Swank's debugger."
  (plusp (debugger-level thread)))

(defun evaluation-p (thread)
  "True if THREAD runs an evaluation of any version of the library."
  (some (lambda (variable) (value-in-thread variable thread)) (version-symbols "EVALUATE" "*EVALUATION*")))

(defun waiting-p (thread)
  "True if THREAD waits in one of Swank's loops, which handle interrupts between two waits."
  (multiple-value-bind (enabled bound) (sb-thread:symbol-value-in-thread '*slime-interrupts-enabled* thread nil)
    (and bound (not enabled))))

(defun between-requests-p (thread)
  "True if THREAD serves a request that it has not begun, or is about to end."
  (and (equal "worker" (sb-thread:thread-name thread))
       (null (value-in-thread '*requests* thread))
       (null (value-in-thread '*pending-continuations* thread))))

(defun find-request (connection id)
  "The thread that runs request ID of CONNECTION, or NIL."
  (find-if (lambda (thread) (request-in connection id thread)) (sb-thread:list-all-threads)))

(defun await-request (connection id)
  "Wait until a thread runs request ID of CONNECTION, and return it. Returns NIL if no thread is about to begin one."
  (loop repeat 500
        for thread = (find-request connection id)
        until (or thread (notany #'between-requests-p (sb-thread:list-all-threads)))
        do (sleep 1/50)
        finally (return thread)))

;;; Safe moments for unwinding

(defun holds-shared-lock-p ()
  "True if this thread holds a lock that readers or compilers need. A request may loop forever while it holds one."
  (or (holds-package-lock-p) (holds-world-lock-p)))

(defun safe-to-unwind-p (seconds)
  "True if this thread can be unwound now. SECONDS is the time since the first interrupt: a compilation gets 4 s."
  (not (or (holds-mailbox-p)
           (and (< seconds 2/5) (in-foreign-code-p))
           (and (< seconds 4) (holds-shared-lock-p)))))

(defun seconds-since (start)
  "Seconds since START, a value of GET-INTERNAL-REAL-TIME."
  (/ (- (get-internal-real-time) start) internal-time-units-per-second))

;;; Ways to end a request, in its thread

(defun unwind-closed-request ()
  "Unwind this thread to where its request began, after its client has disconnected."
  ;; no client acknowledges messages sent from here
  (setf *send-counter* 0)
  (swank:throw-to-toplevel))

(defun end-this-thread ()
  "End this thread, which could not be unwound."
  (sb-thread:abort-thread :allow-exit t))

(defun interrupt-when-safe (way thread running-p)
  "Make THREAD call WAY once, at the first safe moment in the next 10 s, while RUNNING-P is true of it.
Each interrupt is sent after the one before has arrived, because SBCL crashes when many are queued."
  (let ((arrived t) (taken nil) (start (get-internal-real-time)))
    (flet ((arrive ()
             (setf arrived t)
             (when (and (not taken)
                        (funcall running-p sb-thread:*current-thread*)
                        (safe-to-unwind-p (seconds-since start)))
               (setf taken t)
               (sb-sys:with-interrupts (funcall way)))))
      (loop while (and (not taken) (funcall running-p thread) (< (seconds-since start) 10))
            do (when arrived
                 (setf arrived nil)
                 ;; the thread may have ended
                 (ignore-errors (sb-thread:interrupt-thread thread #'arrive)))
               (sleep 1/50)))))

(defun end-in-thread (thread running-p ways)
  "Try each of WAYS in turn to end the work of THREAD, while RUNNING-P is true of it. Cleanup forms have 1 s after each."
  (dolist (way ways)
    (interrupt-when-safe way thread running-p)
    (loop repeat 50
          while (funcall running-p thread)
          do (sleep 1/50))))

;;; Ending

(defun end-request (id)
  "End request ID of this connection, in whatever thread it runs. => T"
  (let* ((connection *emacs-connection*)
         (thread (await-request connection id)))
    (labels ((running-p (thread)
               (and (sb-thread:thread-alive-p thread) (request-in connection id thread)))
             (unwind ()
               (throw (request-in connection id sb-thread:*current-thread*) nil)))
      (when thread
        (end-in-thread thread #'running-p
                       (list* #'unwind #'unwind (if (stopped-p thread) '() (list #'end-this-thread))))))
    t))

(defun no-request-begins-p (connection dispatched)
  "True if no request of CONNECTION, which is closed, can begin any more. DISPATCHED is the cell of BEGIN-REQUEST."
  (not (or (sb-thread:thread-alive-p (mconn.control-thread connection))
           (plusp (car dispatched)))))

(defun end-unserved (connection)
  "End the threads that Swank has made for requests of CONNECTION, which is closed, if its control thread ended before it gave them the
requests. They wait in Swank's loop, with its restart for the top level."
  (labels ((new-p (thread)
             (and (sb-thread:thread-alive-p thread)
                  (eq connection (value-in-thread '*emacs-connection* thread))
                  (between-requests-p thread)))
           (unserved-p (thread)
             (and (new-p thread) (value-in-thread '*sldb-quit-restart* thread) (waiting-p thread))))
    (loop repeat 10
          for threads = (remove-if-not #'new-p (sb-thread:list-all-threads))
          while threads
          do (dolist (thread (remove-if-not #'unserved-p threads))
               (end-in-thread thread #'unserved-p (list #'end-this-thread)))
             (sleep 1/50))))

(defun end-requests (connection dispatched)
  "End all requests of CONNECTION, which is closed. Those that begin in the next second, of the number in the cell DISPATCHED, end
themselves."
  (flet ((running-p (thread)
           (and (sb-thread:thread-alive-p thread)
                (requests-in connection thread)
                (not (stopped-p thread))
                (not (evaluation-p thread)))))
    (loop with asked = '()
          repeat 50
          for complete = (no-request-begins-p connection dispatched)
          do (dolist (thread (set-difference (remove-if-not #'running-p (sb-thread:list-all-threads)) asked))
               (push thread asked)
               (start-runtime-thread #'end-in-thread "swank-client clean-up"
                                     thread #'running-p (list #'unwind-closed-request #'unwind-closed-request #'end-this-thread)))
          until complete
          do (sleep 1/50)))
  (end-unserved connection))

;; clients look the function up here, because they cannot name a symbol in a package that may not exist
(setf (get (intern (package-name *package*) "KEYWORD") :end-request) 'end-request)
