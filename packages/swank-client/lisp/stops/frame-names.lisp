;;;; Names of the functions that frames run.

(in-package #:swank-client/stops)

(defun frame-function-name (frame)
  "The name of the function that FRAME runs, as SBCL reads the stack."
  (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))

;;; The call that exhausted the control stack. SBCL sets the frame pointer before it writes the new frame. If the write fails, SBCL takes the
;;; frame that has not begun for that of the caller, and what lies in it for a return address.

(defun signal-trampoline-p (name)
  "True if NAME is that of the frame through which SBCL leaves the handler of a signal."
  (and (stringp name) (search "post_signal_tramp" name) t))

(defun exhausting-frame-p (frame)
  "True if FRAME's function was running when the control stack was exhausted."
  (loop for inner = (sb-di:frame-up frame) then (sb-di:frame-up inner)
        for name = (and inner (frame-function-name inner))
        for signalp = (signal-trampoline-p name) then (or signalp (signal-trampoline-p name))
        while (and signalp (stringp name))
        finally (return (and signalp (eq name 'control-stack-exhausted-error)))))

(defun at-call-instruction-p (frame)
  "True if FRAME stands at an instruction that calls a function, or if that is not known."
  (handler-case
      (let ((code (compiled-debug-fun-component (sb-di:frame-debug-fun frame))))
        (sb-sys:with-pinned-objects (code)
          (search "CALL"
                  (with-output-to-string (out)
                    (sb-disassem:disassemble-memory
                     (sb-sys:sap+ (sb-kernel:code-instructions code) (compiled-code-location-pc (sb-di:frame-code-location frame)))
                     8 :stream out)))))
    (error () t)))

(defun mistaken-frame-p (frame)
  "True if FRAME's function is not known, because the call that exhausted the control stack had not written its return address."
  (let ((inner (sb-di:frame-up frame)))
    (and inner (exhausting-frame-p inner) (at-call-instruction-p inner))))

(defun frame-name (frame)
  "The name of the function that FRAME runs."
  (if (mistaken-frame-p frame) "unknown function" (frame-function-name frame)))

;;; Owners of names

(defun name-symbol (name)
  "The symbol whose package owns the function NAME; for a local function, that of the function around it."
  (typecase name
    (symbol name)
    (cons (loop for part in (or (rest (member :in name)) (rest name))
                when (and part (symbolp part) (not (keywordp part)) (not (member part lambda-list-keywords))) return part
                when (consp part) do (let ((found (name-symbol (cons nil part)))) (when found (return found)))))))
