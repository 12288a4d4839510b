;;;; Where an interrupt has met a thread.

(in-package #:@runtime@)

(defun interrupted-frames ()
  "The innermost frames that signals have broken into. There are several where one interrupt has met another."
  (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
        repeat 100
        while frame
        when (and (typep frame 'sb-di::compiled-frame) (sb-di::compiled-frame-escaped frame))
          collect frame))

(defun assembly-routine-p (function)
  "True of what has a name and no frame. C has frames, and its names are strings."
  (and (typep function 'sb-di::bogus-debug-fun)
       (symbolp (sb-di:debug-fun-name function))))

(defun at-edge-p (frame)
  "True if the function of FRAME has not set up its frame yet, or has given it up and is about to return."
  (let* ((function (sb-di:frame-debug-fun frame))
         (code (sb-di::compiled-debug-fun-component function))
         (pc (sb-di::compiled-code-location-pc (sb-di:frame-code-location frame))))
    (or (< pc (sb-c::compiled-debug-fun-start-pc (sb-di::compiled-debug-fun-compiler-debug-fun function)))
        #+x86-64
        (sb-sys:with-pinned-objects (code)
          (= #xC3 (sb-sys:sap-ref-8 (sb-kernel:code-instructions code) pc))))))

(defun caller-lost-p (frame)
  (let ((function (sb-di:frame-debug-fun frame)))
    (or (assembly-routine-p function)
        (and (typep function 'sb-di::compiled-debug-fun) (at-edge-p frame)))))

(defun caller-known-p ()
  "False if this thread was met between a caller and what it calls, or in one of the routines in assembly that arithmetic goes
through: SBCL leaves the caller out of the stack there, although it is what somebody who interrupts a loop looks for."
  ;; looking for frames asks the dynamic linker, and who is unwound in the middle of that keeps its lock for good
  (sb-sys:without-interrupts
    (notany #'caller-lost-p (interrupted-frames))))
