;;;; The requests of a connection: each can be ended exactly, and leaves nothing behind.

(in-package #:swank-client/connection)

;;; Runs the requests of a connection so that each can be ended exactly, and so that Swank's thread for the connection calls no printer of
;;; the user's.

(defstruct (request (:constructor make-request (id handlers begun dispatched)) (:copier nil))
  "A request that a thread runs. It is also the catch tag that ends it. BEGUN is called when the thread can be found by the request.
DISPATCHED is the cell of INSTALL-GUARD."
  (id 0 :type integer)
  (handlers nil :type list)
  (begun nil :type function)
  (dispatched nil :type cons))

(defvar *requests* '()
  "The requests that this thread runs, the innermost first.")

(defun sendable (result)
  "RESULT as data that is printed without the user's printers, or the reason why it cannot be sent."
  (let* ((*texts* :none)
         (verdict (fits-p result)))
    (if (eq t verdict)
        (let ((data (if (eq *texts* :none) result (with-texts result))))
          ;; until the whole guard is there, nothing takes the data out again
          (if (cdr (request-dispatched (first *requests*))) (make-checked t data) data))
        (make-checked verdict))))

(defparameter *loading-operators* '(progv apply or) "The operators of the forms with which clients load the library, and ask about the image.")

(defun standard-request-p (operator)
  "True if OPERATOR, of a request, is the library's own: it gives code of the user the settings of its session."
  (or (member operator *loading-operators*)
      (runtime-symbol-p operator)))

(defun swank-request-p (operator)
  "True if OPERATOR, of a request, is a function of Swank other than those that evaluate code of the user, or set *BREAK-ON-SIGNALS* for all."
  (and (eql 0 (search "SWANK" (package-name (symbol-package operator))))
       (not (search "EVAL" (symbol-name operator)))
       (not (search "BREAK-ON-SIGNALS" (symbol-name operator)))))

(defun call-with-settings-for (form function)
  "Call FUNCTION, which evaluates FORM, a request, with the settings that FORM needs: what the user has set must not change what the library
reads and prints, nor stop it. Code in a stopped thread has the thread's settings."
  (let ((operator (and (consp form) (symbolp (first form)) (symbol-package (first form)) (first form))))
    (cond ((null operator) (funcall function))
          ((plusp *sldb-level*) (let ((*break-on-signals* nil)) (funcall function)))
          ((standard-request-p operator) (with-standard-settings (funcall function)))
          ((swank-request-p operator) (let ((*break-on-signals* nil)) (funcall function)))
          (t (funcall function)))))

(defun evaluate-request (form)
  "Evaluate FORM, the innermost request's, and return its value as data."
  (funcall (request-begun (first *requests*)))
  ;; Swank's handler keeps the last condition, and prints it in a cleanup form, where an error could not be unwound
  (let ((*handler-clusters* (request-handlers (first *requests*))))
    (sendable (call-with-settings-for form (lambda () (eval form))))))

(defun call-with-guard-page (function)
  "Call FUNCTION. If it exhausts the stack, raise the guard page again afterwards.
In a thread that has stopped on an exhausted stack, the page stays lowered."
  (let ((lowered-p (guard-page-lowered-p)))
    (when (zerop *sldb-level*) (reset-guard-pages))
    (funcall function)
    (unless lowered-p (restore-guard-page))))

(defun serve-request (dispatched serve form package id begun)
  "Call SERVE, Swank's function, to evaluate FORM in PACKAGE and to reply to request ID. The function BEGUN is called before FORM is
evaluated. DISPATCHED is the cell of INSTALL-GUARD."
  (let ((request (make-request id (supported *handler-clusters*) begun dispatched)))
    (call-with-guard-page
     (lambda ()
       (catch request
         (let ((*requests* (cons request *requests*)))
           (funcall serve `(evaluate-request ',form) package id)))))))

;;; Removes mailboxes of ended threads. On SBCL, Swank keeps a mailbox for every thread, and searches all of them for each message. It starts
;;; a thread for each request: without this, requests take three times as long after some thousands.

(defconstant +requests-between-prunings+ 16 "Requests after which mailboxes are removed.")

(defvar *requests-run* (list 0) "A cell with the number of requests that have ended.")

(defun useless-mailbox-p (mailbox)
  "True if the thread of MAILBOX has ended, or there is none: Swank has sent a message for a connection that had no thread yet."
  (let ((thread (mailbox.thread mailbox)))
    (or (null thread) (not (sb-thread:thread-alive-p thread)))))

(defun prune-mailboxes ()
  "Remove the mailboxes of threads that have ended. Does nothing while another thread holds their lock, which may last as long as a stop."
  (let ((lock (mailbox-lock)))
    (when lock
      (sb-sys:without-interrupts
        (sb-thread:with-mutex (lock :wait-p nil)
          (setf *mailboxes* (delete-if #'useless-mailbox-p *mailboxes*)))))))

(defun prune-mailboxes-at-times ()
  "Prune the mailboxes now and then. Called after each request and each evaluation."
  (when (zerop (mod (sb-ext:atomic-incf (car *requests-run*)) +requests-between-prunings+))
    (prune-mailboxes)))

;;; Ends requests whose client has stopped waiting; otherwise they could run forever. The module `evaluate` ends evaluations.

;;; Which threads

(defun requests-in (connection thread)
  "The requests of CONNECTION that THREAD runs, the innermost first."
  (and (eq connection (value-in-thread '*emacs-connection* thread))
       (value-in-thread '*requests* thread)))

(defun open-p (connection)
  "True until CONNECTION is closed."
  (open-stream-p (connection.socket-io connection)))

(defun request-in (connection id thread)
  "Request ID of CONNECTION if THREAD runs it, or NIL."
  (find id (requests-in connection thread) :key #'request-id))

(defun stopped-p (thread)
  "True if THREAD is stopped in Swank's debugger."
  (plusp (debugger-level thread)))

(defun evaluation-p (thread)
  "True if THREAD runs an evaluation of any version of the library."
  (some (lambda (variable) (value-in-thread variable thread)) (version-symbols "EVALUATE" "*EVALUATION*")))

(defun serving-p (thread)
  "True if THREAD runs Swank's code for a connection. A thread of the program can have the connection, but not this variable."
  (nth-value 1 (sb-thread:symbol-value-in-thread '*slime-interrupts-enabled* thread nil)))

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
  "True if this thread can be unwound now. SECONDS is the time since the first interrupt: a compilation gets 4 s, and code of C
0.4 s, also where it waits: the request may be about to end by itself, as one that looks whether its client is there."
  (not (or (holds-mailbox-p)
           (and (< seconds 2/5) (or (in-foreign-code-p) (places-in-c)))
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
                 (nil-on sb-thread:interrupt-thread-error (sb-thread:interrupt-thread thread #'arrive)))
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

(defun end-unserved ()
  "End the threads of Swank that wait for closed connections outside a request: those that a control thread had not given their requests when it
ended, and those that wait for an answer after their requests. The connections are not only this library's guarded ones: a client may leave
before it has a guard."
  (flet ((unserved-p (thread)
           (let ((owner (value-in-thread '*emacs-connection* thread)))
             (and (sb-thread:thread-alive-p thread)
                  owner
                  (not (open-p owner))
                  (between-requests-p thread)
                  (serving-p thread)))))
    (loop repeat 10
          for threads = (remove-if-not #'unserved-p (sb-thread:list-all-threads))
          while threads
          do (dolist (thread threads)
               (end-in-thread thread #'unserved-p (list #'end-this-thread)))
             (sleep 1/50))))

(defun end-requests (connection dispatched)
  "End all requests of CONNECTION, which is closed. Those that begin in the second after its control thread has ended, of the number in the cell
DISPATCHED, end themselves."
  (flet ((running-p (thread)
           (and (sb-thread:thread-alive-p thread)
                (requests-in connection thread)
                (not (stopped-p thread))
                (not (evaluation-p thread)))))
    (loop with asked = '()
          with patience = 50
          repeat 500
          for dispatching = (sb-thread:thread-alive-p (mconn.control-thread connection))
          for complete = (not (or dispatching (plusp (car dispatched))))
          do (dolist (thread (set-difference (remove-if-not #'running-p (sb-thread:list-all-threads)) asked))
               (push thread asked)
               (start-runtime-thread #'end-in-thread "swank-client clean-up"
                                     thread #'running-p (list #'unwind-closed-request #'unwind-closed-request #'end-this-thread)))
          until (or complete (zerop patience))
          do (unless dispatching (decf patience))
             (sleep 1/50)))
  (end-unserved))

;;; Finds out that a request waits for a lock that another thread holds. If the holder is stopped, that lasts until a client ends the stop; if it
;;; runs, as long as it likes.

(defun find-holder (thread test)
  "=> the lock that THREAD waits for, directly or through other threads that wait, and the first thread that holds one and satisfies TEST; or NIL"
  (loop repeat 20
        for lock = (awaited-mutex thread)
        for holder = (and lock (sb-thread:mutex-owner lock))
        while (typep holder 'sb-thread:thread)
        do (if (funcall test holder)
               (return (values lock holder))
               (setf thread holder))))

(defun awaited-lock (thread test)
  "The lock that FIND-HOLDER finds, as (NAME COMPILERS-P THREAD-ID LEVEL), or NIL. LEVEL is 0 if its holder is not stopped."
  (multiple-value-bind (lock holder) (find-holder thread test)
    (when lock
      (list (princ-to-string (sb-thread:mutex-name lock))
            (eq lock (world-lock))
            (swank/backend:thread-id holder)
            (debugger-level holder)))))

(defun waits-for-no-lock-p (thread)
  "True if THREAD waits for no lock."
  (null (awaited-mutex thread)))

(defun held-lock (id)
  "The lock that keeps request ID of this connection waiting, as (NAME COMPILERS-P THREAD-ID LEVEL), or NIL. Of several, it is the first one
that a stopped thread holds, or else the last one, whose holder waits for no lock."
  (let ((thread (find-request *emacs-connection* id)))
    (and thread
         (or (awaited-lock thread #'stopped-p)
             (awaited-lock thread #'waits-for-no-lock-p)))))

(defun held-locks (ids)
  "The locks that keep requests IDS of this connection waiting. => ((ID (NAME COMPILERS-P THREAD-ID LEVEL)) ...)"
  (loop for id in ids
        for lock = (held-lock id)
        when lock collect (list id lock)))

(defun serving-locks (operand)
  "The locks that threads that serve other connections wait for: no message of these connections is read. OPERAND is ignored.
=> ((NAME COMPILERS-P THREAD-ID LEVEL) ...)"
  (declare (ignore operand))
  (loop for connection in *connections*
        when (and (typep connection 'multithreaded-connection) (not (eq connection *emacs-connection*)))
          append (loop for thread in (list (mconn.reader-thread connection) (mconn.control-thread connection))
                       ;; the last holder is the cause: it waits for no other lock
                       for lock = (and thread (awaited-lock thread #'waits-for-no-lock-p))
                       when lock collect lock)))

(defun awaited-locks (operand)
  "The locks that threads that run requests of this connection wait for. OPERAND is ignored. => ((NAME COMPILERS-P THREAD-ID LEVEL) ...)
An evaluation may wait for a lock by its program's own design."
  (declare (ignore operand))
  (loop for thread in (sb-thread:list-all-threads)
        for lock = (and (eq *emacs-connection* (value-in-thread '*emacs-connection* thread))
                        (not (evaluation-p thread))
                        (awaited-lock thread #'waits-for-no-lock-p))
        when lock collect lock))

;; clients look these functions up here, because they cannot name a symbol in a package that may not exist
(let ((offered (intern (package-name *package*) "KEYWORD")))
  (setf (get offered :end-request) 'end-request
        (get offered :held-locks) 'held-locks
        (get offered :serving-locks) 'serving-locks
        (get offered :awaited-locks) 'awaited-locks))
