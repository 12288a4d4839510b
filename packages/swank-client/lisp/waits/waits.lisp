;;;; What threads wait for, read without disturbing them.

(in-package #:swank-client/waits)

(defvar *interrupted-wait* nil
  "(KIND . OBJECT), the wait that this stopped thread was interrupted in: it goes on waiting when it resumes.")

(defun wait-in-queue (queue)
  "=> :JOIN and the thread whose end is awaited in QUEUE, or :QUEUE and QUEUE"
  (let ((thread (find-if (lambda (thread) (ends-for-p thread queue)) (sb-thread:list-all-threads))))
    (if thread (values :join thread) (values :queue queue))))

(defun wait-in-system-call (thread &optional (attempts 3))
  "=> what THREAD does according to the system call it is in, and the object"
  (multiple-value-bind (kind object) (system-call-object thread (system-call thread))
    (cond ((not (eq kind :futex)) (values kind object))
          ((typep object 'sb-thread:mutex) (values :mutex object))
          (object (wait-in-queue object))
          ;; just after a garbage collection the object cannot be found
          ((plusp attempts) (wait-in-system-call thread (1- attempts)))
          (t :lock))))

(defun wait-of (thread)
  "=> what THREAD does, and the object of its wait
:MUTEX MUTEX, :QUEUE WAITQUEUE (that of a condition variable or a semaphore), :JOIN THREAD, :READ, :WRITE or :ACCEPT and a file descriptor,
:INPUT, :SLEEP, :PROCESS, :LOCK (some other lock), :C-LOCK, :MEMORY, :OTHER (another system call), :RUNNING, :STOPPED (in the debugger);
NIL if it is not known. A thread stopped in the debugger has the wait that it was interrupted in."
  (let ((interrupted (value-in-thread '*interrupted-wait* thread))
        (mutex (awaited-mutex thread)))
    (cond (interrupted (values (car interrupted) (cdr interrupted)))
          (mutex (values :mutex mutex))
          ((plusp (debugger-level thread)) :stopped)
          (t (wait-in-system-call thread)))))

(defun blocker (kind object)
  "The thread that ends a wait of KIND for OBJECT, or NIL if that is not known."
  (let ((blocker (case kind (:mutex (sb-thread:mutex-owner object)) (:join object))))
    (and (typep blocker 'sb-thread:thread) blocker)))

;;; Texts

(defun thread-number (thread)
  "Swank's id of THREAD; 0 while THREAD starts or ends."
  (or (swank/backend:thread-id thread) 0))

(defun named-text (type name)
  "TYPE with NAME, that of a lock or queue, which may be NIL."
  (format nil "~a~@[ ~a~]" type (and name (line-text name 100))))
