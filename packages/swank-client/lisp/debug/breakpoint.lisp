;;;; A breakpoint on one function: its name, the code of its condition and log, what stands in for the function; and the records of breakpoints that do not stop.

(in-package #:swank-client/debug)

;;; Reads the name of the function or method that a breakpoint is set on.

;;; Reading

(defun use-internal-symbol (condition)
  "Accept APP:NAME if NAME is internal to APP, because people write it."
  (when (and (typep condition '(and simple-condition package-error)) (find-restart 'continue condition))
    (let ((name (first (simple-condition-format-arguments condition)))
          (package (find-package (package-error-package condition))))
      (when (and package (stringp name) (accessible-symbol name package))
        (continue condition)))))

(defun all-forms (source)
  "The forms of SOURCE. Internal symbols may be written with one colon."
  (handler-bind ((reader-error #'use-internal-symbol)) (source-forms source)))

(define-condition no-such-package (error)
  ((name :initarg :name :reader missing-package-name))
  (:report "There is no such package.")
  (:documentation "The name of a function names a package that does not exist."))

(defun name-forms (source)
  "The forms of SOURCE, the name of a function or method, read within the limits on data. No code in it is run."
  (check-literal source)
  (let ((forms (let ((*read-eval* nil) (*readtable* (bounded-readtable *readtable*)))
                 (with-literal-limits () (all-forms source)))))
    (unless (unshared-size-p forms 1000) (error "It is circular or too long."))
    forms))

(defun one-form-in (forms)
  "The only one of FORMS."
  (if (= (length forms) 1)
      (first forms)
      (error "Expected the name of one function, but got ~d forms." (length forms))))

(defun read-name (source)
  "The function's or method's name that SOURCE is in the current package: NAME, (setf NAME) or (method NAME ...). No code in it is run, and
NAME is not interned: a symbol of no package stands for an unknown one."
  (let ((text (trimmed source)) (setf-p (setf-text-p (trimmed source))))
    (cond ((and (plusp (length text)) (char= #\( (char text 0)) (not setf-p))
           (one-form-in (name-forms (with-names-spelled text))))
          (t (let ((*read-suppress* t)) (one-form-in (name-forms text)))
             (multiple-value-bind (symbol status package name prefix) (symbol-named text *package*)
               (unless package (error 'no-such-package :name prefix))
               (let ((symbol (if status symbol (make-symbol name))))
                 (if setf-p (list 'setf symbol) symbol)))))))

;;; Functions

(defun implementation-name-p (name)
  "True if NAME is that of a function that Lisp, its compiler or Swank uses all the time."
  (let* ((symbol (if (consp name) (second name) name))
         (package (symbol-package symbol)))
    (and package
         (or (sb-ext:package-locked-p package)
             (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK"))))))

(defun program-specializer-p (specializer)
  "True if SPECIALIZER is a class of the program, or an object of such a class."
  (let* ((object (if (typep specializer 'sb-mop:eql-specializer) (sb-mop:eql-specializer-object specializer) specializer))
         (name (cond ((typep object 'class) (class-name object))
                     ((symbolp object) object)
                     (t (class-name (class-of object))))))
    (and name (not (implementation-name-p name)))))

(defun unbreakable-method-reason (generic method)
  "The reason why no breakpoint can be set on METHOD of GENERIC and its kind, a keyword; or NIL.
Methods of Lisp's generic functions, such as PRINT-OBJECT, must be specialized on the program's classes."
  (cond ((null method) (values "There is no such method." :undefined))
        ((notany #'program-specializer-p (sb-mop:method-specializers method)) (unbreakable-reason generic))))

(defun unbreakable-reason (name)
  "The reason why no breakpoint can be set on NAME and its kind, a keyword; or NIL."
  (cond ((not (legal-fun-name-p name)) (values "It is not the name of a function." :name))
        ((not (fboundp name)) (values "There is no such function." :undefined))
        ((and (symbolp name) (macro-function name))
         (values "It is a macro: it runs when code is compiled, not when that code is called." :macro))
        ((and (symbolp name) (special-operator-p name)) (values "It is a special operator." :macro))
        ((implementation-name-p name) (values "Lisp, its compiler or Swank itself calls it." :used-by-lisp))))

(defun missed-calls-reason (name)
  "A control string for the reason why an encapsulation misses calls of NAME, or NIL. Its argument is true for several functions."
  (let ((inline (compiler-info :function :inlinep name)))
    (cond ((eq inline 'inline) "~:[It is~;They are~] declared inline: calls that were compiled inline")
          ((eq inline 'sb-ext:maybe-inline) "~:[It is~;They are~] declared maybe-inline: calls that were compiled inline")
          ((compiler-info :function :source-transform name) "Calls compiled with knowledge of ~:[its structure~;their structures~] are inlined and")
          ((compiler-macro-function name) "~:[It has a compiler macro~;They have compiler macros~]: calls that ~:[this macro~;these~] replaced"))))

(defun missed-calls-sentence (reason missed &optional several-p)
  "The sentence that calls are missed for REASON, as MISSED-CALLS-REASON returns it. MISSED is the predicate of these calls."
  (format nil "~? ~a." reason (list several-p several-p) missed))

(defun missed-calls-text (name missed)
  "A text that says which calls of NAME an encapsulation misses, or NIL. MISSED is the predicate of these calls."
  (let ((reason (missed-calls-reason name)))
    (and reason (missed-calls-sentence reason missed))))

;;; The code of a breakpoint: its condition, and the expression that it prints. Both can use the arguments of the call.

(defstruct code
  "Code that a breakpoint runs at a call."
  source
  ;; a function of the argument list and of the values of PARAMETERS
  function
  ;; the names of the parameters that the function takes
  parameters)

(define-condition refused-code (simple-error) ()
  (:documentation "The condition of a breakpoint, or the expression that it prints, cannot be read or compiled."))

;;; Parameters

(defun items-with-values (lambda-list)
  "The items of LAMBDA-LIST for which a call passes values."
  (loop with place = nil
        for item in lambda-list
        if (member item lambda-list-keywords) do (setf place item)
        else unless (eq place '&aux) collect item))

(defun passed-variable (item)
  "The variable of ITEM, a parameter, that says whether an argument was passed, or NIL."
  (and (consp item) (third item)))

(defun all-parameters (lambda-list)
  "The variables that a call of a function with LAMBDA-LIST binds."
  (nil-on error
    (loop for item in (items-with-values lambda-list)
          collect (parameter-name item)
          when (passed-variable item) collect it)))

(defun missing-values (lambda-list bindings)
  "((NAME . VALUE) ...) for the variables of LAMBDA-LIST that BINDINGS, of the arguments in a call, do not bind."
  (loop for item in (items-with-values lambda-list)
        for passed = (and (assoc (parameter-name item) bindings) t)
        unless passed collect (cons (parameter-name item) (and (consp item) (constantp (second item)) (or-nil (eval (second item)))))
        when (passed-variable item) collect (cons (passed-variable item) passed)))

(defun values-of-parameters (lambda-list arguments)
  "((NAME . VALUE) ...) for the variables that a call with ARGUMENTS of a function with LAMBDA-LIST binds.
A parameter without an argument has its default if that is a constant, else NIL."
  (let ((bindings (argument-bindings lambda-list arguments)))
    (append bindings (nil-on error (missing-values lambda-list bindings)))))

;;; Compiling

(defun bindable-p (symbol parameter)
  "True if code can refer to PARAMETER as SYMBOL, which has the same name."
  (member (compiler-info :variable :kind symbol) (if (eq symbol parameter) '(:unknown :special) '(:unknown))))

(defun mentions-p (form symbol)
  "True if FORM may refer to the variable SYMBOL. SBCL reads a comma as a structure."
  (typecase form
    (cons (or (mentions-p (car form) symbol) (mentions-p (cdr form) symbol)))
    (symbol (eq form symbol))
    (structure-object t)))

(defun code-variables (forms parameters)
  "((SYMBOL . PARAMETER) ...) for the symbols by which FORMS, code in the current package, refer to PARAMETERS."
  (loop for parameter in parameters
        append (loop for symbol in (remove-duplicates (list parameter (accessible-symbol (symbol-name parameter) *package*)))
                     when (and symbol (bindable-p symbol parameter) (mentions-p forms symbol)) collect (cons symbol parameter))))

(defun worth-reporting-p (condition text)
  "True if CONDITION, a warning with TEXT, says that code will fail."
  (or (not (typep condition 'style-warning))
      (search "undefined" text)))

(defun compiled-quietly (lambda-expression)
  "Compile LAMBDA-EXPRESSION without printing warnings. => the function, and the compiler's warnings, strings"
  (let ((warnings '()))
    (handler-bind ((warning (lambda (condition)
                              (let ((text (message-text condition)))
                                (when (worth-reporting-p condition text) (pushnew text warnings :test #'string=)))
                              (muffle-warning condition))))
      (values (compile nil lambda-expression) (nreverse warnings)))))

(defun compile-breakpoint-code (source lambda-list single)
  "Compile SOURCE, which can use the argument list as ARGS, and the parameters in LAMBDA-LIST by their names. If SINGLE, it must be one form.
=> a CODE, and the compiler's warnings, strings"
  (let* ((forms (all-forms source))
         (args (intern "ARGS"))
         (variables (remove args (code-variables forms (all-parameters lambda-list)) :key #'car))
         (names (mapcar #'car variables)))
    (unless forms (error "It contains no code."))
    (when (and single (rest forms))
      (error "It contains ~d forms, and only one value is printed: write (list ~{~a~^ ~})." (length forms)
             (loop for form in forms collect (line-text form 100))))
    (multiple-value-bind (function warnings)
        (compiled-quietly `(lambda (,args ,@names) (declare (ignorable ,args ,@names)) ,@forms))
      (values (make-code :source source :function function :parameters (mapcar #'cdr variables)) warnings))))

(defun read-code (source lambda-list what &key single)
  "Do what COMPILE-BREAKPOINT-CODE does, but signal a REFUSED-CODE for every error. WHAT says what the code is. => NIL if SOURCE is NIL"
  (when source
    (handler-case (compile-breakpoint-code source lambda-list single)
      (sb-ext:timeout (late) (error late))
      (error (problem)
        (error 'refused-code :format-control "Its ~a is refused: ~a" :format-arguments (list what (message-text problem)))))))

(defun values-of-code (code lambda-list arguments)
  "The values of CODE at a call with ARGUMENTS of a function that has LAMBDA-LIST now."
  (let* ((parameters (code-parameters code))
         (bindings (and parameters (values-of-parameters lambda-list arguments))))
    (apply (code-function code)
           (copy-list arguments)
           (loop for parameter in parameters
                 ;; a redefinition in another package has other symbols
                 collect (cdr (or (assoc parameter bindings :test #'string=)
                                  (error "The function no longer has a parameter ~a." parameter)))))))

;;; A breakpoint, and its name in texts.

(defstruct breakpoint
  "A breakpoint on a function or a method."
  id
  session
  connection
  ;; the name of the function, which is encapsulated unless the breakpoint is on a method
  name
  method
  ;; CODE, or NIL
  condition
  log
  ;; number of the first hit that stops
  (from 1)
  ;; NIL: the session's own evaluations; T: every thread; or a thread's id
  thread
  (hits (list 0))
  ;; calls in the watched threads, and all others
  (calls (list 0))
  (calls-elsewhere (list 0))
  ;; true after a call has stopped at another breakpoint on the function, from where it may never reach this one
  (stopped-before nil)
  ;; the values of DEEDS when the client was last told that it has done nothing, or NIL
  (told '())
  ;; what LOG gave outside running evaluations of the session: the last lines, latest first
  (lines '())
  ;; the error of the condition; after that the breakpoint never fires
  (failure nil)
  (tag (gensym "BREAKPOINT"))
  ;; the generic functions whose dispatch has a wrapper for it
  (generics '())
  ;; makes the functions that run before the calls, as MAKE-WRAPPER does
  (wrapper 'make-wrapper)
  ;; true after it was removed: calls that began before may still run its wrapper
  (removed nil))

(defvar *breakpoints* (make-hash-table :synchronized t) "Breakpoints by id.")

(defvar *last-breakpoint* (list 0) "A cell with the id of the latest breakpoint.")

(defun place-text (breakpoint)
  "The function or method of BREAKPOINT, as text."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (function-text (if method (method-form name method) name))))

(defun same-target-p (one other)
  "True if the breakpoints ONE and OTHER are on the same function or method."
  (let ((method (breakpoint-method one)) (other-method (breakpoint-method other)))
    (and (equal (breakpoint-name one) (breakpoint-name other))
         (if (and method other-method) (same-place-p method other-method) (eq method other-method)))))

(defun parameters-of (breakpoint)
  "The lambda list of the function or method of BREAKPOINT as it is now."
  (let* ((name (breakpoint-name breakpoint))
         (method (and (breakpoint-method breakpoint) (current-method name (breakpoint-method breakpoint)))))
    (if method (sb-mop:method-lambda-list method) (swank/backend:arglist name))))

;;; Breakpoints on methods, and the records of breakpoints that do not stop.

;;; Makes single methods reach their breakpoints. SBCL calls methods through functions that it builds when a generic function is first called
;;; with arguments of certain classes. While such a breakpoint exists, an encapsulation of the builder wraps the method's function, however
;;; the method is called.

(defvar *method-breakpoints* '() "The breakpoints on methods. Changed only with *METHOD-BREAKPOINTS-LOCK* held, and never destructively.")

(defvar *method-breakpoints-lock* (sb-thread:make-mutex :name "swank-client method breakpoints")
  "Held while *METHOD-BREAKPOINTS* changes.")

(defconstant +renewal-seconds+ 2 "Seconds to wait until SBCL has renewed a generic function.")

;;; Encapsulations, while there is a breakpoint on a method

(defvar *matching* nil "True while breakpoints are matched: the generic functions called for that have none, and would be matched without end.")

(defun breakpoints-where (wanted-p generic-function)
  "The breakpoints, oldest first, on methods of GENERIC-FUNCTION that WANTED-P returns true for. Redefinition replaces generic functions
and methods, so they are compared by name and place."
  (unless (or *matching* (null *method-breakpoints*))
    (let* ((*matching* t)
           (name (sb-mop:generic-function-name generic-function)))
      (remove-if-not (lambda (breakpoint)
                       (and (equal name (breakpoint-name breakpoint))
                            (funcall wanted-p (breakpoint-method breakpoint))))
                     *method-breakpoints*))))

(defun breakpoints-on (generic-function method)
  "The breakpoints on METHOD of GENERIC-FUNCTION, oldest first."
  (breakpoints-where (lambda (watched) (same-place-p method watched)) generic-function))

(defun wrap-method (build generic-function method function fast-p)
  "Encapsulates the builder BUILD: wrap FUNCTION, which runs METHOD, for each breakpoint on METHOD. FAST-P tells its calling convention."
  (let ((wrapped (funcall build generic-function method function fast-p)))
    (when (typep method 'method)
      (dolist (breakpoint (breakpoints-on generic-function method))
        (pushnew generic-function (breakpoint-generics breakpoint))
        (setf wrapped (funcall (breakpoint-wrapper breakpoint) breakpoint (if fast-p :fast :slow) wrapped))))
    wrapped))

(defun without-shortcut (shortcut generic-function &rest arguments)
  "Encapsulates SHORTCUT: false if GENERIC-FUNCTION has a method with a breakpoint."
  (if (breakpoints-where (constantly t) generic-function)
      nil
      (apply shortcut generic-function arguments)))

(defun without-constructor (shortcut methods &rest arguments)
  "Encapsulates SHORTCUT: true if one of METHODS has a breakpoint."
  (or (and *method-breakpoints*
           (some (lambda (method) (breakpoints-on (sb-mop:method-generic-function method) method)) methods))
      (apply shortcut methods arguments)))

(defun dispatch-encapsulations ()
  "((FUNCTION ENCAPSULATION) ...) for functions of SBCL."
  (append (list (list 'maybe-trace-method #'wrap-method))
          (loop for name in *accessor-shortcuts* collect (list name #'without-shortcut))
          (loop for name in *constructor-shortcuts* collect (list name #'without-constructor))))

(defun encapsulate-dispatch ()
  "Encapsulate the functions of SBCL that build calls of methods."
  (loop for (name function) in (dispatch-encapsulations)
        do (encapsulate-function name '*method-breakpoints* function)))

(defun unencapsulate-dispatch ()
  "Undo ENCAPSULATE-DISPATCH."
  (loop for (name) in (dispatch-encapsulations)
        do (unencapsulate-function name '*method-breakpoints*)))

;;; Renewing generic functions

(defun renew-generics (functions breakpoint)
  "Make calls of the generic FUNCTIONS run the current wrappers of the method of BREAKPOINT.
Another thread does it: this one may be interrupted at any time, and a stopped thread may hold the lock that SBCL needs."
  (let ((done (sb-thread:make-semaphore))
        (method (breakpoint-method breakpoint)))
    (flet ((renew ()
             (dolist (function functions)
               (recording-faults
                 (renew-dispatch function (find method (sb-mop:generic-function-methods function) :test #'same-place-p))))
             (sb-thread:signal-semaphore done)))
      (start-runtime-thread #'renew "swank-client dispatch"))
    (sb-thread:wait-on-semaphore done :timeout +renewal-seconds+)))

(defun known-generics (breakpoint)
  "The generic functions that may call the method of BREAKPOINT."
  (let ((current (generic-function-named (breakpoint-name breakpoint))))
    (adjoin current (remove current (breakpoint-generics breakpoint)))))

(defun watch-method (breakpoint)
  "Make each run of the method of BREAKPOINT reach it."
  (with-system-mutex (*method-breakpoints-lock*)
    (when (null *method-breakpoints*) (encapsulate-dispatch))
    (setf *method-breakpoints* (append *method-breakpoints* (list breakpoint))))
  (renew-generics (known-generics breakpoint) breakpoint))

(defun unwatch-method (breakpoint)
  "Undo WATCH-METHOD."
  (with-system-mutex (*method-breakpoints-lock*)
    (setf *method-breakpoints* (remove breakpoint *method-breakpoints*))
    (when (null *method-breakpoints*) (unencapsulate-dispatch)))
  (renew-generics (known-generics breakpoint) breakpoint))

;;; What breakpoints, trace points and counters have in common: a wrapper around each call of their function or method

(defmacro wrapper-of-kind ((kind inner arguments call &rest declarations) &body body)
  "A function that evaluates BODY, in which the symbol CALL makes the wrapped call, with the list ARGUMENTS. KIND says what it replaces:
:FUNCTION, a function with an encapsulation; :FAST or :SLOW, the method function INNER, in SBCL's two calling conventions."
  (flet ((function-of (lambda-list form &optional declarations)
           `(lambda ,lambda-list ,@declarations (symbol-macrolet ((,call ,form)) ,@body))))
    `(ecase ,kind
       (:function ,(function-of `(function &rest ,arguments) `(apply (the function function) ,arguments) declarations))
       (:fast ,(function-of `(slots next &rest ,arguments) `(apply (the function ,inner) slots next ,arguments) declarations))
       (:slow ,(function-of `(,arguments next) `(funcall (the function ,inner) ,arguments next))))))

(defun connect (breakpoint)
  "Make calls of the function or method of BREAKPOINT run its wrapper."
  (if (breakpoint-method breakpoint)
      (watch-method breakpoint)
      (encapsulate-function (breakpoint-name breakpoint) (breakpoint-tag breakpoint) (funcall (breakpoint-wrapper breakpoint) breakpoint :function))))

(defun disconnect (breakpoint)
  "Undo CONNECT, also if that did not come to its end."
  (cond ((breakpoint-method breakpoint) (unwatch-method breakpoint))
        ((fboundp (breakpoint-name breakpoint))
         (unencapsulate-function (breakpoint-name breakpoint) (breakpoint-tag breakpoint)))))

;;; Breakpoints that print instead of stopping, and those that have stopped nothing.

(defconstant +kept-lines+ 20 "Lines kept for one breakpoint of what it printed outside running evaluations.")

(defconstant +logged-value-limit+ 1000 "Characters shown of one value that a breakpoint prints.")

(defvar *in-condition* nil "True while code of a breakpoint is evaluated: its calls are no hits.")

;;; Running a breakpoint's code

(defun value-at-call (code breakpoint arguments)
  "The value of CODE, of BREAKPOINT, at a call with ARGUMENTS."
  (with-code-of ((breakpoint-session breakpoint))
    (let ((*in-condition* t)
          (*condition-log* nil))
      (call-without-stepping (lambda () (values-of-code code (parameters-of breakpoint) arguments))))))

(defun wrapper-frame ()
  "The frame that stands in for the call that is about to begin, shown as the top of the stack."
  (loop for frame = (top-frame) then (frame-down frame)
        while frame
        when (breakpoint-wrapper-p (frame-name frame)) return frame))

;;; Printing

(defun dispatch-name-p (name)
  "True if NAME is that of a frame between a method and the call of its generic function or of the next method. SBCL's names differ."
  (destructuring-bind (&optional kind local &rest more) (if (consp name) name '())
    (declare (ignore more))
    (or (and (symbolp kind) (string= kind "EMF"))
        (and (member kind '(flet labels)) (symbolp local) (eql 0 (search "CALL-NEXT-METHOD" (symbol-name local)))))))

(defun no-caller-p (name)
  "True if NAME is that of a frame between a call and the function of the program that made it."
  (or (between-calls-p name)
      (system-name-p name)
      (dispatch-name-p name)))

(defun caller-text ()
  "Text that says which call made the call that a breakpoint has reached."
  (loop for frame = (frame-down (wrapper-frame)) then (frame-down frame)
        for name = (and frame (frame-name frame))
        until (or (null frame) (member name '(eval call-user call-own (lambda ())) :test #'equal))
        unless (no-caller-p name) return (concatenate 'string "called by " (frame-text frame nil))
        finally (return "called at top level")))

(defun logged-text (breakpoint arguments)
  "The value of the expression that BREAKPOINT prints at a call with ARGUMENTS, as text; or the error of the expression."
  (handler-case (line-text (value-at-call (breakpoint-log breakpoint) breakpoint arguments) +logged-value-limit+)
    (error (condition)
      (format nil "#<~a: ~a>" (class-name-text (shown-class condition)) (on-one-line (report-text condition 300))))))

(defun watched-evaluation (session)
  "The running evaluation of SESSION that this thread runs, or whose code started this thread; or NIL."
  (let ((evaluation (or *evaluation* *starting-evaluation*)))
    (and evaluation
         (eq session (evaluation-session evaluation))
         (not (evaluation-over evaluation))
         evaluation)))

(defun keep-line (breakpoint line)
  "Keep LINE, which no running evaluation can print."
  (sb-ext:atomic-update (breakpoint-lines breakpoint)
                        (lambda (lines)
                          (cons line (subseq lines 0 (min (length lines) (1- +kept-lines+)))))))

(defun log-hit (breakpoint hit arguments)
  "Print the expression of BREAKPOINT at HIT, a call with ARGUMENTS."
  (let* ((*breakpoint-call* (cons (breakpoint-name breakpoint) arguments))
         (*in-condition* t)
         (evaluation (watched-evaluation (breakpoint-session breakpoint)))
         (line (format nil "; ~a, hit ~d: ~a, ~a"
                       (place-text breakpoint) hit (logged-text breakpoint arguments) (caller-text))))
    (if evaluation
        ;; not *STANDARD-OUTPUT*, which the program may read as data
        (format (evaluation-stdout evaluation) "~&~a~%" line)
        (keep-line breakpoint line))))

;;; Breakpoints that have stopped nothing

(defun own-breakpoints (session)
  "The breakpoints of SESSION, oldest first."
  (sort (loop for breakpoint being the hash-values of *breakpoints*
              when (eq (breakpoint-session breakpoint) session) collect breakpoint)
        #'< :key #'breakpoint-id))

(defun lost-p (breakpoint)
  "True if calls of the function of BREAKPOINT no longer reach it, or if its method is gone."
  (let ((name (breakpoint-name breakpoint)) (method (breakpoint-method breakpoint)))
    (if method
        (null (current-method name method))
        (not (encapsulated-p name (breakpoint-tag breakpoint))))))

(defun deeds (breakpoint)
  "What has happened to BREAKPOINT so far: its calls, those elsewhere, its hits, and more."
  (list (car (breakpoint-calls breakpoint)) (car (breakpoint-calls-elsewhere breakpoint)) (car (breakpoint-hits breakpoint))
        (breakpoint-stopped-before breakpoint) (lost-p breakpoint)))

(defun worth-telling-p (breakpoint code)
  "True if the client has not been told how it stands with BREAKPOINT, or CODE names its function."
  (or (not (equal (breakpoint-told breakpoint) (deeds breakpoint)))
      (token-positions code (symbol-name (name-symbol (breakpoint-name breakpoint))))))

(defun idle-p (breakpoint evaluation code)
  "True if BREAKPOINT has done nothing, and EVALUATION of CODE should have reached it. Threads that it started may still do so."
  (and (worth-telling-p breakpoint code)
       (< (car (breakpoint-hits breakpoint)) (breakpoint-from breakpoint))
       (null (breakpoint-failure breakpoint))
       (member (breakpoint-thread breakpoint) (list nil (not (evaluation-threaded evaluation)) (current-thread-id)))))

(defun idle-plist (breakpoint)
  "A plist that says why BREAKPOINT has done nothing since the client was last told."
  (destructuring-bind (&optional (calls-told 0) (elsewhere-told 0) (hits-told 0) before-told &rest others) (breakpoint-told breakpoint)
    (declare (ignore others))
    (destructuring-bind (calls elsewhere hits before lost) (setf (breakpoint-told breakpoint) (deeds breakpoint))
      (list :id (breakpoint-id breakpoint)
            :function (place-text breakpoint)
            :calls (- calls calls-told)
            :calls-elsewhere (- elsewhere elsewhere-told)
            :stopped-before (and before (not before-told))
            :hits (if (= hits hits-told) 0 hits)
            :hit-count (breakpoint-from breakpoint)
            :lost lost
            :missed (and (null (breakpoint-method breakpoint)) (missed-calls-text (breakpoint-name breakpoint) "do not reach the breakpoint"))))))

(defun idle-facts (evaluation code)
  "(:idle (PLIST ...)) for the breakpoints that have done nothing when EVALUATION of CODE returns, or NIL."
  (let ((idle (remove-if-not (lambda (breakpoint) (idle-p breakpoint evaluation code))
                             (own-breakpoints (evaluation-session evaluation)))))
    (and idle (list :idle (with-printing-time (mapcar #'idle-plist idle))))))

(pushnew 'idle-facts *return-hooks*)
