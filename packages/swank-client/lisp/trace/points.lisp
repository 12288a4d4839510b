;;;; The functions and methods whose calls a recording records. Functions are encapsulated, and methods wrapped, as for breakpoints.

(in-package #:swank-client/trace)

(declaim (ftype function watch-signals unwatch-signals))

(defconstant +package-limit+ 2000 "Most functions of a package that are traced.")

(defconstant +own-condition-limit+ 50 "If there are more functions, the condition cannot use their parameters by name.")

(defun make-recorder (point kind &optional inner)
  "The function that records a call of POINT. MAKE-WRAPPER explains KIND and INNER."
  (let ((recording (point-recording point)))
    (ecase kind
      (:function (lambda (function &rest arguments)
                   (recording-call (recording point arguments) (apply function arguments))))
      (:fast (lambda (slots next &rest arguments)
               (recording-call (recording point arguments) (apply inner slots next arguments))))
      (:slow (lambda (arguments next)
               (recording-call (recording point arguments) (funcall inner arguments next)))))))

;;; Names

(define-condition refused-point (error)
  ((reply :initarg :reply :reader refused-reply))
  (:documentation "A name of what to trace is refused. REPLY is (:refused NAME REASON KIND (SIMILAR ...))."))

(defun refuse (name reason kind &optional (similar '()))
  "Refuse NAME, a text, for REASON."
  (error 'refused-point :reply (list :refused name reason kind similar)))

(defun similar-functions (name package)
  "Names of functions accessible in PACKAGE that differ from NAME by a slip, and of functions with that NAME in other packages."
  (let ((found '()))
    (or-nil (do-symbols (symbol package)
              (when (and (fboundp symbol) (not (implementation-name-p symbol)) (slip-p name (symbol-name symbol)))
                (pushnew (readable-name symbol) found :test #'string=))))
    (let ((all (remove-duplicates (append (sort found #'string<) (symbols-elsewhere name name)) :test #'string= :from-end t)))
      (subseq all 0 (min +suggestions+ (length all))))))

(defun named-function (text)
  "The name of a function or method that TEXT is."
  (when (string= (trimmed text) "") (refuse text "It is empty." :name))
  (handler-case (read-name text)
    (no-such-package (problem)
      (refuse text (message-text problem) :undefined (similar-packages (missing-package-name problem))))
    (error (problem) (refuse text (message-text problem) :name))))

(defun similar-to (text)
  "Names of functions that are similar to TEXT, NAME or (setf NAME)."
  (multiple-value-bind (symbol status package name) (symbol-named text *package*)
    (similar-functions (if status (symbol-name symbol) name) (or package *package*))))

;;; Points

(defun new-point (recording name &optional method)
  "A point of RECORDING for the function NAME, or for METHOD of it."
  (let ((point (make-point :recording recording :session (run-session recording) :name name :method method)))
    (setf (point-text point) (line-text-in-time (if method (method-form name method) name) 200))
    point))

(defun point-of-text (recording text)
  "The point of RECORDING that TEXT names."
  (let ((name (named-function text)))
    (if (method-name-p name)
        (let ((method (handler-case (named-method name)
                        (error (problem) (refuse text (message-text problem) :name)))))
          (multiple-value-bind (reason kind) (unbreakable-method-reason (second name) method)
            (when reason (refuse text reason kind)))
          (new-point recording (second name) method))
        (multiple-value-bind (reason kind) (unbreakable-reason name)
          (when reason (refuse text reason kind (and (eq kind :undefined) (similar-to text))))
          (new-point recording name)))))

(defun package-functions (package)
  "The names of the functions that PACKAGE defines, which can be traced."
  (let ((names '()))
    (do-symbols (symbol package names)
      (when (eq package (symbol-package symbol))
        (dolist (name (list symbol (list 'setf symbol)))
          (when (and (fboundp name) (null (unbreakable-reason name)) (not (sb-int:info :function :source-transform name)))
            (pushnew name names :test #'equal)))))))

(defun points-of-package (recording text)
  "The points of RECORDING for all functions of the package that TEXT names."
  (let ((package (find-designated-package text)))
    (cond ((null package) (refuse text "There is no such package." :package (similar-packages (parsed-package text))))
          ((or (implementation-package-p package) (eq package (find-package "COMMON-LISP")))
           (refuse text "Lisp or Swank uses its functions all the time." :package))
          (t (let ((names (package-functions package)))
               (cond ((null names) (refuse text "It has no functions to trace." :package))
                     ((> (length names) +package-limit+)
                      (refuse text (format nil "It has ~d functions." (length names)) :package)))
               (loop for name in names collect (new-point recording name)))))))

(defun give-condition (points source)
  "Give POINTS the condition SOURCE."
  (handler-case
      (if (rest (nthcdr (1- +own-condition-limit+) points))
          (let ((code (read-code source '() "condition")))
            (dolist (point points) (setf (point-condition point) code)))
          (dolist (point points)
            (setf (point-condition point) (read-code source (parameters-of point) "condition"))))
    (refused-code (problem) (refuse source (message-text problem) :code))))

(defun find-points (recording names package condition)
  "The points of RECORDING, a run, for NAMES and for all functions of PACKAGE, with CONDITION."
  (let ((points (remove-duplicates (append (loop for name in names collect (point-of-text recording name))
                                           (and package (points-of-package recording package)))
                                   :test (lambda (one other)
                                           (and (equal (point-name one) (point-name other)) (eq (point-method one) (point-method other))))
                                   :from-end t)))
    (when condition (give-condition points condition))
    points))

(defun missed-texts (points)
  "Texts that say which calls of POINTS are not recorded."
  (loop for point in points
        for text = (and (null (point-method point))
                        (missed-calls-text (point-name point) "are not recorded"))
        when text collect (format nil "~a: ~a" (point-text point) text) into texts
        finally (return (subseq texts 0 (min 5 (length texts))))))

;;; On and off

(defun condition-true-p (recording point arguments)
  "True if the condition of POINT holds for ARGUMENTS. An error in it ends RECORDING."
  (or (null (point-condition point))
      (handler-case (value-at-call (point-condition point) point arguments)
        (error (problem)
          (setf (recording-failure recording) (report-text problem 500))
          (end-soon recording :failed)
          nil))))

(defun arm-point (point)
  "Make calls of POINT reach its recorder."
  (if (point-method point)
      (watch-method point)
      (encapsulate-function (point-name point) (point-tag point) (funcall (point-wrapper point) point :function))))

(defun disarm-point (point)
  "Undo ARM-POINT, also if that did not come to its end."
  (cond ((point-method point) (unwatch-method point))
        ((fboundp (point-name point)) (unencapsulate-function (point-name point) (point-tag point)))))

(defun arm-points (points armed run)
  "Arm POINTS, and note them in ARMED, unless RUN ends before."
  (dolist (point points)
    (unless (eq :open (run-end run)) (return))
    ;; first noted, so that it is switched off whatever happens
    (sb-ext:atomic-push point (armed-points armed))
    (arm-point point)))

(defun disarm-points (armed)
  "Disarm the points of ARMED. Any thread may call this, any number of times."
  (sb-thread:with-recursive-lock ((armed-lock armed))
    (loop for point = (first (armed-points armed))
          while point
          do (ignore-errors (disarm-point point))
             (sb-ext:atomic-update (armed-points armed) (lambda (points) (remove point points))))))

(defun switch-on-recording (recording points)
  "Record the calls of POINTS, and the conditions signalled in them, in RECORDING."
  (let ((start (nanoseconds-now)))
    (setf (recording-started recording) start)
    (arm-points points (recording-armed recording) recording)
    (watch-signals recording)
    (setf (recording-switching recording) (- (nanoseconds-now) start))))

(defun switch-off-recording (recording)
  "Undo SWITCH-ON-RECORDING. Any thread may call this, any number of times."
  (sb-thread:with-recursive-lock ((armed-lock (recording-armed recording)))
    (let ((start (nanoseconds-now)))
      (unless (recording-seconds recording)
        (setf (recording-seconds recording) (- start (recording-started recording))))
      (unwatch-signals recording)
      (disarm-points (recording-armed recording))
      (incf (recording-switching recording) (- (nanoseconds-now) start)))))
