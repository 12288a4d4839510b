;;;; Which frames can be restarted: those whose function can be called by its name. For a local function SBCL gives the function around it,
;;;; and no closure for its variables. All functions here run in the stopped thread.

(in-package #:swank-client/debugger)

(defun macro-function-name-p (name)
  "True if NAME is that of the expander of a macro that is defined."
  (and (consp name) (eq 'macro-function (first name)) (symbolp (second name)) (macro-function (second name))))

(defun called-by-name-p (method methods)
  "True if a call of the generic function by name runs METHOD in place of a call of it. METHODS are those of the call, see EFFECTIVE-METHODS.
Otherwise other methods would run twice, or before it."
  (and (eq method (first (first methods)))
       (or (null (rest methods))
           (equal '(:around) (method-qualifiers method))
           (notany #'method-qualifiers (mapcar #'first methods)))))

(defun restarted-method (name arguments)
  "=> the generic function of the method NAME, or NIL and the reason for which calling it with ARGUMENTS does not restart the method"
  (let* ((method (ignore-errors (named-method name)))
         (function (and method (generic-function-named (second name)))))
    (cond ((null function) (values nil :undefined))
          ((called-by-name-p method (effective-methods function (mapcar (lambda (argument) (list :object argument)) arguments))) function)
          (t (values nil :method)))))

(defun argument-count-fits-p (function count)
  "True if FUNCTION may take COUNT arguments."
  (let ((lambda-list (swank/backend:arglist function)))
    (or (not (listp lambda-list))
        (multiple-value-bind (fewest most) (lambda-list-range lambda-list)
          (<= fewest count (or most count))))))

(defun restarted-function (frame)
  "=> the function that restarting FRAME calls and its arguments, a list; or NIL and the reason for which FRAME cannot be restarted"
  (let ((name (frame-name frame)))
    (cond ((breakpoint-wrapper-p name) (values nil :not-begun))
          ((not (sb-debug:frame-has-debug-tag-p frame)) (values nil :no-tag))
          ((unread-frame-p frame) (values nil :arguments))
          (t (multiple-value-bind (known arguments) (frame-call frame)
               (declare (ignore known))
               (if (macro-function-name-p name)
                   (values (macro-function (second name)) arguments)
                   (named-function-and-arguments name arguments)))))))

(defun named-function-and-arguments (name arguments)
  "The values of RESTARTED-FUNCTION for a frame that has called the function NAME with ARGUMENTS."
  (multiple-value-bind (function reason)
      (cond ((not (or (method-name-p name) (sb-int:legal-fun-name-p name))) (values nil :local))
            ((or (not (listp arguments)) (some #'unavailable-argument-p arguments)) (values nil :arguments))
            ((method-name-p name) (restarted-method name arguments))
            ((fboundp name) (fdefinition name))
            (t (values nil :undefined)))
    (cond ((null function) (values nil reason))
          ((argument-count-fits-p function (length arguments)) (values function arguments))
          (t (values nil :count)))))

(defun restartable-frame-p (frame &optional index)
  "True if FRAME can be restarted."
  (declare (ignore index))
  (and (ignore-errors (restarted-function frame)) t))
