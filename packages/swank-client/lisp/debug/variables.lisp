;;;; The variables of a frame, as they are named in the source.

(in-package #:swank-client/variables)

(defconstant +shown-locals+ 20 "Variables shown in a report.")

(defun hidden-variable-p (name)
  "True if NAME is not a variable of the user's source: if it is uninterned or belongs to Lisp or Swank."
  (or (null name)
      (and (symbolp name)
           (let ((package (symbol-package name)))
             (or (null package)
                 (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

;;; A name can have several bindings in a frame. SBCL records no scopes, only the places in the code where each variable has a value: in code
;;; compiled for debugging, an inner binding has one in fewer places.

(defun valid-places (variable debug-fun)
  "The number of places in DEBUG-FUN at which VARIABLE has a value."
  (let ((count 0))
    (or-nil
      (do-debug-fun-blocks (block debug-fun)
        (do-debug-block-locations (location block)
          (when (eq :valid (debug-var-validity variable location)) (incf count)))))
    count))

(defun innermost-first (variables debug-fun arguments)
  "VARIABLES, all of one name in DEBUG-FUN, with the innermost first. ARGUMENTS are its argument variables."
  (flet ((rank (variable)
           (list (valid-places variable debug-fun)
                 (if (member variable arguments) 1 0)
                 (debug-var-id variable))))
    (mapcar #'cdr
            (sort (loop for variable in variables collect (cons (rank variable) variable))
                  (lambda (one other) (loop for a in one for b in other unless (= a b) return (< a b)))
                  :key #'car))))

(defun argument-variables (debug-fun)
  "The variables in which DEBUG-FUN takes its arguments."
  (loop for item in (or-nil (debug-fun-lambda-list debug-fun))
        append (remove-if-not (lambda (part) (typep part 'debug-var)) (if (listp item) item (list item)))))

(defun argument-names (debug-fun)
  "The names of DEBUG-FUN's parameters. SBCL copies &OPTIONAL and &KEY arguments into variables that it does not record as arguments."
  (or-nil (parameter-names (frame-lambda-list debug-fun))))

(defun valid-variables (frame)
  "The variables of FRAME that have a value and that the user's source names."
  (loop with location = (frame-code-location frame)
        for variable across (or (debug-fun-debug-vars (frame-debug-fun frame)) #())
        when (and (not (hidden-variable-p (debug-var-symbol variable)))
                  (eq :valid (debug-var-validity variable location)))
          collect variable))

(defun binding-entries (variables frame arguments names)
  "Entries of FRAME-VARIABLES for VARIABLES, all of one name. ARGUMENTS and NAMES are the variables and the names of the parameters."
  (let ((variables (if (rest variables)
                       (innermost-first variables (frame-debug-fun frame) arguments)
                       variables)))
    (loop for (variable . outer) on variables
          for shadowed = nil then t
          collect (list :name (debug-var-symbol variable)
                        :id (debug-var-id variable)
                        :value (debug-var-value variable frame)
                        :variable variable
                        :argument (and (or (member variable arguments)
                                           (and (null outer) (member (debug-var-symbol variable) names)))
                                       t)
                        :shadowed shadowed))))

(defun bound-variables (frame names)
  "The entries of FRAME-VARIABLES for the variables of FRAME that have a value. NAMES are those of its parameters."
  (loop with arguments = (argument-variables (frame-debug-fun frame))
        with variables = (valid-variables frame)
        for name in (remove-duplicates (mapcar #'debug-var-symbol variables) :from-end t)
        append (binding-entries (remove name variables :key #'debug-var-symbol :test-not #'eq) frame arguments names)))

(defun dropped-names (frame)
  "The variables of FRAME's function, without its parameters, that may have lost their value before the end of their scope.
In code compiled for debugging, a variable without a value is out of scope."
  (unless (frame-has-debug-tag-p frame)
    (map 'list #'debug-var-symbol (debug-fun-debug-vars (frame-debug-fun frame)))))

(defun lost-variables (frame names known)
  "The entries of FRAME-VARIABLES for the variables of FRAME that have no value. NAMES are those of its parameters, KNOWN those with a value."
  (loop for name in (remove-duplicates (append names (dropped-names frame)) :from-end t)
        unless (or (hidden-variable-p name) (member name known))
          collect (list :name name :unavailable t :argument (and (member name names) t))))

(defun arguments-first (variables names)
  "VARIABLES, entries of FRAME-VARIABLES, with the arguments first, in the order of NAMES, those of the parameters."
  (flet ((rank (variable)
           (cond ((not (getf variable :argument)) most-positive-fixnum)
                 ((position (getf variable :name) names))
                 (t (length names)))))
    (stable-sort (copy-list variables) #'< :key #'rank)))

(defun read-variables (frame)
  "The entries of FRAME-VARIABLES for a FRAME whose variables can be read."
  (let* ((names (argument-names (frame-debug-fun frame)))
         (bound (bound-variables frame names)))
    (arguments-first (append bound (lost-variables frame names (loop for variable in bound collect (getf variable :name))))
                     (or names (mapcar #'debug-var-symbol (argument-variables (frame-debug-fun frame)))))))

(defun innermost-binding (name variables)
  "The entry for NAME of VARIABLES, entries of FRAME-VARIABLES, that no other binding shadows."
  (find-if (lambda (variable) (and (eq name (getf variable :name)) (not (getf variable :shadowed)))) variables))

(defun frame-variables (index)
  "((:NAME .. :ID .. :VALUE .. :VARIABLE .. :ARGUMENT .. :SHADOWED .. :UNAVAILABLE ..) ...) for the variables of frame INDEX.
The arguments are first. Among the bindings of one name, all but the innermost are shadowed. The compiler has dropped the value of unavailable ones. For a call that a breakpoint stopped, they are its arguments."
  (let ((frame (nth-frame index)))
    (cond ((breakpoint-wrapper-p (frame-name frame))
           (loop for (name . value) in *breakpoint-variables*
                 collect (list :name name :id 0 :value value :argument t)))
          ((or (entry-point-p frame) (unread-frame-p frame)) '())
          (t (recording-faults (read-variables frame))))))

(defun shadowing-variables (index)
  "((NAME PLACE) ...) for the names with several bindings in frame INDEX. PLACE reads or sets the innermost one."
  (loop with frame = (nth-frame index)
        with variables = (frame-variables index)
        for shadowed in (remove-duplicates (remove nil variables :key (lambda (variable) (getf variable :shadowed)))
                                           :key (lambda (variable) (getf variable :name)))
        for name = (getf shadowed :name)
        for variable = (getf (innermost-binding name variables) :variable)
        unless (eq (compiler-info :variable :kind name) :special)
          collect (list name `(debug-var-value ',variable ',frame))))

(defun variable-without-value (name)
  "Signals an error: the variable NAME has no value in the frame."
  (error "~a is a variable of this function, but the compiler keeps no value of it at this place. It can be neither read nor set here." name))

(defun (setf variable-without-value) (value name)
  "Signals an error: the variable NAME cannot be set to VALUE in the frame."
  (declare (ignore value))
  (variable-without-value name))

(defun function-variable-names (index)
  "The names of all variables of the function of frame INDEX, wherever they have a value."
  (let ((frame (nth-frame index)))
    (unless (or (breakpoint-wrapper-p (frame-name frame)) (entry-point-p frame) (unread-frame-p frame))
      (map 'list #'debug-var-symbol (or (debug-fun-debug-vars (frame-debug-fun frame)) #())))))

(defun valueless-variables (index)
  "((NAME PLACE) ...) for the variables of the function of frame INDEX that have no value in the frame. PLACE signals an error: code would
otherwise set a global variable of that name, or fail in SBCL."
  (let ((variables (frame-variables index)))
    (flet ((valued-p (name)
             (find-if-not (lambda (entry) (getf entry :unavailable))
                          (remove name variables :key (lambda (entry) (getf entry :name)) :test-not #'eq))))
      (loop for name in (remove-duplicates (append (mapcar (lambda (entry) (getf entry :name)) variables) (function-variable-names index)))
            unless (or (not (symbolp name)) (hidden-variable-p name) (valued-p name) (not (eq (compiler-info :variable :kind name) :unknown)))
              collect (list name `(variable-without-value ',name))))))

(defun same-value-p (one other)
  "True if ONE and OTHER are the same object, or were read from the same bits: reading an unboxed variable makes a new object each time."
  (or (eql one other)
      (and (sb-sys:system-area-pointer-p one) (sb-sys:system-area-pointer-p other) (sb-sys:sap= one other))))

(defun set-names (index before)
  "The names of the variables of frame INDEX whose values are no longer those in BEFORE, its FRAME-VARIABLES at an earlier time."
  (loop with frame = (nth-frame index)
        for entry in before
        for variable = (getf entry :variable)
        when (and variable (not (same-value-p (getf entry :value) (debug-var-value variable frame))))
          collect (variable-text (getf entry :name)) into names
        finally (return (remove-duplicates names :test #'string= :from-end t))))

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

(defun variable-marks (variable)
  "(MARK ...) for VARIABLE, an entry of FRAME-VARIABLES: :ARGUMENT, :SHADOWED, :UNAVAILABLE."
  (loop for mark in '(:argument :shadowed :unavailable)
        when (getf variable mark) collect mark))

(defun variable-value-text (variable limit)
  "The value of VARIABLE, an entry of FRAME-VARIABLES, on one line of at most LIMIT characters."
  (if (getf variable :unavailable)
      "#<not available>"
      (let ((value (getf variable :value)))
        (if (typep value '(or fixnum symbol character))
            (line-text value limit)
            (in-time (unprinted-text value) (object-text value limit #'line-text))))))

(defun caller-texts (index)
  "LOCAL-TEXTS of frame INDEX, a caller, without variables that have no value or are shadowed. SBCL's function for CALL-NEXT-METHOD has none."
  (let ((name (frame-name (nth-frame index))))
    (unless (and (consp name) (member (second name) '(call-next-method next-method-p)))
      (remove-if (lambda (local) (intersection '(:shadowed :unavailable) (cddr local))) (local-texts index)))))

(defun local-texts (index)
  "((NAME VALUE MARK ...) ...) for the variables of frame INDEX."
  (loop for variable in (frame-variables index)
        for name = (variable-text (getf variable :name))
        repeat +shown-locals+
        collect (let ((*report-place* (format nil "~a in frame ~d" name index)))
                  (list* name (variable-value-text variable 200) (variable-marks variable)))))
