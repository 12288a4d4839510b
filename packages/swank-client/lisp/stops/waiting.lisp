;;;; What an interrupted thread was waiting for, read from its stack.

(in-package #:swank-client/stops)

(defun thread-text (thread)
  "THREAD as a report names it."
  (format nil "thread ~d~@[ ~a~]" (swank/backend:thread-id thread)
          (and (sb-thread:thread-name thread) (line-text (sb-thread:thread-name thread) 100))))

(defun mutex-wait-text (mutex)
  "The text for a thread that waits for MUTEX."
  (let ((owner (sb-thread:mutex-owner mutex)))
    (format nil "waiting for ~a~@[, held by ~a~]" (named-text "MUTEX" (sb-thread:mutex-name mutex))
            (and (typep owner 'sb-thread:thread) (thread-text owner)))))

(defun queue-wait-text (queue)
  "The text for a thread that waits for the condition variable QUEUE."
  (format nil "in CONDITION-WAIT on ~a" (named-text "WAITQUEUE" (sb-thread:waitqueue-name queue))))

(defun semaphore-wait-text (semaphore)
  "The text for a thread that waits for SEMAPHORE."
  (format nil "waiting for ~a" (named-text "SEMAPHORE" (sb-thread:semaphore-name semaphore))))

(defun join-text (thread)
  "The text for a thread that waits for the end of THREAD."
  (format nil "waiting for the end of ~a" (thread-text thread)))

(defun reading-text (stream)
  "The text for a thread that waits for input from STREAM."
  (format nil "reading from ~a" (line-text stream 200)))

(defparameter *waits*
  '(("CALL-WITH-MUTEX" sb-thread:mutex mutex-wait-text "waiting for a MUTEX")
    ("CALL-WITH-RECURSIVE-LOCK" sb-thread:mutex mutex-wait-text "waiting for a MUTEX")
    ("GRAB-MUTEX" sb-thread:mutex mutex-wait-text "waiting for a MUTEX")
    ;; waits with a timeout since SBCL 2.5
    ("CALL-WITH-MUTEX-TIMED" sb-thread:mutex mutex-wait-text "waiting for a MUTEX")
    ("CALL-WITH-RECURSIVE-LOCK-TIMED" sb-thread:mutex mutex-wait-text "waiting for a MUTEX")
    ("CONDITION-WAIT" sb-thread:waitqueue queue-wait-text "in CONDITION-WAIT")
    ;; since SBCL 2.5, CONDITION-WAIT itself is not on the stack
    ("%CONDITION-WAIT" sb-thread:waitqueue queue-wait-text "in CONDITION-WAIT")
    ("WAIT-ON-SEMAPHORE" sb-thread:semaphore semaphore-wait-text "waiting for a SEMAPHORE")
    ("JOIN-THREAD" sb-thread:thread join-text "waiting for the end of a thread")
    ("PROCESS-WAIT" nil nil "waiting for the end of a process")
    ("RUN-PROGRAM" nil nil "waiting for the end of a process")
    ("SLEEP" nil nil "sleeping")
    ;; the last call of SLEEP
    ("NANOSLEEP" nil nil "sleeping")
    ("%NANOSLEEP" nil nil "sleeping"))
  "((NAME TYPE FUNCTION TEXT) ...): Lisp's functions that wait. FUNCTION makes a text from the argument of TYPE; TEXT is shown without one.")

(defparameter *input-waits* '("WAIT-UNTIL-FD-USABLE" "REFILL-INPUT-BUFFER" "SYSREAD-MAY-BLOCK-P")
  "Lisp's functions that wait for input.")

(defun plain-name (frame)
  "The name of FRAME's function, without its package."
  (let ((symbol (name-symbol (frame-name frame))))
    (and symbol (symbol-name symbol))))

(defun argument-of-type (frame type)
  "An argument of FRAME's call that is of TYPE, or NIL if none can be read."
  (and type
       (called-by-program-p frame)
       (find-if (lambda (argument) (typep argument type)) (frame-arguments frame))))

(defun note-wait (object)
  "Record that this thread was interrupted while it waited for OBJECT."
  (let ((kind (typecase object
                (sb-thread:mutex :mutex)
                (sb-thread:waitqueue :queue)
                (sb-thread:semaphore :semaphore)
                (sb-thread:thread :join))))
    (when kind (setf *interrupted-wait* (cons kind object)))))

(defun wait-text (called inner)
  "The text for a thread in CALLED, the frame of Lisp's function that the user's code called, with the frames INNER above it; or NIL."
  (destructuring-bind (&optional name type function text)
      (find (plain-name called) *waits* :key #'first :test #'equal)
    (let ((object (argument-of-type called type)))
      (cond (object
             (note-wait object)
             (funcall function object))
            (name text)
            ((some (lambda (frame) (member (plain-name frame) *input-waits* :test #'equal)) inner)
             (reading-text (or (argument-of-type called 'stream) *standard-input*)))))))

(defun waiting-text (condition frames first-user)
  "What the thread waits for, if CONDITION interrupted a wait, with its call in the user's code; else NIL. FIRST-USER is an index in FRAMES."
  (when (and (typep condition 'interrupted) first-user (plusp first-user))
    (let ((text (ignore-errors (wait-text (nth (1- first-user) frames) (subseq frames 0 first-user)))))
      (and text
           (format nil "~a, in frame ~d: ~a" text first-user (frame-text (nth first-user frames) condition))))))

(defun waiting-plist (condition frames first-user)
  "What the thread waits for, as WAITING-TEXT says it, and the deadlock that this is part of."
  (let* ((waiting (waiting-text condition frames first-user))
         (cycle (and waiting *interrupted-wait* (ignore-errors (cycle-from sb-thread:*current-thread*)))))
    (append (and waiting (list :waiting waiting))
            (and cycle (list :deadlock (deadlock-text cycle))))))
