;;;; The variables of a frame, as whoever wrote the function knows them.

(in-package #:@runtime@)

(defconstant +shown-locals+ 20)

(defun noise-p (name)
  "True of variables that no source of the user's has: uninterned ones, and those of Lisp's and Swank's own functions."
  (or (null name)
      (and (symbolp name)
           (let ((package (symbol-package name)))
             (or (null package)
                 (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

(defun entry-point-p (frame)
  "True of the frame of a function that has still to check its arguments. Its variables have no names, and where their number is
wrong, what is taken for their values are leftovers on the stack: the next garbage collection must not find those in a list."
  (eq :external (sb-di:debug-fun-kind (sb-di:frame-debug-fun frame))))

(defun frame-variables (index)
  "(:NAME .. :ID .. :VALUE ..) of the variables of frame INDEX. A call that a breakpoint stopped has its arguments."
  (let ((frame (swank/sbcl::nth-frame index)))
    (cond ((breakpoint-wrapper-p (frame-name frame))
           (loop for (name . value) in *breakpoint-variables* collect (list :name name :id 0 :value value)))
          ((entry-point-p frame) '())
          (t (remove-if (lambda (variable) (noise-p (getf variable :name)))
                        (ignore-errors (swank/backend:frame-locals index)))))))

(defun called-name (frame)
  "What FRAME's function is called; for the call that a breakpoint stopped, what that calls."
  (if (breakpoint-wrapper-p (frame-name frame))
      (first *breakpoint-call*)
      (frame-name frame)))

(defun code-package ()
  "The package of the code that is stopped. Swank notes it for what its clients evaluate, not for other threads."
  (if (boundp 'swank::*buffer-package*) swank::*buffer-package* *package*))

(defun frame-home (index)
  "The package in which somebody would write code for frame INDEX: where its function is at home, unless that is Lisp's own."
  (let* ((symbol (name-symbol (called-name (swank/sbcl::nth-frame index))))
         (package (and symbol (symbol-package symbol))))
    (if (and package (not (sb-ext:package-locked-p package)))
        package
        (code-package))))

(defun variable-text (name)
  "NAME without its package: code in a frame knows the frame's variables by their names alone."
  (let ((*package* (or (and (symbolp name) (symbol-package name)) *package*))
        (*print-gensym* nil))
    (handler-case (prin1-to-string name) (error () "?"))))

(defun local-texts (index)
  "((NAME VALUE) ...) of the variables of frame INDEX."
  (loop for variable in (frame-variables index)
        repeat +shown-locals+
        collect (list (variable-text (getf variable :name))
                      (line-text-in-time (getf variable :value) 200))))
