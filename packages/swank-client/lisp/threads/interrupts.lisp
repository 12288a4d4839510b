;;;; Starts threads of the runtime, and makes another thread call a function.

(in-package #:swank-client/threads)

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

(defun in-foreign-code-p ()
  "True if this thread was interrupted in C code, judged by the address. It may hold malloc's lock, which unwinding would never release.
Newer SBCLs call malloc in the compiler. A thread that waits in a system call is in C code, too."
  (let ((address (interrupted-address)))
    (and address (>= address #x7f0000000000))))

(defun in-system-call-p ()
  "True if this thread was interrupted in a system call: the instruction that makes one, 0F 05 on x86-64, is before the interrupted address,
or at it if the kernel repeats the call. True on other processors, where this is not known."
  #+x86-64
  (let ((address (interrupted-address)))
    (and address
         (flet ((system-call-at-p (place)
                  (= #x050f (sb-sys:sap-ref-16 (sb-sys:int-sap place) 0))))
           (or (system-call-at-p (- address 2)) (system-call-at-p address)))))
  #-x86-64 t)

(defun may-hold-c-lock-p ()
  "True if this thread was interrupted while C code runs, outside a system call. A thread that is stopped or unwound inside malloc or dlsym
never releases their locks. Then nothing can be compiled in the image, and no stack can be read."
  (and (in-foreign-code-p) (not (in-system-call-p))))

(defun call-in-thread (thread wanted-p function &key (interrupt #'sb-thread:interrupt-thread) (patience 250))
  "Make THREAD call FUNCTION if WANTED-P, called there first, returns true.
A thread that may hold a shared lock, or in which interrupts stay disabled, is interrupted again 2 ms later, at most PATIENCE times.
INTERRUPT is called with THREAD and the function that THREAD is to call."
  (flet ((call ()
           (sb-sys:with-interrupts
             (cond ((not (funcall wanted-p)) nil)
                   ((and (plusp patience)
                         (or (cannot-enable-interrupts-p) (may-hold-c-lock-p)
                             (holds-mailbox-p) (holds-package-lock-p) (holds-world-lock-p)))
                    (call-later thread wanted-p function interrupt (1- patience)))
                   ((holds-mailbox-p) nil)
                   (t (funcall function))))))
    (handler-case (funcall interrupt thread #'call)
      ;; the thread has just ended
      (sb-thread:interrupt-thread-error () nil))))

(defun call-later (thread wanted-p function interrupt patience)
  "Do what CALL-IN-THREAD does, 2 ms later."
  (start-runtime-thread (lambda ()
                          (sleep 1/500)
                          (call-in-thread thread wanted-p function :interrupt interrupt :patience patience))
                        "swank-client interrupt"))

(defun queue-interrupt (thread function)
  "Make THREAD call FUNCTION as soon as Swank allows interrupts in it.
Swank's QUEUE-THREAD-INTERRUPT takes the lock on mailboxes in THREAD. If THREAD holds it already, that is an error, and so is each
message about the error, until SBCL ends the image."
  (call-in-thread thread
                  (constantly t)
                  (lambda ()
                    (when (invoke-or-queue-interrupt function) (wake-thread thread)))))
