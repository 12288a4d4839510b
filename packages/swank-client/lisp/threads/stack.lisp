;;;; The guard pages of the control stack.
;;;; When a thread reaches its guard page, SBCL signals the exhaustion, lowers that page, and protects the return guard page above it: the
;;;; next write there raises the guard page again. Up to SBCL 2.5 a new thread can get the stack of an exhausted thread in that state although
;;;; its thread structure says that the guard page is raised. The first write to its return guard page then ends the image.

(in-package #:swank-client/threads)

(defun thread-memory ()
  "The address of this thread's structure."
  (current-thread-offset-sap thread-this-slot))

(defun guard-page-lowered-p ()
  "True if this thread has exhausted its stack, and SBCL has not raised the guard page since."
  (or (null *thread-state-slot*)
      (zerop (sb-sys:sap-ref-8 (thread-memory) (* sb-vm:n-word-bytes *thread-state-slot*)))))

(defun restore-guard-page ()
  "Make SBCL raise its guard page again. Without that, the next exhaustion on this stack ends the image.
Call this after every exhaustion, even one that the code handled. It has no effect otherwise. The stack must be shallow."
  #+(and sbcl x86-64)
  (when (guard-page-lowered-p)
    (setf (sb-sys:sap-ref-8
           (sb-sys:int-sap (+ (sb-sys:sap-int (current-thread-offset-sap thread-control-stack-start-slot))
                              (* 2 (guard-page-size))
                              64))
           0)
          0)))

(defun protect-page (function protected)
  "Call FUNCTION, a C function of SBCL that protects or unprotects a guard page of this thread."
  (let ((address (sb-sys:find-foreign-symbol-address function)))
    (when address
      (sb-alien:alien-funcall
       (sb-alien:sap-alien (sb-sys:int-sap address) (function sb-alien:void sb-alien:int sb-sys:system-area-pointer))
       (if protected 1 0)
       (thread-memory)))))

(defun reset-guard-pages ()
  "Put the guard pages into the state that this thread's structure claims; an earlier thread may have left them otherwise."
  (unless (guard-page-lowered-p)
    (protect-page "protect_control_stack_guard_page" t)
    (protect-page "protect_control_stack_return_guard_page" nil)))

(defun repair-stack-of (thread)
  "After THREAD has ended, start a few threads that get its stack and reset its guard pages. A thread that does not end keeps its stack."
  (when (loop repeat 200 thereis (not (sb-thread:thread-alive-p thread)) do (sleep 1/20))
    (loop repeat 4
          do (start-runtime-thread (lambda () (reset-guard-pages) (sleep 1/10)) "swank-client stack"))))
