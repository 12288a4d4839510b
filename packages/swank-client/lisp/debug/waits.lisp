;;;; What threads wait for, and the cycles of threads that wait for each other.

(in-package #:swank-client/waits)

;;; What threads wait for, read without disturbing them.

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

(defun link-of (thread)
  "(THREAD KIND OBJECT BLOCKER) if THREAD waits for BLOCKER, else NIL."
  (multiple-value-bind (kind object) (wait-of thread)
    (let ((blocker (blocker kind object)))
      (and blocker (list thread kind object blocker)))))

(defun cycle-from (thread)
  "The links of the cycle that waiting for what THREAD waits for leads to, or NIL."
  (loop with links = '()
        for link = (link-of thread) then (link-of (fourth link))
        while link
        do (let ((known (member (first link) links :key #'first)))
             (push link links)
             (when known
               (let ((cycle (rest (member (first link) (reverse links) :key #'first))))
                 ;; waits that end while they are followed make no cycle
                 (return (and (every (lambda (link) (equal link (link-of (first link)))) cycle) (rotated cycle))))))))

(defun rotated (cycle)
  "CYCLE, beginning with the link of the thread with the least number, so that equal cycles are equal lists."
  (let* ((numbers (mapcar (lambda (link) (thread-number (first link))) cycle))
         (start (position (reduce #'min numbers) numbers)))
    (append (nthcdr start cycle) (subseq cycle 0 start))))

(defun wait-cycles (threads)
  "The cycles that THREADS wait in or for, each once."
  (remove-duplicates (remove nil (mapcar #'cycle-from threads)) :test #'equal))

(defun link-text (link)
  "LINK as text: 7 waits for MUTEX \"b\" held by 9."
  (destructuring-bind (thread kind object blocker) link
    (format nil "~d waits for ~a ~d" (thread-number thread)
            (if (eq kind :mutex) (format nil "~a held by" (named-text "MUTEX" (sb-thread:mutex-name object))) "the end of")
            (thread-number blocker))))

(defun deadlock-text (cycle)
  "CYCLE as text."
  (format nil "DEADLOCK: ~{~a~^, ~}" (mapcar #'link-text cycle)))

;;; What an interrupted thread was waiting for, read from its stack.

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

(defun bare-name (frame)
  "The name of FRAME's function, without its package."
  (let ((symbol (name-symbol (frame-name frame))))
    (and symbol (symbol-name symbol))))

(defun argument-of-type (frame type)
  "An argument of FRAME's call that is of TYPE, or NIL if none can be read."
  (and type
       (called-by-program-p frame)
       (find-if (lambda (argument) (typep argument type)) (frame-arguments frame))))

(defun note-interrupted-wait (object)
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
      (find (bare-name called) *waits* :key #'first :test #'equal)
    (let ((object (argument-of-type called type)))
      (cond (object
             (note-interrupted-wait object)
             (funcall function object))
            (name text)
            ((some (lambda (frame) (member (bare-name frame) *input-waits* :test #'equal)) inner)
             (format nil "reading from ~a" (line-text (or (argument-of-type called 'stream) *standard-input*) 200)))))))

(defun waiting-text (condition frames first-user)
  "What the thread waits for, if CONDITION interrupted a wait, with its call in the user's code; else NIL. FIRST-USER is an index in FRAMES."
  (when (and (typep condition 'interrupted) first-user (plusp first-user))
    (let ((text (recording-faults (wait-text (nth (1- first-user) frames) (subseq frames 0 first-user)))))
      (and text
           (format nil "~a, in frame ~d: ~a" text first-user (frame-text (nth first-user frames) condition))))))

(defun waiting-plist (condition frames first-user)
  "What the thread waits for, as WAITING-TEXT says it, and the deadlock that this is part of."
  (let* ((waiting (waiting-text condition frames first-user))
         (cycle (and waiting *interrupted-wait* (recording-faults (cycle-from sb-thread:*current-thread*)))))
    (append (and waiting (list :waiting waiting))
            (and cycle (list :deadlock (deadlock-text cycle))))))
