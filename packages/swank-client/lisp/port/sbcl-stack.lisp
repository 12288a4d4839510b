;;;; The control stack of a thread: its frames, its interrupts and its guard pages.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-stack
  (:documentation "The control stack of a thread: its frames, interrupts and guard pages.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:existing-symbols #:value-if-bound)
  (:import-from #:swank-client/any-lisp #:*after-exhaustion*)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:sb-alien #:alien-funcall)
  (:functions #:sb-debug #:frame-call #:frame-has-debug-tag-p #:unwind-to-frame-and-call)
  (:functions #:sb-di #:code-location-debug-source #:code-location-form-number #:code-location-toplevel-form-offset
                      #:compiled-code-location-pc #:compiled-code-location-step-info #:compiled-debug-fun-component #:compiled-frame-escaped
                      #:debug-fun-debug-vars #:debug-fun-fun #:debug-fun-kind #:debug-fun-lambda-list #:debug-fun-name #:debug-var-id
                      #:debug-var-symbol #:debug-var-validity #:debug-var-value #:fill-in-code-location #:find-stepped-frame
                      #:frame-code-location #:frame-debug-fun #:frame-down #:frame-pointer #:frame-up #:nth-interrupt-context #:top-frame)
  (:functions #:sb-kernel #:get-lisp-obj-address)
  (:functions #:sb-vm #:context-pc #:context-register #:current-thread-offset-sap)
  (:import-from #:sb-alien #:sap-alien)
  (:macros #:sb-di #:do-debug-block-locations #:do-debug-fun-blocks)
  (:variables #:sb-c #:+backend-page-bytes+)
  (:variables #:sb-debug #:*stack-top-hint*)
  (:variables #:sb-kernel #:*free-interrupt-context-index*)
  (:variables #:sb-vm #:lowtag-mask #:n-word-bytes #:thread-control-stack-start-slot #:thread-this-slot)
  (:types #:sb-di #:debug-var)
  (:import-from #:sb-alien #:int #:void)
  (:names #:sb-int #:&more)
  (:export #:&more #:*stack-top-hint* #:*thread-state-slot* #:code-location-debug-source #:code-location-form-number
           #:code-location-toplevel-form-offset #:compiled-code-location-pc #:compiled-code-location-step-info
           #:compiled-debug-fun-component #:compiled-frame-escaped #:debug-fun-debug-vars #:debug-fun-fun #:debug-fun-kind
           #:debug-fun-lambda-list #:debug-fun-name #:debug-var #:debug-var-id #:debug-var-symbol #:debug-var-validity #:debug-var-value
           #:do-debug-block-locations #:do-debug-fun-blocks #:fill-in-code-location #:find-stepped-frame #:frame-call #:frame-code-location
           #:frame-debug-fun #:frame-down #:frame-has-debug-tag-p #:frame-pointer #:frame-up #:guard-page-lowered-p #:interrupt-depth
           #:interrupted-places #:on-stack-p #:reset-guard-pages #:restore-guard-page #:top-frame #:unwind-to-frame-and-call
           #:with-own-alien-types))

(in-package #:swank-client/sbcl-stack)

(defun interrupt-depth (thread)
  "The number of interrupts, each inside the one before, that THREAD has not left; 0 if it has ended, or if this SBCL does not tell."
  (handler-case (values (sb-thread:symbol-value-in-thread '*free-interrupt-context-index* thread))
    (cell-error () 0)))

(defparameter *alien-comparison* (existing-symbols '(("SB-ALIEN" "*ALIEN-TYPE-MATCHES*")))
  "SBCL's variable with the table of the alien types that this thread is comparing, in a list; empty in an SBCL without it.")

(defmacro with-own-alien-types (&body body)
  "Evaluate BODY in an interrupt that may have met SBCL while it compares alien types, as it also does for each error, and for each look at an
interrupt. Its table is then half changed: an error inside would be followed by another one, until SBCL ends the image."
  `(progv *alien-comparison* (mapcar (constantly nil) *alien-comparison*)
     ,@body))

(defun interrupted-places ()
  "((ADDRESS . RESULT) ...): where this thread was interrupted, and the number in the register for results of C, the innermost first. There are
several if interrupts were interrupted, and none outside of an interrupt, or if this SBCL does not tell."
  ;; others' interrupts do not have their own alien types
  (sb-sys:without-interrupts
    (with-own-alien-types
      (supported
       (loop for index from (1- *free-interrupt-context-index*) downto 0
             for context = (nth-interrupt-context index)
             for counter = (context-pc context)
             collect (cons (if (integerp counter) counter (sb-sys:sap-int counter))
                           (context-register context 0)))))))

(defparameter *within-stack-p*
  (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "CONTROL-STACK-POINTER-VALID-P") ("SB-DI" "CONTROL-STACK-POINTER-VALID-P")))))
  "SBCL's function that tells whether an address is in the stack of this thread; NIL in an SBCL without it.")

(defun on-stack-p (object)
  "True if OBJECT is, or may be, allocated on the stack of this thread: then it must not be used after its function has returned."
  (or (null *within-stack-p*)
      (funcall *within-stack-p* (sb-sys:int-sap (logandc2 (get-lisp-obj-address object) lowtag-mask)) nil)))

;;; The guard pages of the control stack.
;;; When a thread reaches its guard page, SBCL signals the exhaustion, lowers that page, and protects the return guard page above it: the
;;; next write there raises the guard page again. Up to SBCL 2.5 a new thread can get the stack of an exhausted thread in that state although
;;; its thread structure says that the guard page is raised. The first write to its return guard page then ends the image.

(defparameter *thread-state-slot* (value-if-bound (first (existing-symbols '(("SB-VM" "THREAD-STATE-WORD-SLOT")))))
  "The slot of a thread structure whose first byte says whether the guard page is raised; NIL if this SBCL has no such slot.")

(defun thread-memory ()
  "The address of this thread's structure."
  (current-thread-offset-sap thread-this-slot))

(defun guard-page-lowered-p ()
  "True if this thread has exhausted its stack, and SBCL has not raised the guard page since."
  (or (null *thread-state-slot*)
      (supported (zerop (sb-sys:sap-ref-8 (thread-memory) (* n-word-bytes *thread-state-slot*))))))

(defun restore-guard-page ()
  "Make SBCL raise its guard page again. Without that, the next exhaustion on this stack ends the image.
Call this after every exhaustion, even one that the code handled. It has no effect otherwise. The stack must be shallow."
  #+(and sbcl x86-64)
  (when (guard-page-lowered-p)
    (supported
     (setf (sb-sys:sap-ref-8
            (sb-sys:int-sap (+ (sb-sys:sap-int (current-thread-offset-sap thread-control-stack-start-slot))
                               (* 2 +backend-page-bytes+)
                               64))
            0)
           0))))

(setf *after-exhaustion* 'restore-guard-page)

(defun protect-page (function protected)
  "Call FUNCTION, a C function of SBCL that protects or unprotects a guard page of this thread."
  ;; dlsym holds a lock of the C library, which would be held for ever if an interrupt unwound this thread there
  (let ((address (sb-sys:without-interrupts (sb-sys:find-foreign-symbol-address function))))
    (when address
      (alien-funcall
       (sap-alien (sb-sys:int-sap address) (function void int sb-sys:system-area-pointer))
       (if protected 1 0)
       (thread-memory)))))

(defun reset-guard-pages ()
  "Put the guard pages into the state that this thread's structure claims; an earlier thread may have left them otherwise."
  (unless (guard-page-lowered-p)
    (supported
     (progn
       (protect-page "protect_control_stack_guard_page" t)
       (protect-page "protect_control_stack_return_guard_page" nil)))))
