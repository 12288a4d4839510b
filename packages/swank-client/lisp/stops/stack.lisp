;;;; The frames of a stopped thread, and the kind of each in a report.

(in-package #:swank-client/stops)

(defconstant +snapshot-frames+ 200 "Frames examined for one report.")

(defun loaded-form-name-p (name)
  "True if NAME is that of the code of a top-level form in a compiled file."
  (or (equal name "top level form") ; since SBCL 2.5
      (and (consp name) (symbolp (first name)) (string= "TOP-LEVEL-FORM" (first name)))))

(defun system-name-p (name)
  "True if NAME is that of a function of Lisp or Swank between the user's code and the debugger."
  (let ((symbol (and (not (loaded-form-name-p name)) (name-symbol name))))
    (or (and (stringp name) (not (loaded-form-name-p name)))
        (member symbol '(error cerror warn signal break invoke-debugger no-applicable-method no-next-method
                         slot-unbound slot-missing update-instance-for-different-class))
        (let ((package (and symbol (symbol-package symbol))))
          (and package
               (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

(defun evaluator-name-p (name)
  "True if NAME is that of a function of SBCL's evaluator."
  (member name *evaluator-functions*))

(defun breakpoint-wrapper-p (name)
  "True if NAME is that of the frame of a breakpoint that stopped this thread; it stands in for the call that has not begun."
  (and *breakpoint-call* (consp name) (eq (first name) 'lambda) (eq :breakpoint (frame-role name))))

(defun frame-text (frame condition)
  "The call of FRAME, as text."
  (let ((name-alone (format nil "(~a ...)" (line-text (frame-name frame) +frame-text-limit+))))
    (in-time name-alone
      (cond ((breakpoint-wrapper-p (frame-name frame)) (line-text *breakpoint-call* +frame-text-limit+))
            ((mistaken-frame-p frame) "[unknown function]")
            ((arguments-unread-p frame) name-alone)
            (t (handler-case (printed-frame frame condition)
                 (serious-condition () "[error printing frame]")))))))

(defun printed-frame (frame condition)
  "The call of FRAME."
  (with-bounded-printing (:length 6 :level 4)
    (with-fast-number-printing ((frame-arguments frame))
      (let ((text (on-one-line (truncated +frame-text-limit+
                                          (lambda (stream) (print-call frame stream))))))
        (if (and (typep condition 'undefined-function) (eql 0 (search "(\"undefined function\"" text)))
            ;; the call that failed has no frame of its own
            (format nil "(~a~a" (line-text (cell-error-name condition) 100) (subseq text 21))
            text)))))

(defun evaluator-start (names base)
  "The index in NAMES of the first frame of the evaluator above BASE, that of a frame of the runtime."
  (let ((end (position 'eval names :end base :from-end t)))
    (cond ((null end) base)
          (t (loop while (and (plusp end) (evaluator-name-p (nth (1- end) names))) do (decf end))
             end))))

(defun home-of-name (name)
  "The package that owns the function NAME, or NIL."
  (let ((symbol (name-symbol name))) (and symbol (symbol-package symbol))))

(defun dispatching-name-p (name)
  "True if NAME is that of a frame between a generic function and its methods."
  (or (and (consp name) (eq 'call-next-method (second name)))
      (eq (find-package "SB-PCL") (home-of-name name))))

(defun family-name (package)
  "The part before a slash of the name of PACKAGE: a framework can have several packages."
  (let ((name (package-name package))) (subseq name 0 (position #\/ name))))

(defun framework-start (names base)
  "The index in NAMES of the first of the frames above BASE, that of CALL-FRAMEWORK, that are the framework's."
  (loop with framework = nil
        with start = base
        for index from (1- base) downto 0
        for name = (nth index names)
        unless (dispatching-name-p name)
          do (let ((home (home-of-name name)))
               (unless (and home (string= (family-name home) (or framework (family-name home)))) (return start))
               (setf framework (family-name home)
                     start index))
        finally (return start)))

(defun host-name-p (name)
  "True if NAME is that of a function with which a thread begins that the runtime did not start."
  (or (system-name-p name) (eq name 'eval)))

(defun host-start (names)
  "The index in NAMES, of a thread that the runtime did not start, of the first frame below the user's code; their number if all are Lisp's."
  (let ((last (position-if-not #'host-name-p names :from-end t)))
    (if last (1+ last) (length names))))

(defun loader-name-p (name)
  "True if NAME is that of a function with which SBCL or the runtime loads compiled code."
  (or (eq :loads (frame-role name)) (loading-function-p (name-symbol name))))

(defun own-start (names base)
  "The index in NAMES of the first frame above BASE, that of CALL-OWN, with which the runtime loads code for it, or BASE."
  (loop for start = base then (1- start)
        while (and (plusp start) (loader-name-p (nth (1- start) names)))
        finally (return start)))

(defun toplevel-start (names)
  "The index in NAMES, those of all frames, innermost first, of the first frame of the evaluator, the runtime or Swank below the user's code."
  (let ((base (position-if (lambda (name) (and (symbolp name) (member (frame-role name) '(:evaluates :runs :framework)))) names)))
    (if base
        (ecase (frame-role (nth base names))
          (:runs (own-start names base))
          (:framework (framework-start names base))
          (:evaluates (evaluator-start names base)))
        (host-start names))))

(defun point-of-stop-p (name condition)
  "True if NAME looks like machinery, but its frame is the call that caused the stop."
  (or (and (equal name "undefined function") (typep condition 'undefined-function))
      (breakpoint-wrapper-p name)))

(defun between-calls-p (name)
  "True if NAME is that of a frame of the stepper, a breakpoint, a trace, a profile or the running of tests between a caller and the function
that it calls."
  (let ((home (home-of-name name)))
    (or (member (frame-role name) '(:breakpoint :between))
        (and home (runtime-package-p home)))))

(defun frame-kinds (names condition)
  "The kinds of the frames with NAMES, those of all frames, innermost first, in a stop at CONDITION: :USER, :SYSTEM or :TOPLEVEL."
  (let* ((toplevel (toplevel-start names))
         (first (or (position-if-not (lambda (name) (and (system-name-p name)
                                                         (not (point-of-stop-p name condition))))
                                     names :end toplevel)
                    toplevel)))
    (loop for index from 0
          for name in names
          collect (cond ((>= index toplevel) :toplevel)
                        ((or (< index first) (and (> index first) (between-calls-p name))) :system)
                        (t :user)))))

(defun allocator-name-p (name)
  "True if NAME is that of a function of SBCL that allocates memory, or reports that none is left."
  (let ((symbol (name-symbol name)))
    (or (and (stringp name) (not (loaded-form-name-p name)))
        (eq symbol 'heap-exhausted-error)
        (and symbol (eq (symbol-package symbol) (find-package "SB-VM"))))))

(defun stack-top (condition)
  "The value of SB-DEBUG:*STACK-TOP-HINT* for a stop at CONDITION: the frame to show first.
SBCL gives the function that called ERROR. If the heap is exhausted, that is SBCL's allocator; the program called it."
  (or (and (typep condition 'heap-exhausted-error)
           (loop with found = nil
                 for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
                 while frame
                 do (when (eq (frame-name frame) 'heap-exhausted-error) (setf found t))
                    (when (and found (not (allocator-name-p (frame-name frame)))) (return frame))))
      sb-debug:*stack-top-hint*))

(defun stack-frames ()
  "All frames of this stopped thread."
  (loop for frame = *sldb-stack-top* then (sb-di:frame-down frame)
        while frame collect frame))

(defun stack-kinds (&optional (condition *swank-debugger-condition*))
  "The kinds of all frames of this thread, which is stopped at CONDITION."
  (frame-kinds (mapcar #'frame-name (stack-frames)) condition))

(defun first-frames (frames kinds condition)
  "((INDEX TEXT KIND) ...) of those among the first FRAMES that are not of kind :TOPLEVEL."
  (loop with only = (when (eq (first kinds) :toplevel)
                      ;; at least one frame: that of EVAL, with the form, if there is no other
                      (or (position 'eval frames :key #'frame-name) 0))
        ;; a reference must not lead to a frame that the report leaves out
        with listed = (or (find :user kinds) (first kinds))
        repeat +snapshot-frames+
        for frame in frames
        for kind in kinds
        for index from 0
        when (if only (eql index only) (not (eq kind :toplevel)))
          collect (let ((*report-place* (and (eq kind listed) (format nil "frame ~d" index))))
                    (list index (frame-text frame condition) kind))))

(defun first-users (kinds)
  "The indexes of the first two frames of the user among those of KINDS."
  (loop for kind in kinds
        for index from 0
        when (eq kind :user) collect index into users
        until (= 2 (length users))
        finally (return users)))
