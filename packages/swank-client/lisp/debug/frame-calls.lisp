;;;; Whose a stopped thread is, the call in each of its frames, and whether that can begin again.

(defpackage #:swank-client/debug
  (:documentation "Frames, steps, breakpoints, and the threads of the image.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/sbcl-calls #:swank-client/swank-requests #:swank-client/swank-debugger
        #:swank-client/swank-connections #:swank-client/sbcl-threads #:swank-client/sbcl-functions #:swank-client/sbcl-references #:swank-client/printing
        #:swank-client/connection #:swank-client/session #:swank-client/evaluations #:swank-client/code-state #:swank-client/reading
        #:swank-client/conditions #:swank-client/calls #:swank-client/stack #:swank-client/variables #:swank-client/waits
        #:swank-client/snapshots)
  (:import-from #:swank-client/any-names #:accessible-symbol #:runtime-package-p #:version-symbols)
  (:import-from #:swank-client/sbcl-objects #:layout-class #:layout-of-instance #:obsolete-p #:structure-slot)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/sbcl-swank #:*sldb-stack-top* #:nth-frame)
  (:import-from #:swank-client/text #:setf-text-p #:trimmed)
  (:import-from #:swank-client/forms #:token-positions)
  (:import-from #:swank-client/names #:implementation-package-p #:live-packages #:symbol-named #:with-name-spelled #:with-names-spelled)
  (:import-from #:swank-client/objects #:drop-lookup #:new-number #:number-of #:numbered-values)
  (:import-from #:swank-client/evaluate #:abort-restart #:end-thread #:enter-interrupt #:give-code #:stop-own-thread #:unwind-evaluation)
  (:import-from #:swank-client/looks #:call-in-any-thread #:call-in-evaluation #:look-in-thread #:serving-name-p)
  (:export #:ask-stop #:breakpoint #:check-breakpoint #:connect #:continue-stop #:describe-foreign-stop #:disconnect #:end-thread-by
           #:eval-in-frame #:foreign-stops #:frame-locals #:frames #:implementation-name-p #:list-breakpoints #:list-threads
           #:missed-calls-reason #:missed-calls-sentence #:missing-package-name #:no-such-package #:optional #:parameters-of #:read-code
           #:read-name #:refused-code #:remove-breakpoint #:restart-frame #:return-from-frame #:same-target-p #:set-breakpoint #:step-on #:stop-thread
           #:unbreakable-method-reason #:unbreakable-reason #:value-at-call #:wrapper-of-kind))

(in-package #:swank-client/debug)

;;; Numbers values of stopped frames. A number is valid while the thread is stopped.

(defstruct listing
  "The objects listed for one stop. It lives as long as the stop's condition."
  thread
  ;; (FRAME NAME ID) -> number
  (numbers (make-hash-table :test 'equal))
  ;; number -> object
  (objects (make-hash-table :synchronized t)))

(defvar *listings* (make-hash-table :test 'eq :weakness :key :synchronized t) "Listings by the condition of the stop.")

(defun stopped-at-p (thread condition)
  "True while THREAD is stopped at CONDITION."
  (and (sb-thread:thread-alive-p thread)
       (eq condition (sb-thread:symbol-value-in-thread '*swank-debugger-condition* thread nil))))

(defun drop-ended-listings ()
  "Remove the listings of stops that have ended."
  (let ((ended (sb-ext:with-locked-hash-table (*listings*)
                 (loop for condition being the hash-keys of *listings* using (hash-value listing)
                       unless (stopped-at-p (listing-thread listing) condition) collect condition))))
    (dolist (condition ended) (remhash condition *listings*))))

(defun current-listing ()
  "The listing of the stop that this thread is in."
  (let ((condition *swank-debugger-condition*))
    (or (gethash condition *listings*)
        (progn (drop-ended-listings)
               (setf (gethash condition *listings*) (make-listing :thread sb-thread:*current-thread*))))))

;;; A number keeps neither the object nor the condition alive
(defun lookup-at (condition)
  "A function of a number that returns its object while the stop at CONDITION lasts."
  (let ((pointer (sb-ext:make-weak-pointer condition)))
    (lambda (number)
      (let* ((condition (sb-ext:weak-pointer-value pointer))
             (listing (and condition (gethash condition *listings*))))
        (cond ((and listing (stopped-at-p (listing-thread listing) condition))
               (values (gethash number (listing-objects listing))))
              (t (drop-lookup number)
                 (swank-objects:ref number)))))))

(defun object-number (key value)
  "The number for KEY in this thread's stop. It stays the same, and always leads to the latest VALUE."
  (let* ((listing (current-listing))
         (number (or (gethash key (listing-numbers listing))
                     (setf (gethash key (listing-numbers listing)) (new-number (lookup-at *swank-debugger-condition*))))))
    (setf (gethash number (listing-objects listing)) value)
    number))

;;; Identifies the owner of a thread in Swank's debugger: the connection that receives its stop.

(defvar *connection-numbers* (make-hash-table :test 'eq :weakness :key :synchronized t) "Numbers by connection.")

(defvar *last-connection* (list 0) "A cell with the latest number of a connection.")

(defun connection-number (connection)
  "A number that identifies CONNECTION as long as it exists."
  (sb-ext:with-locked-hash-table (*connection-numbers*)
    (or (gethash connection *connection-numbers*)
        (setf (gethash connection *connection-numbers*) (1+ (sb-ext:atomic-incf (car *last-connection*)))))))

(defun number-connections ()
  "Number the other connections, in the order of Swank's list, oldest first."
  (mapc #'connection-number (reverse (remove *emacs-connection* *connections*))))

(defun runtime-sessions ()
  "The tables of sessions by connection, one for each version of the runtime."
  (mapcar #'symbol-value (remove-if-not #'boundp (version-symbols "EVALUATE" "*SESSIONS*"))))

(defun connection-kind (connection)
  "The kind of CONNECTION's client: :GONE, :SWANK-CLIENT, :REPL or :OTHER."
  (cond ((not (member connection *connections*)) :gone)
        ((some (lambda (sessions) (gethash connection sessions)) (runtime-sessions)) :swank-client)
        ;; it has a REPL's streams; usually it is Emacs
        ((repl-p connection) :repl)
        (t :other)))

(defun recorded-agent (connection)
  "The name by which the image's record of agents has the client of CONNECTION, or NIL."
  ;; each version of the runtime has a record, if the module of that is loaded
  (loop for symbol in (version-symbols "EMACS" "*AGENTS*")
          thereis (and (boundp symbol) (values (gethash connection (symbol-value symbol))))))

(defun owner-plist (connection)
  "A plist that describes CONNECTION to another client."
  (let ((kind (connection-kind connection)))
    (list* :kind kind :connection (connection-number connection)
           (let ((agent (and (eq kind :swank-client) (recorded-agent connection))))
             (and agent (list :agent agent))))))

;;; The methods that the call in a frame runs, if it calls a generic function. All functions here run in the stopped thread.

(defun generic-call (frame)
  "=> the name of the generic function that FRAME calls, or NIL, the arguments, and the method that FRAME runs, or NIL"
  (let* ((name (called-name frame))
         (arguments (if (breakpoint-wrapper-p (frame-name frame)) (rest *breakpoint-call*) (frame-arguments frame))))
    (cond ((method-name-p name) (values (second name) arguments (named-method name)))
          ((and (legal-fun-name-p name) (generic-function-named name)) (values name arguments nil)))))

(defun more-specific-p (specializer class)
  "True if SPECIALIZER can apply to some but not all instances of CLASS."
  (if (typep specializer 'sb-mop:eql-specializer)
      (typep (sb-mop:eql-specializer-object specializer) class)
      (and (not (eq specializer class)) (subtypep specializer class))))

(defun unread-argument (function specializer position)
  "An argument for EFFECTIVE-METHODS in place of the one at POSITION, which the compiler has dropped in a method of FUNCTION with SPECIALIZER.
=> NIL if it is not known to which methods it leads"
  (cond ((null specializer) nil)
        ((typep specializer 'sb-mop:eql-specializer) (list :object (sb-mop:eql-specializer-object specializer)))
        ((notany (lambda (method) (more-specific-p (nth position (sb-mop:method-specializers method)) specializer))
                 (sb-mop:generic-function-methods function))
         (list :class specializer))))

(defun call-arguments (function arguments method)
  "The required ARGUMENTS of a call of the generic FUNCTION, for EFFECTIVE-METHODS; NIL for those that are unknown. The frame runs METHOD."
  (loop with specializers = (and method (sb-mop:method-specializers method))
        for position below (required-count function)
        for argument in arguments
        collect (if (unavailable-argument-p argument)
                    (unread-argument function (nth position specializers) position)
                    (list :object argument))))

(defun methods-of-call (frame)
  "The value of FRAME-METHODS for FRAME. It can fail."
  (multiple-value-bind (name arguments method) (generic-call frame)
    (let* ((function (and name (generic-function-named name)))
           (known (and function (call-arguments function arguments method))))
      (when (and known (= (length known) (required-count function)) (notany #'null known))
        (let ((methods (effective-methods function known)))
          (unless (and method (null (rest methods)))
            (method-entries name methods)))))))

(defun frame-methods (frame)
  "((TEXT NEXT) ...) for the methods that the call in FRAME runs, as METHOD-ENTRIES returns them.
NIL if it calls no generic function, if that runs only FRAME's method, or if the arguments are unknown."
  (unless (unread-frame-p frame)
    ;; generic functions about generic functions can have methods of the user
    (in-time nil (or-nil (methods-of-call frame)))))

;;; The call that a breakpoint stopped before it began. It has no frame yet: its variables are the parameters of the function. Code that
;;; sets one changes the argument with which the call then runs. All functions here run in the stopped thread.

(defun named-arguments (lambda-list arguments)
  "((NAME . VALUE) ...) for those ARGUMENTS that have a name in LAMBDA-LIST."
  (let ((place nil) (bindings '()) (rest arguments))
    (dolist (item lambda-list (nreverse bindings))
      (cond ((member item lambda-list-keywords) (setf place item))
            ((member place '(&rest &body)) (push (cons item rest) bindings))
            ((eq place '&key)
             (let ((value (getf rest (parameter-key item) rest)))
               (unless (eq value rest) (push (cons (parameter-name item) value) bindings))))
            ((and rest (member place '(nil &optional)))
             (push (cons (parameter-name item) (pop rest)) bindings))))))

(defun argument-bindings (lambda-list arguments)
  "((NAME . VALUE) ...) for the ARGUMENTS in a call of a function with LAMBDA-LIST."
  (or (nil-on error (named-arguments lambda-list arguments))
      (loop for argument in arguments
            for index from 0
            collect (cons (intern (format nil "ARG-~d" index) "KEYWORD") argument))))

;;; Parameters

(defstruct (binding (:copier nil))
  "The binding of a parameter in the stopped call."
  name
  ;; :POSITION, :REST, :KEY, :SUPPLIED (says whether WHOLE was passed) or :AUX
  kind
  ;; number of the positional parameters before it
  position
  ;; the keyword of a :KEY parameter, the parameter of a :SUPPLIED one
  whole
  ;; the form in the lambda list
  item)

(defun parameters-in (lambda-list)
  "The BINDINGs that LAMBDA-LIST binds."
  (loop with kind = :position and position = 0 and found = '()
        for item in lambda-list
        do (if (member item lambda-list-keywords)
               (setf kind (case item ((&rest &body) :rest) (&key :key) (&aux :aux) (t kind)))
               (let ((parameter (make-binding :name (parameter-name item) :kind kind :position position :item item
                                                :whole (and (eq kind :key) (parameter-key item)))))
                 (push parameter found)
                 (when (and (consp item) (third item) (not (eq kind :aux)))
                   (push (make-binding :name (third item) :kind :supplied :whole parameter) found))
                 (when (eq kind :position) (incf position))))
        finally (return (nreverse found))))

(defun stopped-parameters ()
  "The BINDINGs of the stopped call's function, or NIL if its lambda list does not fit the call."
  (unless (some #'keywordp (mapcar #'car *breakpoint-variables*))
    (nil-on error (parameters-in *breakpoint-lambda-list*))))

(defun parameter-passed-p (parameter)
  "True if the stopped call passes PARAMETER."
  (and (assoc (binding-name parameter) *breakpoint-variables*) t))

;;; Values

(defun stopped-parameter (name)
  "The BINDING of the parameter NAME of the stopped call."
  (or (find name (stopped-parameters) :key #'binding-name)
      (error "~a is a variable of a call that has not begun. Only the stopped thread can refer to it." name)))

(defun default-value (parameter)
  "The value that PARAMETER, for which the call passes no argument, will have. Signals an error if the function computes it."
  (let ((item (binding-item parameter)))
    (cond ((typep (nil-on error (fdefinition (first *breakpoint-call*))) 'generic-function)
           (error "The call passes no argument for ~a, and its method will compute the default." (binding-name parameter)))
          ((or (eq :aux (binding-kind parameter)) (and (consp item) (not (constantp (second item)))))
           (error "~a has no value yet: the function computes it when it begins." (binding-name parameter)))
          ((consp item) (eval (second item))))))

(defun stopped-argument (name)
  "The value of the parameter NAME in the stopped call."
  (let ((parameter (stopped-parameter name)))
    (cond ((eq :supplied (binding-kind parameter)) (parameter-passed-p (binding-whole parameter)))
          ((parameter-passed-p parameter) (cdr (assoc name *breakpoint-variables*)))
          (t (default-value parameter)))))

(defun arguments-with (parameter value arguments)
  "ARGUMENTS with VALUE for PARAMETER."
  (let* ((position (binding-position parameter))
         (count (length arguments))
         (name (binding-name parameter)))
    (flet ((positional (number) (subseq arguments 0 number)))
      (cond ((member (binding-kind parameter) '(:aux :supplied))
             (error "~a cannot be set before the call begins: the function computes it." name))
            ((> position count) (error "The call passes no argument for ~a. Set the optional parameters before it first." name))
            (t (ecase (binding-kind parameter)
                 (:position (append (positional position) (list value) (nthcdr (1+ position) arguments)))
                 (:rest (check-type value list)
                  (append (positional position) (copy-list value)))
                 (:key (let ((pairs (copy-list (nthcdr position arguments))))
                         (setf (getf pairs (binding-whole parameter)) value)
                         (append (positional position) pairs)))))))))

(defun (setf stopped-argument) (value name)
  "Make the stopped call pass VALUE for the parameter NAME."
  (setf (rest *breakpoint-call*) (arguments-with (stopped-parameter name) value (rest *breakpoint-call*))
        *breakpoint-variables* (argument-bindings *breakpoint-lambda-list* (rest *breakpoint-call*)))
  value)

;;; Evaluation

(defun parameters-of-kind (kind parameters)
  "The names of PARAMETERS that are variables of KIND, :UNKNOWN or :SPECIAL, outside the function."
  (remove kind (mapcar #'binding-name parameters)
          :test-not #'eq :key (lambda (name) (compiler-info :variable :kind name))))

(defun eval-with-arguments (form)
  "The values of FORM, which can read and set the parameters of the stopped call."
  (let* ((parameters (stopped-parameters))
         (specials (parameters-of-kind :special (remove-if-not #'parameter-passed-p parameters))))
    (eval `(let ,(loop for name in specials collect `(,name (stopped-argument ',name)))
             (symbol-macrolet ,(loop for name in (parameters-of-kind :unknown parameters) collect `(,name (stopped-argument ',name)))
               (multiple-value-prog1 ,form
                 ,@(loop for name in specials
                         collect `(unless (eq ,name (stopped-argument ',name)) (setf (stopped-argument ',name) ,name)))))))))

;;; Which frames can be restarted: those whose function can be called by its name. For a local function SBCL gives the function around it,
;;; and no closure for its variables. All functions here run in the stopped thread.

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
  (let* ((method (nil-on error (named-method name)))
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
          ((not (frame-has-debug-tag-p frame)) (values nil :no-tag))
          ((unread-frame-p frame) (values nil :arguments))
          ((macro-function-name-p name) (values (macro-function (second name)) (nth-value 1 (frame-call frame))))
          ((not (or (method-name-p name) (legal-fun-name-p name))) (values nil :local))
          (t (multiple-value-bind (arguments certainp) (repeating-arguments frame)
               (if certainp
                   (if (defaults-changed-p frame name)
                       (values nil :defaults)
                       (named-function-and-arguments name arguments))
                   (values nil :arguments)))))))

(defun named-function-and-arguments (name arguments)
  "The values of RESTARTED-FUNCTION for a frame that has called the function NAME with ARGUMENTS."
  (multiple-value-bind (function reason)
      (cond ((method-name-p name) (restarted-method name arguments))
            ((fboundp name) (fdefinition name))
            (t (values nil :undefined)))
    (cond ((null function) (values nil reason))
          ((argument-count-fits-p function (length arguments)) (values function arguments))
          (t (values nil :count)))))

(defun restartable-frame-p (frame &optional index)
  "True if FRAME can be restarted."
  (declare (ignore index))
  (and (or-nil (restarted-function frame)) t))
