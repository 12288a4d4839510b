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

(defun in-c-p (place)
  "True if PLACE, one of INTERRUPTED-PLACES, is in C code, or in a system call that C code makes."
  (c-address-p (car place)))

(defun in-foreign-code-p ()
  "True if this thread was interrupted in C code. A thread that waits in a system call is in C code, too."
  (let ((place (first (interrupted-places))))
    (and place (in-c-p place))))

#+x86-64
(defun bytes-at-p (address bytes)
  "True if BYTES are in memory at ADDRESS."
  (loop for byte in bytes
        for offset from 0
        always (= byte (sb-sys:sap-ref-8 (sb-sys:int-sap address) offset))))

(defconstant +futex+ 202 "The number of the system call by which threads wait for each other.")

(defparameter *memory-calls* '(9 10 11 12 25 28) "The numbers of the system calls by which malloc asks for memory.")

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
             (if (= +futex+ result)
                 (bytes-at-p (- address (length futex-of-caller)) futex-of-caller)
                 (not (member result *memory-calls*))))
            ((bytes-at-p (- address (length instruction)) instruction)
             ;; EINTR; another result shows that the call has ended
             (= (- (expt 2 64) 4) (ldb (byte 64 0) result))))))
  #-x86-64 (progn place t))

(defun places-in-c ()
  "Those of INTERRUPTED-PLACES where this thread runs code of C. A thread that is stopped or unwound inside malloc or dlsym never releases their
locks. Then nothing can be compiled in the image, no stack can be read, and no evaluation begins.
Who unwinds an interrupt that came during another one also unwinds that, and what that has interrupted."
  (remove-if-not (lambda (place) (and (in-c-p place) (not (waits-for-caller-p place)))) (interrupted-places)))

;;; A thread that calls functions later. An interrupt that has met malloc cannot start a thread, which needs memory, too; and while EXIT ends
;;; threads, who starts one waits for EXIT, which waits for them.

