;;;; The variables of a frame, as they are named in the source.

(in-package #:swank-client/stops)

(defconstant +shown-locals+ 20 "Variables shown in a report.")

(defun hidden-variable-p (name)
  "True if NAME is not a variable of the user's source: if it is uninterned or belongs to Lisp or Swank."
  (or (null name)
      (and (symbolp name)
           (let ((package (symbol-package name)))
             (or (null package)
                 (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

(defun entry-point-p (frame)
  "True if FRAME's function has not checked its arguments yet.
After a call with the wrong number of arguments the parameter slots hold garbage, which the garbage collector must not find in a list."
  (eq :external (sb-di:debug-fun-kind (sb-di:frame-debug-fun frame))))

(defun frame-variables (index)
  "((:NAME .. :ID .. :VALUE ..) ...) for the variables of frame INDEX. For a call that a breakpoint stopped, they are its arguments."
  (let ((frame (nth-frame index)))
    (cond ((breakpoint-wrapper-p (frame-name frame))
           (loop for (name . value) in *breakpoint-variables* collect (list :name name :id 0 :value value)))
          ((or (entry-point-p frame) (unread-frame-p frame)) '())
          (t (remove-if (lambda (variable) (hidden-variable-p (getf variable :name)))
                        (ignore-errors (swank/backend:frame-locals index)))))))

(defun called-name (frame)
  "The name of FRAME's function. For a call that a breakpoint stopped, the name of the called function."
  (if (breakpoint-wrapper-p (frame-name frame))
      (first *breakpoint-call*)
      (frame-name frame)))

(defun code-package ()
  "The package of the stopped code. Swank records it for its clients' requests, but not for other threads."
  (if (boundp '*buffer-package*) *buffer-package* *package*))

(defun frame-home (index)
  "The package for reading code in frame INDEX: that of the frame's function unless it is locked, else that of the stopped code."
  (let* ((symbol (name-symbol (called-name (nth-frame index))))
         (package (and symbol (symbol-package symbol))))
    (if (and package (not (sb-ext:package-locked-p package)))
        package
        (code-package))))

(defun variable-text (name)
  "NAME without its package: code in a frame refers to variables by name only."
  (let ((*package* (or (and (symbolp name) (symbol-package name)) *package*))
        (*print-gensym* nil))
    (handler-case (prin1-to-string name) (error () "?"))))

(defun local-texts (index)
  "((NAME VALUE) ...) for the variables of frame INDEX."
  (loop for variable in (frame-variables index)
        repeat +shown-locals+
        collect (list (variable-text (getf variable :name))
                      (line-text-in-time (getf variable :value) 200))))
