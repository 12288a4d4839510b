;;;; Finds out that a request waits for a lock that a stopped thread holds. Such a wait lasts until a client ends the stop.

(in-package #:swank-client/connection)

(defun stopped-holder (thread)
  "=> the lock that THREAD waits for, directly or through other threads that wait, and the stopped thread that holds it; or NIL"
  (loop repeat 20
        for lock = (awaited-mutex thread)
        for holder = (and lock (sb-thread:mutex-owner lock))
        while (typep holder 'sb-thread:thread)
        do (if (stopped-p holder)
               (return (values lock holder))
               (setf thread holder))))

(defun held-lock (id)
  "The lock that keeps request ID of this connection waiting if a stopped thread holds it, as (NAME COMPILERS-P THREAD-ID LEVEL), or NIL."
  (let ((thread (find-request *emacs-connection* id)))
    (multiple-value-bind (lock holder) (and thread (stopped-holder thread))
      (when lock
        (list (princ-to-string (sb-thread:mutex-name lock))
              (eq lock (world-lock))
              (swank/backend:thread-id holder)
              (value-in-thread '*sldb-level* holder))))))

(defun held-locks (ids)
  "The locks that keep requests IDS of this connection waiting if stopped threads hold them.
=> ((ID (NAME COMPILERS-P THREAD-ID LEVEL)) ...)"
  (loop for id in ids
        for lock = (held-lock id)
        when lock collect (list id lock)))

(setf (get (intern (package-name *package*) "KEYWORD") :held-locks) 'held-locks)
