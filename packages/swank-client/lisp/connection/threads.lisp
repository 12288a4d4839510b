;;;; Threads of the runtime: which locks a thread must not hold when it is stopped, how it is interrupted, and how functions are encapsulated.

(in-package #:swank-client/connection)

(defun repair-stack-of (thread)
  "After THREAD has ended, start a few threads that get its stack and reset its guard pages. A thread that does not end keeps its stack."
  (when (loop repeat 200 thereis (not (sb-thread:thread-alive-p thread)) do (sleep 1/20))
    (loop repeat 4
          do (start-runtime-thread (lambda () (reset-guard-pages) (sleep 1/10)) "swank-client stack"))))

;;; Locks that a thread must not hold when it is stopped or unwound.

(defun own-lock-p (lock)
  "True if this thread holds LOCK. LOCK is NIL if this Lisp has no such lock."
  (and lock (eq (sb-thread:mutex-owner lock) sb-thread:*current-thread*)))

(defun holds-package-lock-p ()
  "True if this thread holds the lock on packages, which every reader in the image needs."
  (own-lock-p (package-graph-lock)))

(defun holds-world-lock-p ()
  "True if this thread is compiling, or changing classes or generic functions."
  (own-lock-p (world-lock)))

(defun holds-mailbox-p ()
  "True if this thread holds the lock of one of Swank's mailboxes.
Swank up to 2.30 does not expect an interrupt there: a message sent during the interrupt ends the image."
  (or (own-lock-p (mailbox-lock))
      (some (lambda (mailbox) (own-lock-p (mailbox.mutex mailbox))) *mailboxes*)))

(defun held-lock-text ()
  "The lock that this thread holds and others, or the debugger, need while it is stopped, in words; or NIL."
  (cond ((holds-package-lock-p) "the lock on packages")
        ((own-lock-p (static-linker-lock)) "the linker's lock")
        ((holds-mailbox-p) "a lock of Swank's mailboxes")))

(defun must-not-stop-here-p ()
  "True if this thread holds a lock that others, or the debugger, need while it is stopped."
  (and (held-lock-text) t))

;;; Other threads

(defun value-in-thread (symbol thread)
  "The value that THREAD binds SYMBOL to, or NIL if it has no binding or has ended."
  (values (nil-on cell-error (sb-thread:symbol-value-in-thread symbol thread nil))))

(defun debugger-level (thread)
  "The level of THREAD in Swank's debugger, 0 outside."
  (or (value-in-thread '*sldb-level* thread) 0))

;;; Starts threads of the runtime, and makes another thread call a function.

(defvar *code-session* nil "The session whose code this thread runs, or NIL.")

(defun start-runtime-thread (function name &rest arguments)
  "Start a thread of the runtime. It runs no client's code, and the user's breaks do not stop it."
  (let ((*code-session* nil))
    (sb-thread:make-thread (lambda ()
                             (let ((*break-on-signals* nil)) (apply function arguments)))
                           :name name)))

(defun cannot-enable-interrupts-p ()
  "True, inside WITH-INTERRUPTS, if this thread was interrupted while it entered or left WITHOUT-GCING.
SBCL binds two variables there, one after the other, and takes interrupts between the two. Interrupts then stay disabled: a thread that
stopped there would never take another one."
  (not sb-sys:*interrupts-enabled*))

(defun foreign-p (place)
  "True if PLACE, one of INTERRUPTED-PLACES, is in C code, or in a system call that C code makes."
  (>= (car place) #x7f0000000000))

(defun in-foreign-code-p ()
  "True if this thread was interrupted in C code. A thread that waits in a system call is in C code, too."
  (let ((place (first (interrupted-places))))
    (and place (foreign-p place))))

#+x86-64
(defun bytes-at-p (address bytes)
  "True if BYTES are in memory at ADDRESS."
  (loop for byte in bytes
        for offset from 0
        always (= byte (sb-sys:sap-ref-8 (sb-sys:int-sap address) offset))))

(defconstant +futex+ 202 "The number of the system call by which threads wait for each other.")

(defun waits-for-caller-p (place)
  "True if PLACE is in a system call that waits because the code that called C wants to, as SLEEP does. The C library's own calls, by which
malloc asks for memory and a thread waits for malloc's lock, are made with locks held. True on other processors, where this is not known."
  #+x86-64
  (destructuring-bind (address . result) place
    (let ((instruction '(#x0f #x05))
          (futex-of-caller '(#x4c #x8b #x4c #x24 #x08)))
      (cond ((bytes-at-p address instruction)
             ;; the kernel repeats the call, whose number this is; a wait for another thread that the caller wants goes through the function
             ;; syscall, which takes a sixth argument from the stack
             (or (/= +futex+ result) (bytes-at-p (- address (length futex-of-caller)) futex-of-caller)))
            ((bytes-at-p (- address (length instruction)) instruction)
             ;; EINTR; another result shows that the call has ended
             (= (- (expt 2 64) 4) (ldb (byte 64 0) result))))))
  #-x86-64 (progn place t))

(defun may-hold-c-lock-p ()
  "True if this thread was interrupted while C code runs. A thread that is stopped or unwound inside malloc or dlsym never releases their locks.
Then nothing can be compiled in the image, no stack can be read, and no evaluation begins.
Who unwinds an interrupt that came during another one also unwinds that, and what that has interrupted."
  (some (lambda (place) (and (foreign-p place) (not (waits-for-caller-p place)))) (interrupted-places)))

(defconstant +patience+ 250 "Times that a thread is interrupted again while it is not in a state to call a function.")

(defun not-now-p ()
  "True if this interrupted thread may hold a shared lock, or if interrupts stay disabled in it."
  (or (cannot-enable-interrupts-p) (may-hold-c-lock-p) (holds-mailbox-p) (holds-package-lock-p) (holds-world-lock-p)))

(defun await-interrupt (thread tried)
  "Wait until THREAD has signalled TRIED or ended. => true if it has signalled"
  (loop while (sb-thread:thread-alive-p thread)
        thereis (sb-thread:wait-on-semaphore tried :timeout 1)))

(defun await-depth (thread depth)
  "Wait 2 ms, and until THREAD has left the interrupt at DEPTH, unless it stops there. On a busy machine, leaving takes longer than 2 ms. The
next interrupt would be inside this one, and at the eighth level SBCL ends the image."
  (loop repeat 250
        do (sleep 1/500)
        while (>= (interrupt-depth thread) depth)))

(defun interrupt-unless-ended (thread function)
  "Interrupt THREAD to call FUNCTION. => NIL if it has just ended"
  (nil-on sb-thread:interrupt-thread-error (sb-thread:interrupt-thread thread function) t))

(defun call-in-thread (thread wanted-p function &key (interrupt #'interrupt-unless-ended) (ended (constantly nil)) (patience +patience+))
  "Make THREAD call FUNCTION if WANTED-P, called there first, returns true.
A thread in which NOT-NOW-P is true is interrupted again 2 ms later, at most PATIENCE times.
INTERRUPT is called with THREAD and the function that THREAD is to call, and returns NIL if THREAD must not be interrupted any more. ENDED is
called when FUNCTION has been left, or is not called."
  ;; a thread inside malloc cannot start the one that repeats: that needs memory, too
  (let ((tried (sb-thread:make-semaphore))
        (depth nil))
    (labels ((call ()
               (let ((repeated nil))
                 (unwind-protect
                      (sb-sys:with-interrupts
                        (cond ((not (funcall wanted-p)) nil)
                              ((and (plusp patience) (not-now-p))
                               ;; an interrupt that unwinds this one must not come between the three
                               (sb-sys:without-interrupts
                                 (setf repeated t
                                       depth (interrupt-depth thread))
                                 (sb-thread:signal-semaphore tried)))
                              ((holds-mailbox-p) nil)
                              (t (sb-thread:signal-semaphore tried)
                                 (funcall function))))
                   (unless repeated
                     (sb-thread:signal-semaphore tried)
                     (funcall ended)))))
             (send ()
               (setf depth nil)
               (unless (funcall interrupt thread #'call)
                 (sb-thread:signal-semaphore tried)
                 (funcall ended)))
             (repeat ()
               (loop while (and (await-interrupt thread tried) depth)
                     do (await-depth thread depth)
                        (decf patience)
                        (send))))
      (send)
      (let ((tried-p (sb-thread:wait-on-semaphore tried :timeout 1/1000)))
        (when tried-p (sb-thread:signal-semaphore tried))
        (when (or depth (not tried-p))
          (start-runtime-thread #'repeat "swank-client interrupt"))))))

;;; Swank's QUEUE-THREAD-INTERRUPT takes the lock on mailboxes in the thread. If the thread holds it already, that is an error, and so is each
;;; message about the error, until SBCL ends the image. And it loses an interrupt that comes after the thread has looked for interrupts, and
;;; before it waits for a message.

(defun wake-until (taken-p thread)
  "Wake THREAD, which waits for a message, until TAKEN-P is true."
  (loop for pause in '(1/50 1/10 1/2 2)
        do (sleep pause)
        until (or (funcall taken-p) (not (sb-thread:thread-alive-p thread)))
        do (wake-thread thread)))

(defun queue-interrupt (thread function)
  "Make THREAD call FUNCTION as soon as Swank allows interrupts in it."
  (let ((taken nil))
    (flet ((take () (setf taken t) (funcall function)))
      (call-in-thread thread
                      (constantly t)
                      (lambda ()
                        (when (and (invoke-or-queue-interrupt #'take) (not taken))
                          (wake-thread thread)
                          (start-runtime-thread #'wake-until "swank-client interrupt" (lambda () taken) thread)))))))

;;; Encapsulates functions of Lisp and Swank, and undoes it.

(defvar *encapsulation-lock*
  (or (get :swank-client :encapsulation-lock)
      (setf (get :swank-client :encapsulation-lock) (sb-thread:make-mutex :name "swank-client encapsulation")))
  "Held while any version of the library changes an encapsulation. If two threads encapsulate the same function at once, SBCL loses one
of the two encapsulations.")

(defun failure-of-change (change arguments)
  "Apply CHANGE to ARGUMENTS while no other thread changes an encapsulation. => NIL, or the error
The error is returned so that no thread enters the debugger with the lock."
  (with-system-mutex (*encapsulation-lock*)
    (handler-case (progn (apply change arguments) nil)
      (error (condition) condition))))

(defun change-encapsulation (change &rest arguments)
  "Apply CHANGE, which changes an encapsulation or prepares one, to ARGUMENTS, and retry if it fails.
SBCL first searches all compiled code for calls of the function by address. If another thread compiles or garbage is collected during the
search, it can run past the end (failed AVER in MAP-OBJECTS-IN-RANGE). Some calls may then go by name already, which is harmless, and the
change is tried again.
A thread that entered the debugger here would keep a lock that the compiler waits for."
  (loop with *break-on-signals* = nil
        repeat 50
        for failure = (failure-of-change change arguments)
        while (typep failure '(or bug sb-sys:memory-fault-error))
        do (sleep 1/100)
        finally (when failure (error failure))))

(defun note-for-core (name)
  "Note while the core of launched images is built that clients encapsulate the function NAME. See launch/core.lisp."
  (let ((noted (get :swank-client :encapsulated-for-core)))
    (when noted (pushnew name (cdr noted) :test #'equal))))

(defun encapsulate-function (name tag function)
  "Encapsulate the function NAME under TAG: calls of it call FUNCTION with the original function and the arguments."
  (change-encapsulation (lambda ()
                          (note-for-core name)
                          (encapsulate name tag function))))

(defun unencapsulate-function (name tag)
  "Undo ENCAPSULATE-FUNCTION of NAME under TAG."
  (change-encapsulation #'unencapsulate name tag))

;;; Calls by name only. SBCL's own code may go on calling the original function by address, and evaluated code calls every function by name.

(defun original-function (name)
  "The definition of NAME that was called by address when it was encapsulated, or NIL.
Every version of the library shares this record. It also keeps the function, which the garbage collector does not find in the calls."
  (getf (get :swank-client :called-by-address) name))

(defun leave-direct-calls (name)
  "Make the next encapsulation of NAME leave the calls by address as they are."
  (when (called-directly-p name)
    (setf (getf (get :swank-client :called-by-address) name) (symbol-function name))
    (note-direct-calls name nil)))

(defun restore-direct-calls (name)
  "Undo LEAVE-DIRECT-CALLS, unless NAME has another definition by now."
  (when (and (original-function name) (eq (original-function name) (symbol-function name)))
    (note-direct-calls name t)))

(defun encapsulate-calls-by-name (name tag function)
  "Encapsulate the function NAME under TAG, for callers that call it by its name. SBCL's own code may not."
  (change-encapsulation (lambda ()
                          (leave-direct-calls name)
                          (encapsulate name tag function))))

(defun unencapsulate-calls-by-name (name tag)
  "Undo ENCAPSULATE-CALLS-BY-NAME of NAME under TAG."
  (change-encapsulation (lambda ()
                          (unencapsulate name tag)
                          (restore-direct-calls name))))