(defvar *guarded* '() "The connections that this version guards.")

(defvar *later* (list '()) "A cell with ((TIME . FUNCTION) ...), the latest first.")

(defvar *later-wanted* (sb-thread:make-semaphore :name "swank-client later") "Signalled when *LATER* or *GUARDED* has changed.")

(defvar *later-thread* nil "The thread that calls the functions in *LATER*, or NIL.")

(defvar *later-lock* (sb-thread:make-mutex :name "swank-client later") "Held while *LATER-THREAD* begins or ends.")

(defun call-later (seconds function)
  "Call FUNCTION, which must not wait, after SECONDS in the thread for that. Also for interrupts."
  (sb-ext:atomic-push (cons (+ (get-internal-real-time) (* seconds internal-time-units-per-second)) function) (car *later*))
  (sb-thread:signal-semaphore *later-wanted*))

(defun take-all ()
  "Take all of *LATER*."
  (let ((taken '()))
    (sb-ext:atomic-update (car *later*) (lambda (all) (setf taken all) '()))
    taken))

(defun take-due ()
  "Take from *LATER* what is due. => the functions, the first first, and the seconds until the next is due, or NIL"
  (let ((now (get-internal-real-time)) (all (take-all)))
    (multiple-value-bind (due rest) (values (remove now all :key #'car :test #'<) (remove now all :key #'car :test #'>=))
      (dolist (one rest) (sb-ext:atomic-push one (car *later*)))
      (values (mapcar #'cdr (sort due #'< :key #'car))
              (and rest (/ (- (reduce #'min rest :key #'car) now) internal-time-units-per-second))))))

(defun end-later-p (waited)
  "True, and *LATER-THREAD* is NIL, if this thread, which has WAITED in vain, is not needed."
  (sb-thread:with-mutex (*later-lock*)
    (when (and waited (null *guarded*) (null (car *later*)))
      (setf *later-thread* nil)
      t)))

(defun run-later ()
  "Call functions later, until the last client has gone."
  (loop with waited = nil
        until (end-later-p waited)
        do (multiple-value-bind (due pause) (take-due)
             (dolist (function due) (recording-faults (funcall function)))
             (setf waited (and (null due)
                               (not (sb-thread:wait-on-semaphore *later-wanted* :timeout (or pause (if *guarded* 3600 1)))))))))

(defun ensure-later ()
  "Start the thread that calls functions later, if there is none."
  (unless (or (and *later-thread* (sb-thread:thread-alive-p *later-thread*)) (exit-in-progress-p))
    (sb-thread:with-mutex (*later-lock*)
      (unless (and *later-thread* (sb-thread:thread-alive-p *later-thread*))
        (setf *later-thread* (start-runtime-thread #'run-later "swank-client later"))))))

;;; Interrupts

(defconstant +patience+ 250 "Times that a thread is interrupted again while it is not in a state to call a function.")

(defconstant +patience-in-c+ 10 "Times that a thread is interrupted again at the same place in C: code that holds malloc's lock goes on.")

(defun holds-needed-lock-p ()
  "True if this interrupted thread may hold a shared lock of Lisp's or Swank's, or if interrupts stay disabled in it."
  (or (cannot-enable-interrupts-p) (holds-mailbox-p) (holds-package-lock-p) (holds-world-lock-p)))

(defun interrupt-unless-ended (thread function)
  "Interrupt THREAD to call FUNCTION. => NIL if it has just ended"
  (nil-on sb-thread:interrupt-thread-error (sb-thread:interrupt-thread thread function) t))

(defun call-after-interrupt (thread depth function &optional (pauses 250))
  "Call FUNCTION later, after 2 ms, when THREAD has left the interrupt at DEPTH, at the latest after 2 ms times PAUSES: it may stop there. On a
busy machine, leaving takes long. The next interrupt would be inside this one, and at the eighth level SBCL ends the image."
  (call-later 1/500 (lambda ()
                      (if (and (plusp pauses) (>= (interrupt-depth thread) depth))
                          (call-after-interrupt thread depth function (1- pauses))
                          (funcall function)))))

(defun call-in-thread (thread wanted-p function &key (interrupt #'interrupt-unless-ended) (ended (constantly nil)) (patience +patience+))
  "Make THREAD call FUNCTION if WANTED-P, called there first, returns true.
A thread that may hold a shared lock, or runs C code, is interrupted again 2 ms later, at most PATIENCE times.
INTERRUPT is called with THREAD and the function that THREAD is to call, and returns NIL if THREAD must not be interrupted any more. ENDED is
called when FUNCTION has been left, or is not called, unless THREAD ends before it takes the interrupt."
  (let ((places '())
        (patience-in-c +patience-in-c+))
    (labels ((not-now-p ()
               (let ((before (shiftf places (places-in-c))))
                 (setf patience-in-c (if (equal before places) (1- patience-in-c) +patience-in-c+))
                 (or (and places (plusp patience-in-c))
                     (holds-needed-lock-p))))
             (call ()
               (let ((repeated nil))
                 (unwind-protect
                      (with-own-alien-types
                        (sb-sys:with-interrupts
                          (cond ((not (funcall wanted-p)) nil)
                                ((and (plusp patience) (not-now-p))
                                 ;; an interrupt that unwinds this one must not come between the two
                                 (sb-sys:without-interrupts
                                   (call-after-interrupt thread (interrupt-depth thread) #'repeat)
                                   (setf repeated t)))
                                ((holds-mailbox-p) nil)
                                (t (funcall function)))))
                   (unless repeated (funcall ended)))))
             (send ()
               (unless (funcall interrupt thread #'call) (funcall ended)))
             (repeat ()
               (decf patience)
               (send)))
      (sb-sys:without-interrupts
        (ensure-later)
        (send)))))

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
                          (call-later 0 (lambda ()
                                          (start-runtime-thread #'wake-until "swank-client interrupt" (lambda () taken) thread)))))))))

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

(defun guard-function (name tag function)
  "Do ENCAPSULATE-FUNCTION for what also goes on without it, in an SBCL that lacks what it needs."
  (supported (encapsulate-function name tag function)))

(defun unguard-function (name tag)
  "Undo GUARD-FUNCTION of NAME under TAG."
  (supported (unencapsulate-function name tag)))

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

;;; Stepping

(defun call-without-stepping (function)
  "Call FUNCTION without stepping into it."
  (if (supported (stepping-enabled-p))
      (unwind-protect (progn (supported (disable-stepping)) (funcall function))
        (supported (enable-stepping)))
      (funcall function)))
