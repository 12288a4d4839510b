;;;; Going on from a stop: plainly, or to the next call. Everything here runs in the stopped thread.

(in-package #:@module@)

(defun offered (name)
  "The innermost restart of that name at this stop, in whatever package the name is: clients see names without packages."
  (find name swank::*sldb-restarts* :key #'restart-name :test #'string=))

(defun stepping-p ()
  (typep swank::*swank-debugger-condition* 'sb-ext:step-condition))

(defun continue-stop (level)
  "=> (:stale) | (:no-restart) | (:wrong-count FEWEST MOST), or does not return"
  (let ((restart (offered (if (stepping-p) 'sb-ext:step-continue 'continue))))
    (cond ((/= level swank::*sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          ((wrong-count restart 0))
          (t (when *step-wanted* (setf *step-wanted* :nowhere))
             (invoke-restart restart)))))

;;; Where the thread is

(defun frame-address (frame)
  "Callers have higher addresses than what they call."
  (sb-sys:sap-int (sb-di::frame-pointer frame)))

(defun current-frame ()
  "The innermost frame that is the user's own, or NIL."
  (let* ((condition swank::*swank-debugger-condition*)
         (frames (loop for frame = swank/sbcl::*sldb-stack-top* then (sb-di:frame-down frame)
                       repeat 200
                       while frame collect frame))
         (position (position :user (frame-kinds (mapcar #'frame-name frames) condition))))
    (and position (nth position frames))))

(defun at-breakpoint-p (frame)
  (and frame (breakpoint-wrapper-p (frame-name frame))))

(defun stepped-into-p (frame)
  "True if the stepper called FRAME's function to step into it, and so notices when it returns."
  (let ((caller (sb-di:frame-down frame)))
    (and sb-impl::*step-out* caller (between-calls-p (frame-name caller)))))

;;; Whether code can be stepped

(defun disassembly (code)
  (handler-case (with-output-to-string (out) (sb-disassem:disassemble-code-component code :stream out))
    (error () "")))

(defun compiled-for-stepping-p (code)
  "True of definitions in evaluations, which say so."
  (ignore-errors (getf (sb-c::debug-source-plist (sb-c::debug-info-source (sb-kernel:%code-debug-info code))) :for-stepping)))

(defun steppable-code-p (code)
  "Code that calls functions by name announces it, if it is compiled for that; code that calls nothing is as good."
  (or (compiled-for-stepping-p code)
      (let ((text (disassembly code)))
        (or (search "single-step" text)
            (not (or (search "CALL" text) (search "FDEFN" text)))))))

(defun own-definition (name)
  "The function of that NAME without what it is encapsulated in, which FDEFINITION leaves there in newer SBCLs."
  (loop with function = (fdefinition name)
        for encapsulation = (ignore-errors (sb-impl::encapsulation-info function))
        while encapsulation do (setf function (sb-impl::encapsulation-info-definition encapsulation))
        finally (return function)))

(defun called-functions (name arguments)
  "What a call of NAME runs: the methods that apply, or the function."
  (let ((function (own-definition name)))
    (if (typep function 'generic-function)
        (loop for method in (ignore-errors (compute-applicable-methods function arguments))
              collect (let ((function (sb-mop:method-function method)))
                        (or (ignore-errors (sb-pcl::%method-function-fast-function function)) function)))
        (list function))))

(defun function-code (function)
  (sb-kernel:fun-code-header (sb-kernel:%fun-fun function)))

(defun frame-code (frame)
  (sb-di::compiled-debug-fun-component (sb-di:frame-debug-fun frame)))

(defun codes-at (frame)
  (if (at-breakpoint-p frame)
      (destructuring-bind (name . arguments) *breakpoint-call*
        (mapcar #'function-code (called-functions name arguments)))
      (list (frame-code frame))))

(defun steppable-p (frame)
  "True also where it cannot be told. One of several methods is enough."
  (handler-case (some #'steppable-code-p (codes-at frame))
    (error () t)))

;;; Stepping

(defun step-from-step (mode)
  (ecase mode
    (:into (go-on 'sb-ext:step-into :anywhere))
    (:over (go-on 'sb-ext:step-next :anywhere))
    (:out (if (stepped-into-p swank/sbcl::*sldb-stack-top*)
              (go-on 'sb-ext:step-out :anywhere)
              (go-on 'sb-ext:step-next (outside swank/sbcl::*sldb-stack-top*))))))

(defun go-on (restart-name wanted)
  (setf *step-wanted* wanted
        swank::*sldb-stepping-p* t)
  (invoke-restart (offered restart-name)))

(defun outside (frame)
  (let ((here (frame-address frame)))
    (lambda (stepped) (> (frame-address stepped) here))))

(defun not-inside (frame)
  (let ((here (frame-address frame)))
    (lambda (stepped) (>= (frame-address stepped) here))))

(defun in-call (frame)
  "In the call that a breakpoint stopped at FRAME, which has no frame yet, but in nothing that it calls; or outside."
  (let ((codes (codes-at frame)) (outside-p (outside frame)))
    (lambda (stepped) (or (funcall outside-p stepped) (member (frame-code stepped) codes)))))

(defun wanted-from (frame mode)
  "Where to stop next."
  (cond ((or (null frame) (eq mode :into)) :anywhere)
        ((eq mode :out) (outside frame))
        ((at-breakpoint-p frame) (in-call frame))
        (t (not-inside frame))))

(defun begin-stepping (mode)
  "From a stop that is no step, such as a breakpoint."
  (let ((frame (current-frame)))
    (cond ((null (offered 'continue)) '(:not-steppable :no-way-on))
          ((not (or *evaluation* (at-breakpoint-p frame))) '(:not-steppable :foreign-thread))
          ((and frame (not (eq mode :out)) (not (steppable-p frame)))
           (list :not-steppable :code (called-function-text frame)))
          (t (sb-impl::enable-stepping)
             ;; what was stepped into further out is not what STEP-OUT would be about here
             (setf sb-impl::*step-out* nil)
             (go-on 'continue (wanted-from frame mode))))))

(defun step-on (level mode)
  "=> (:stale) | (:not-steppable REASON [FUNCTION]), or does not return"
  (cond ((/= level swank::*sldb-level*) '(:stale))
        ((stepping-p) (step-from-step mode))
        (t (begin-stepping mode))))
