;;;; Finds out that a request waits for a lock that a stopped thread holds. Such a wait lasts until a client ends the stop.

(in-package #:swank-client/connection)

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

(defun held-lock (id)
  "The lock that keeps request ID of this connection waiting if a stopped thread holds it, as (NAME COMPILERS-P THREAD-ID LEVEL), or NIL."
  (let ((thread (find-request *emacs-connection* id)))
    (and thread (awaited-lock thread #'stopped-p))))

(defun held-locks (ids)
  "The locks that keep requests IDS of this connection waiting if stopped threads hold them.
=> ((ID (NAME COMPILERS-P THREAD-ID LEVEL)) ...)"
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
                       for lock = (and thread (awaited-lock thread (complement #'awaited-mutex)))
                       when lock collect lock)))

(let ((offered (intern (package-name *package*) "KEYWORD")))
  (setf (get offered :held-locks) 'held-locks
        (get offered :serving-locks) 'serving-locks))
