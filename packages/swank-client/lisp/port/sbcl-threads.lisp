;;;; Clocks, and what SBCL and Linux know of a thread that waits.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-clock
  (:documentation "Clocks of the system.")
  (:use #:common-lisp)
  (:functions #:sb-unix #:clock-gettime)
  (:export #:nanoseconds-now #:nanoseconds-run))

(in-package #:swank-client/sbcl-clock)

;;; Clocks of the system. SBCL's GET-INTERNAL-REAL-TIME goes forward in steps of 4 ms on Linux.

(defconstant +monotonic+ #+linux 1 #+darwin 6 #-(or linux darwin) 4 "The system's number of the clock that is never set.")

(defconstant +processor+ #+linux 2 #+darwin 12 #-(or linux darwin) 15 "The system's number of the clock of the process's processor time.")

(declaim (inline nanoseconds-of))
(defun nanoseconds-of (clock)
  "The time of CLOCK, a number of the system's, in nanoseconds."
  (multiple-value-bind (seconds nanoseconds) (clock-gettime clock)
    (+ (* 1000000000 (the (unsigned-byte 32) seconds)) (the (unsigned-byte 32) nanoseconds))))

(defun nanoseconds-now ()
  "Nanoseconds since some moment in the past."
  (nanoseconds-of +monotonic+))

(defun nanoseconds-run ()
  "Nanoseconds of processor time that the process has used."
  (nanoseconds-of +processor+))

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-threads
  (:documentation "What SBCL and Linux know of a thread that waits, read without disturbing it.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:import-from #:swank-client/sbcl-system #:c-address-p)
  (:functions #:sb-kernel #:make-lisp-obj)
  (:functions #:sb-thread #:semaphore-queue #:thread-ephemeral-p #:thread-os-tid #:thread-primitive-thread #:thread-semaphore)
  (:variables #:sb-kernel #:*gc-inhibit*)
  (:variables #:sb-vm #:instance-pointer-lowtag #:instance-slots-offset #:lowtag-mask #:n-word-bytes #:thread-control-stack-end-slot
                      #:thread-control-stack-start-slot)
  (:export #:ends-for-p #:interruptible-p #:stack-instances #:system-call #:system-call-address #:system-call-deadline-p #:system-call-object
           #:thread-ephemeral-p))

(in-package #:swank-client/sbcl-threads)

;;; What SBCL and Linux know of a thread that waits. Nothing here disturbs the thread.

;;; Interrupts

(defun interruptible-p (thread)
  "True if THREAD allows interrupts and the garbage collection now, and no interrupt is waiting for it."
  (flet ((value (symbol) (nil-on cell-error (sb-thread:symbol-value-in-thread symbol thread nil))))
    (and (value 'sb-sys:*interrupts-enabled*)
         (not (value '*gc-inhibit*))
         (not (value 'sb-sys:*interrupt-pending*)))))

;;; System calls. Linux shows the call that a thread waits in.

(defparameter *system-calls*
  #+(and linux x86-64) '((:read 0 17 19 45 47 299) (:write 1 18 20 44 46 307) (:input 7 23 232 270 271 281) (:accept 43 288)
                         (:sleep 35 230) (:process 61 247) (:futex 202)
                         ;; memory and its protection: malloc may hold its lock
                         (:memory 9 10 11 12 25 28))
  #-(and linux x86-64) '()
  "((KIND NUMBER ...) ...) of system calls that wait.")

(defun task-file (thread name)
  "The file NAME of Linux about THREAD, or NIL."
  (let ((task (thread-os-tid thread)))
    (and *system-calls* task (plusp task)
         (format nil "/proc/self/task/~d/~a" task name))))

(defun file-lines (file count)
  "The first COUNT lines of FILE, a name or NIL; NIL if it cannot be read."
  (and file
       (nil-on (or file-error stream-error)
         (with-open-file (stream file)
           (loop repeat count for line = (read-line stream nil) while line collect line)))))

(defun words (line)
  "The words of LINE."
  (loop for start = 0 then (1+ end)
        for end = (position #\Space line :start start)
        collect (subseq line start end)
        while end))

(defun system-call (thread)
  "The words that Linux has for what THREAD does: the number of a call, its six arguments, stack and address; (\"running\"); NIL if unknown."
  (let ((line (first (file-lines (task-file thread "syscall") 1))))
    (and line (words line))))

(defun hexadecimal (word)
  "The number that WORD is, as in 0x1f; NIL if there is none."
  (and word (eql 0 (search "0x" word)) (parse-integer word :start 2 :radix 16 :junk-allowed t)))

(defun system-call-address (call)
  "The address at which the thread of CALL entered the kernel, or NIL."
  (and (= 9 (length call)) (hexadecimal (ninth call))))

(defun system-call-deadline-p (call)
  "True if CALL, a futex call, has a timeout."
  (not (eql 0 (hexadecimal (fifth call)))))

(defun lowtag-offset ()
  "The address of an object's first slot, on which threads wait, minus its tagged address."
  (- (* n-word-bytes instance-slots-offset) instance-pointer-lowtag))

(defun futex-object (thread call)
  "The mutex or wait queue on which THREAD waits in CALL, a futex call, or NIL."
  ;; opened first: SBCL makes a pathname, for which it takes a lock whose owner may wait for the collector
  (with-open-file (stream (task-file thread "syscall"))
    (sb-sys:without-gcing
      ;; the waiting thread's stack keeps the object where it is
      (multiple-value-bind (object valid) (make-lisp-obj (- (hexadecimal (second call)) (lowtag-offset)) nil)
        (and valid
             (typep object '(or sb-thread:waitqueue sb-thread:mutex))
             (equal (second call) (second (words (read-line stream nil ""))))
             object)))))

(defun system-call-object (thread call)
  "=> the kind of CALL, in which THREAD waits, and its object: a file descriptor, a mutex or a wait queue.
The kinds are those of *SYSTEM-CALLS*, :RUNNING, :C-LOCK, :OTHER, and NIL if nothing is known. The object may be NIL."
  (let* ((number (and call (parse-integer (first call) :junk-allowed t)))
         (kind (and number (first (find number *system-calls* :key #'rest :test #'member)))))
    (cond ((null call) nil)
          ;; "running", or -1 outside a call
          ((or (null number) (minusp number)) :running)
          ((member kind '(:read :write :accept)) (values kind (hexadecimal (second call))))
          ((not (eq kind :futex)) (or kind :other))
          ((c-address-p (hexadecimal (second call))) :c-lock)
          (t (values :futex (nil-on error (futex-object thread call)))))))

(defun ends-for-p (thread queue)
  "True if QUEUE is where threads wait for the end of THREAD."
  (let ((semaphore (nil-on error (thread-semaphore thread))))
    (and semaphore (eq queue (semaphore-queue semaphore)))))

;;; The stack of a thread that waits

(defconstant +stack-words+ 16384 "Words of a stack that are looked at.")

(defun word-at (address)
  "The word at ADDRESS."
  (sb-sys:sap-ref-word (sb-sys:int-sap address) 0))

(defun thread-word (thread slot)
  "The word of SBCL's own data of THREAD at SLOT, one of SB-VM's."
  (word-at (+ (thread-primitive-thread thread) (* slot n-word-bytes))))

(defun stack-instances (thread call)
  "The instances to which the stack of THREAD, which waits in the system call CALL, refers, those of the innermost frames first, with some that it no
longer uses. The thread is not stopped, and may go on meanwhile."
  (let ((start (and (= 9 (length call)) (hexadecimal (eighth call)))) (found '()))
    (when (and start (sb-thread:thread-alive-p thread))
      ;; a thread that ends meanwhile may give its stack back to the system
      (nil-on error
        (sb-sys:without-gcing
          (let ((end (thread-word thread thread-control-stack-end-slot)))
            (when (<= (thread-word thread thread-control-stack-start-slot) start end)
              (loop for address from start below (min end (+ start (* +stack-words+ n-word-bytes))) by n-word-bytes
                    for word = (word-at address)
                    when (= instance-pointer-lowtag (logand word lowtag-mask))
                      do (multiple-value-bind (object valid) (make-lisp-obj word nil)
                           (when (and valid (sb-ext:heap-allocated-p object)) (pushnew object found :test #'eq)))))))))
    (nreverse found)))
