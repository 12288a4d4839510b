;;;; What happens to stopped threads when a connection closes or an Emacs connects, and to versions of the runtime that no client uses.

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
        (*stack-top-hint* *sldb-stack-top*)
        (*restart-clusters* (member-if (lambda (cluster) (intersection cluster *sldb-restarts*))
                                                 *restart-clusters*)))
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
  (nil-on sb-thread:interrupt-thread-error
    (queue-interrupt thread
                     (lambda ()
                       (when (= level (level-for connection sb-thread:*current-thread*))
                         (if (or *restart-clusters* (zerop patience))
                             (leave-stop *swank-debugger-condition*)
                             (release-later connection thread level (1- patience))))))))

(defun release-later (connection thread level patience)
  "Do what RELEASE does, 20 ms later."
  (call-later 1/50 (lambda () (release connection thread level patience))))

(defun release-new-stops (connection asked)
  "Release the threads that are stopped for CONNECTION and not in ASKED, ((THREAD . LEVEL) ...). => ASKED with those threads added"
  (loop for thread in (sb-thread:list-all-threads)
        for level = (level-for connection thread)
        when (and (plusp level) (not (eql level (cdr (assoc thread asked)))))
          do (release connection thread level)
             (push (cons thread level) asked))
  asked)

(defun waiting-p (thread)
  "True if THREAD waits in one of Swank's loops and, as up to Swank 2.30, takes interrupts only between two waits."
  (multiple-value-bind (enabled bound) (sb-thread:symbol-value-in-thread '*slime-interrupts-enabled* thread nil)
    (and bound (not enabled))))

(defun release-waiting-threads (connection)
  "Unwind the threads that run a request and wait for CONNECTION's client to acknowledge output or to answer."
  (dolist (thread (sb-thread:list-all-threads))
    (when (and (eq connection (value-in-thread '*emacs-connection* thread))
               (value-in-thread '*sldb-quit-restart* thread)
               (waiting-p thread))
      (nil-on sb-thread:interrupt-thread-error (queue-interrupt thread #'swank:throw-to-toplevel)))))

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
  (nil-on sb-thread:interrupt-thread-error
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

;;; Removes versions of the runtime that no client uses any more. Each has packages of its own; clients of several can be connected at once.
;;; The property :NEWEST-VERSION of the keyword :SWANK-CLIENT is the version that came last, and stays loaded for the next client.

(defconstant +loading-seconds+ 60 "Seconds to wait for a client that loads a module of a version.")

(defun own-version ()
  "This version, or NIL if this library was loaded by hand."
  (package-version (symbol-package '*guarded*)))

(defun other-versions ()
  "The versions in the image but this one."
  (remove-duplicates (remove-if (lambda (version) (or (null version) (equal version (own-version))))
                                (mapcar #'package-version (list-all-packages)))
                     :test #'string=))

(defun used-p (version)
  "True if VERSION guards a connection, or does not tell, as long as a client loads it."
  (let* ((package (find-package (format nil "SWANK-CLIENT/CONNECTION/~a" version)))
         (guarded (and package (accessible-symbol "*GUARDED*" package))))
    (or (null guarded) (not (boundp guarded)) (symbol-value guarded))))

(defun unused-version-p (version)
  "True if VERSION is loaded and guards no connection."
  (and version
       (get (intern (format nil "SWANK-CLIENT/CONNECTION/~a" version) "KEYWORD") :ready)
       (not (used-p version))))

(defun call-while-not-loaded (markers function)
  "Call FUNCTION while no client loads a module of MARKERS, as load-module.lisp does."
  (if markers
      (sb-thread:with-mutex ((get (first markers) :lock) :timeout +loading-seconds+)
        (call-while-not-loaded (rest markers) function))
      (funcall function)))

(defun unlink-classes (package)
  "Let go of the classes of PACKAGE, and of the methods on them, which Lisp's functions and classes would keep."
  (do-symbols (symbol package)
    (let ((class (and (eq package (symbol-package symbol)) (find-class symbol nil))))
      (when class
        (dolist (method (sb-mop:specializer-direct-methods class))
          (remove-method (sb-mop:method-generic-function method) method))
        (dolist (super (sb-mop:class-direct-superclasses class))
          (sb-mop:remove-direct-subclass super class))))))

(defun delete-packages (packages)
  "Delete PACKAGES, which use nothing but each other and Lisp's."
  (dolist (package packages)
    (dolist (user (package-used-by-list package)) (unuse-package package user)))
  (mapc #'delete-package packages))

(defun retract-offers (version)
  "Make Emacs ask no function of VERSION any more. The property list is that of emacs/listeners.lisp."
  (let ((cell (get :swank-mcp :runtimes)))
    (when cell
      (sb-ext:atomic-update (car cell)
                            (lambda (runtimes)
                              (remove-if (lambda (name) (equal version (version-in-name name))) runtimes :key #'second))))))

(defun delete-version (version)
  "Delete what belongs to VERSION, unless a client uses it. A client that comes meanwhile waits, and loads it again."
  (let* ((packages (remove version (list-all-packages) :key #'package-version :test-not #'equal))
         (markers (remove-if-not (lambda (name) (and (get name :ready) (get name :lock)))
                                 (sort (loop for package in packages collect (intern (package-name package) "KEYWORD")) #'string<))))
    (call-while-not-loaded
     markers
     (lambda ()
       (when (unused-version-p version)
         (dolist (marker markers) (remprop marker :ready))
         ;; a client that has just seen that the version is loaded is guarded by now, or never
         (sleep 1/2)
         (cond ((used-p version) (dolist (marker markers) (setf (get marker :ready) t)))
               (t (retract-offers version)
                  (mapc #'unlink-classes packages)
                  (delete-packages packages))))))))

(defun delete-unused-versions ()
  "Delete the versions that no client uses, except the newest."
  (dolist (version (remove (get :swank-client :newest-version) (cons (own-version) (other-versions)) :test #'equal))
    (when (unused-version-p version)
      (recording-faults (delete-version version)))))

(defun note-guarded (connection)
  "Note that this version guards CONNECTION, and is the newest if it was not in the image before."
  (sb-ext:atomic-push connection (symbol-value '*guarded*))
  (ensure-later)
  (when (own-version)
    (setf (get :swank-client :newest-version) (own-version))
    (when (other-versions) (start-runtime-thread #'delete-unused-versions "swank-client clean-up"))))

(defun note-unguarded (connection)
  "Note that CONNECTION is closed and that nothing runs for it any more."
  (sb-ext:atomic-update (symbol-value '*guarded*) (lambda (connections) (remove connection connections)))
  (sb-thread:signal-semaphore *later-wanted*)
  (when (own-version) (delete-unused-versions)))
