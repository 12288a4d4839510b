;;;; The guard pages of the control stack.
;;;; When a thread reaches its guard page, SBCL signals the exhaustion, lowers that page, and protects the return guard page above it: the
;;;; next write there raises the guard page again. Up to SBCL 2.5 a new thread can get the stack of an exhausted thread in that state while
;;;; its own data says that the guard page is raised; the first write to its return guard page then ends the image.

(in-package #:@runtime@)

(defparameter *state-slot*
  (let ((slot (find-symbol "THREAD-STATE-WORD-SLOT" "SB-VM")))
    (and slot (boundp slot) (symbol-value slot)))
  "Where SBCL's data about a thread has, in the first byte, whether the guard page is raised; NIL if this SBCL has no such slot.")

(defun thread-memory ()
  "The address of SBCL's data about this thread."
  (sb-vm::current-thread-offset-sap sb-vm::thread-this-slot))

(defun guard-page-lowered-p ()
  "True if this thread has exhausted its stack, and SBCL has not raised the guard page since."
  (or (null *state-slot*)
      (zerop (sb-sys:sap-ref-8 (thread-memory) (* sb-vm:n-word-bytes *state-slot*)))))

(defun heal-stack ()
  "Let SBCL raise its guard page again, without which the next exhaustion on this stack ends the image.
Wanted after every exhaustion, also one that the code handled itself, and without effect otherwise. Only from a shallow stack."
  #+(and sbcl x86-64)
  (when (guard-page-lowered-p)
    (setf (sb-sys:sap-ref-8
           (sb-sys:int-sap (+ (sb-sys:sap-int (sb-vm::current-thread-offset-sap sb-vm::thread-control-stack-start-slot))
                              (* 2 sb-c::+backend-page-bytes+)
                              64))
           0)
          0)))

(defun protect-page (function protected)
  "Call one of SBCL's C functions that protect a guard page of this thread, or end its protection."
  (let ((address (sb-sys:find-foreign-symbol-address function)))
    (when address
      (sb-alien:alien-funcall
       (sb-alien:sap-alien (sb-sys:int-sap address) (function sb-alien:void sb-alien:int sb-sys:system-area-pointer))
       (if protected 1 0)
       (thread-memory)))))

(defun take-over-stack ()
  "Undo what an earlier thread may have left on the stack of this one: make the guard pages what SBCL takes them for."
  (unless (guard-page-lowered-p)
    (protect-page "protect_control_stack_guard_page" t)
    (protect-page "protect_control_stack_return_guard_page" nil)))

(defun take-over-stacks-of (thread)
  "Once THREAD has ended, start a few others, which get its stack and leave it in order. A thread that does not end keeps its stack."
  (when (loop repeat 200 thereis (not (sb-thread:thread-alive-p thread)) do (sleep 1/20))
    (loop repeat 4
          do (start-helper (lambda () (take-over-stack) (sleep 1/10)) "swank-client stack"))))

(defun leave-stack ()
  "Called before this thread is unwound: if it exhausted its stack and has no evaluation, which would do it, have its stack put in order."
  (when (and *state-slot* (null *evaluation*) (guard-page-lowered-p))
    (start-helper #'take-over-stacks-of "swank-client stack" sb-thread:*current-thread*)))
