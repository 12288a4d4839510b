;;;; Conditions and the restarts that a stop offers, as plain data for the wire, and what the frames of the runtime's functions mean in a stack.

(in-package #:swank-client/conditions)

;;; What the frames of the runtime's functions mean in a stack, and functions that mark it: the frames below theirs belong to the runtime.

(defvar *frame-roles* (make-hash-table :test 'eq :synchronized t) "The roles of frames, by the name of their function.")

(defun note-frame-role (name role)
  "Note what frames of the function NAME, and of functions that it makes, mean:
:EVALUATES   what it calls is Lisp's evaluator or reader, and then the user's code
:RUNS        what it calls is the user's code, or what loads it
:FRAMEWORK   what it calls is a framework, and then the user's code
:LOADS       it loads the user's compiled code
:BREAKPOINT  the frame stands in for a call of the user that has not begun
:BETWEEN     it is between a caller of the user and the function that is called"
  (setf (gethash name *frame-roles*) role))

(defun frame-role (name)
  "The role of a frame with NAME, that of its function or of one in it, such as (LAMBDA (&REST ARGUMENTS) :IN MAKE-WRAPPER); or NIL."
  (let ((symbol (if (consp name) (car (last name)) name)))
    (and symbol (symbolp symbol) (values (gethash symbol *frame-roles*)))))

(dolist (symbol *stepping-functions*)
  (note-frame-role symbol :between))

;;; Evaluating a form

(declaim (notinline call-user))

(defun call-user (form)
  "The values of FORM, as a list. The frames below this function's belong to the runtime."
  (let ((*in-user-code* t))
    (multiple-value-list (eval form))))

(note-frame-role 'call-user :evaluates)

;;; Reading a form

(declaim (notinline read-user))

(defun read-user (stream eof)
  "Read a form from STREAM. The frames below this function's belong to the runtime."
  (multiple-value-prog1 (read stream nil eof)))

(note-frame-role 'read-user :evaluates)

;; prints the user's objects
(note-frame-role 'bounded-text :evaluates)

;;; Running a client's thread

(declaim (notinline call-own))

(defun call-own (function arguments)
  "Apply FUNCTION to ARGUMENTS: it runs in a thread that a client's code started, or loads a form for the client. The frames below this
function's belong to the runtime."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))

(note-frame-role 'call-own :runs)

;;; Running tests, and loading systems

(declaim (notinline call-framework))

(defun call-framework (function arguments)
  "Apply FUNCTION of a framework, such as one of tests. The frames below this function's belong to the runtime, and a report leaves out the framework's next to it."
  (multiple-value-prog1 (apply function arguments)
    (restore-guard-page)))

(note-frame-role 'call-framework :framework)

;;; Describes conditions as plain data for the wire.

(defconstant +slot-text-limit+ 500 "Characters shown of a slot's value.")

;;; Types

(defun standard-class-p (class)
  "True if the name of CLASS is in the package COMMON-LISP."
  (eq (symbol-package (class-name class)) (find-package "COMMON-LISP")))

(defun implementation-symbol-p (symbol)
  "True if SYMBOL belongs to Lisp or SBCL, or to no package."
  (let ((package (symbol-package symbol)))
    (or (null package)
        (eq package (find-package "COMMON-LISP"))
        (eql 0 (search "SB-" (package-name package))))))

(defun broad-class-p (class)
  "True if the name of CLASS does not say what went wrong."
  (member (class-name class) '(error serious-condition condition simple-condition)))

(defun shown-class (condition)
  "The class to show for CONDITION: its own if the user defined it, else the most specific standard class. Steps have no standard class."
  (let ((classes (sb-mop:class-precedence-list (class-of condition))))
    (if (and (implementation-symbol-p (class-name (first classes))) (not (typep condition 'sb-ext:step-condition)))
        (or (find-if (lambda (class) (and (standard-class-p class) (not (broad-class-p class))
                                          (subtypep class 'condition)))
                     classes)
            (find 'error classes :key #'class-name)
            (find-if #'standard-class-p classes))
        (first classes))))

(defun class-name-text (class)
  "The name of CLASS, with its package unless that is COMMON-LISP or the runtime's."
  (if (or (standard-class-p class) (member (class-name class) '(interrupted breakpoint-reached exit-refused odd-character sb-ext:step-form-condition)))
      (symbol-name (class-name class))
      (with-standard-io-syntax
        (let ((*package* (find-package "KEYWORD")) (*print-readably* nil))
          (prin1-to-string (class-name class))))))

(defun supertype-texts (condition)
  "The names of the classes of CONDITION, the most specific first."
  (loop for class in (sb-mop:class-precedence-list (class-of condition))
        until (eq (class-name class) 'slot-object)
        unless (eq class (find-class t)) collect (class-name-text class)))

;;; Slots and message

(defun slot-texts (condition)
  "((NAME VALUE) ...) for the bound slots of CONDITION."
  (or-nil
    (loop for slot in (sb-mop:class-slots (class-of condition))
          for name = (sb-mop:slot-definition-name slot)
          repeat 20
          when (and (slot-boundp condition name)
                    (not (member name *bookkeeping-slots*))
                    (not (source-stream-p (slot-value condition name))))
            collect (list (string name) (line-text-in-time (slot-value condition name) +slot-text-limit+)))))

(defun source-stream-p (object)
  "True if OBJECT is the stream that the code was read from, which the client does not know."
  (and *source* (eq object *source*)))

(defun standard-input-p (stream)
  "True if STREAM reads the evaluation's standard input."
  (and *input*
       (typecase stream
         (two-way-stream (standard-input-p (two-way-stream-input-stream stream)))
         (synonym-stream (standard-input-p (symbol-value (synonym-stream-symbol stream))))
         (t (eq stream *input*)))))

(defun message-text (condition)
  "The report of CONDITION, without the streams that SBCL mentions and the client does not know."
  (with-printing-time
    (in-time (unprinted-text condition)
      (or (or-nil (stream-condition-text condition))
          (report-text condition)))))

(defun stream-condition-text (condition)
  "The text for a condition about the source or the standard input, or NIL for others."
  (typecase condition
    ((and reader-error simple-condition)
     (string-capitalize-first
      (with-bounded-printing ()
        (truncated 2000 (lambda (stream)
                          (apply #'format stream (simple-condition-format-control condition)
                                 (simple-condition-format-arguments condition)))))))
    (end-of-file
     (cond ((source-stream-p (stream-error-stream condition)) "Unexpected end of file.")
           ((standard-input-p (stream-error-stream condition)) "End of file on standard input.")))))

(defun string-capitalize-first (text)
  "TEXT with its first letter upcased."
  (if (plusp (length text))
      (concatenate 'string (string-upcase (subseq text 0 1)) (subseq text 1))
      text))

;;; The restarts that a stop offers, with what the names of functions and their lambda lists tell about them.

;;; The parts of lambda lists.

(defun parameter-name (parameter)
  "The variable that PARAMETER of a lambda list binds."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (second name) name)))

(defun parameter-key (parameter)
  "The keyword of PARAMETER, a parameter after &KEY."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (first name) (intern (symbol-name name) "KEYWORD"))))

(defun parameter-names (lambda-list)
  "The variables that LAMBDA-LIST binds, without those that say whether an argument was supplied."
  (loop for item in lambda-list
        unless (member item lambda-list-keywords) collect (parameter-name item)))

(defun parameters-after (keyword lambda-list)
  "The parameters after KEYWORD in LAMBDA-LIST, up to the next keyword."
  (loop for item in (rest (member keyword lambda-list))
        until (member item lambda-list-keywords) collect item))

(defun lambda-list-range (lambda-list)
  "The fewest and the most arguments that a function with LAMBDA-LIST takes, NIL for no limit."
  (let ((required (or (position-if (lambda (item) (member item lambda-list-keywords)) lambda-list)
                      (length lambda-list)))
        (optional (loop for item in (rest (member '&optional lambda-list))
                        until (member item lambda-list-keywords) count t)))
    (values required
            (unless (intersection '(&rest &body &key &more) lambda-list) (+ required optional)))))

;;; Names of the functions that frames run.

(defun frame-function-name (frame)
  "The name of the function that FRAME runs, as SBCL reads the stack."
  (debug-fun-name (frame-debug-fun frame)))

;;; The call that exhausted the control stack. SBCL sets the frame pointer before it writes the new frame. If the write fails, SBCL takes the
;;; frame that has not begun for that of the caller, and what lies in it for a return address.

(defun signal-trampoline-p (name)
  "True if NAME is that of the frame through which SBCL leaves the handler of a signal."
  (and (stringp name) (search "post_signal_tramp" name) t))

(defun exhausting-frame-p (frame)
  "True if FRAME's function was running when the control stack was exhausted."
  (loop for inner = (frame-up frame) then (frame-up inner)
        for name = (and inner (frame-function-name inner))
        for signalp = (signal-trampoline-p name) then (or signalp (signal-trampoline-p name))
        while (and signalp (stringp name))
        finally (return (and signalp (eq name 'control-stack-exhausted-error)))))

(defun at-call-instruction-p (frame)
  "True if FRAME stands at an instruction that calls a function, or if that is not known."
  (handler-case
      (let ((code (compiled-debug-fun-component (frame-debug-fun frame))))
        (sb-sys:with-pinned-objects (code)
          (search "CALL"
                  (with-output-to-string (out)
                    (disassemble-memory
                     (sb-sys:sap+ (code-instructions code) (compiled-code-location-pc (frame-code-location frame)))
                     8 :stream out)))))
    (error () t)))

(defun mistaken-frame-p (frame)
  "True if FRAME's function is not known, because the call that exhausted the control stack had not written its return address."
  (let ((inner (frame-up frame)))
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

;;; The restarts that a stop offers: their reports, and the number of their arguments.

(defconstant +restart-text-limit+ 300 "Characters shown of a restart's report.")

(defun whole-report (restart)
  "The report of RESTART with the print settings in effect, or NIL if printing it fails or takes too long."
  (in-time nil
    (handler-case (on-one-line (truncated +restart-text-limit+ (lambda (stream) (princ restart stream))))
      (serious-condition () nil))))

(defun restart-report (restart)
  "The report of RESTART with long lists cut, or NIL if printing it fails or takes too long."
  (with-bounded-printing (:length 8 :level 3)
    ;; a report with an error in place of a part would be misleading
    (let ((sb-ext:*suppress-print-errors* nil)) (whole-report restart))))

;;; Arguments

(defun restart-lambda-list (restart)
  "The lambda list of RESTART, or one that takes anything if the restart was compiled without debugging information."
  (let ((known (handler-case (%fun-lambda-list (%fun-fun (restart-function restart)))
                 (error () :unknown))))
    (if (listp known) known '(&rest #:arguments))))

;;; RESTART-CASE takes the arguments of all clauses but the simplest as (&REST SB-KERNEL::TEMP), and passes them to a function with the clause's
;;; lambda list after it has left the stop. Code that was compiled for stepping keeps these functions, in the order of those that collect the
;;; arguments, so that a wrong number is found before.

(defun collects-arguments-p (lambda-list)
  "True if LAMBDA-LIST is that of a function by which RESTART-CASE takes any arguments."
  (and (eq '&rest (first lambda-list)) (implementation-symbol-p (second lambda-list))))

(defun compiled-for-stepping-p (code)
  "True if CODE is a definition that an evaluation compiled for stepping, as its source plist says."
  (or-nil (getf (debug-source-plist (debug-info-source (%code-debug-info code))) :for-stepping)))

(defun evaluated-form-p (code place)
  "True if CODE is a form that this thread's evaluation has compiled for stepping. PLACE is what the names of its functions say of where they are."
  (and *for-stepping*
       ;; the name of a block that has none in the program
       (symbolp (second place))
       (null (symbol-package (second place)))
       (null (or-nil (debug-source-namestring (debug-info-source (%code-debug-info code)))))))

(defun functions-of-restarts ()
  "The functions of this stop's restarts: those that leave the stop, print and ask."
  (loop for restart in *sldb-restarts*
        for functions = (list (restart-function restart) (restart-interactive-function restart) (restart-report-function restart))
        nconc (loop for function in functions when (functionp function) collect (%fun-fun function))))

(defun functions-at (code place)
  "The functions in CODE that are LAMBDA expressions at PLACE."
  (loop for index below (code-n-entries code)
        for function = (%code-entry-point code index)
        for name = (%fun-name function)
        when (and (consp name) (eq 'lambda (first name)) (equal place (cddr name))) collect function))

(defun possible-lambda-lists (restart)
  "The lambda lists of the clauses that RESTART, whose function takes any arguments, can belong to; NIL if not known."
  (flet ((lambda-list (function)
           (let ((known (%fun-lambda-list function)))
             (if (listp known) known (second (%fun-name function))))))
    (let* ((function (%fun-fun (restart-function restart)))
           (code (fun-code-header function))
           (place (cddr (%fun-name function)))
           (others (functions-of-restarts))
           (all (functions-at code place))
           (collecting (remove-if-not #'collects-arguments-p all :key #'lambda-list))
           (clauses (remove-if (lambda (function) (or (member function collecting) (member function others))) all)))
      (when (or (compiled-for-stepping-p code) (evaluated-form-p code place))
        (mapcar #'lambda-list
                (if (= (length clauses) (length collecting))
                    (list (nth (position function collecting) clauses))
                    ;; the program has LAMBDA expressions of its own here
                    clauses))))))

(defun lambda-lists (restart)
  "The lambda lists that RESTART may have: one if it is known, several if it is one of them, NIL if nothing is known."
  (let ((lambda-list (restart-lambda-list restart)))
    (if (collects-arguments-p lambda-list)
        (recording-faults (possible-lambda-lists restart))
        (list lambda-list))))

(defun ranges (restart)
  "The ranges of arguments that RESTART may take, as LAMBDA-LISTS says."
  (remove-duplicates (mapcar (lambda (lambda-list) (multiple-value-list (lambda-list-range lambda-list))) (lambda-lists restart))
                     :test #'equal))

(defun argument-range (restart)
  "The fewest and the most arguments that RESTART takes, NIL for no limit.
A restart that would prompt for arguments needs at least one, because it cannot prompt."
  (let* ((ranges (or (ranges restart) '((0 nil))))
         (fewest (reduce #'min ranges :key #'first))
         (most (and (every #'second ranges) (reduce #'max ranges :key #'second))))
    (values (if (and (restart-interactive-function restart) (not (eql 0 most))) (max fewest 1) fewest)
            most)))

;;; Texts

(defun restart-text (restart)
  "(NAME TEXT) of RESTART, with the fewest and the most arguments that it takes, NIL for no limit, if they are known."
  (list* (let ((name (restart-name restart))) (if name (string name) ""))
         (or (restart-report restart) "<<error printing restart>>")
         (and (null (rest (or (ranges restart) '(nil nil)))) (multiple-value-list (argument-range restart)))))

(defun restart-texts (restarts)
  "((NAME TEXT [FEWEST MOST]) ...) for RESTARTS. The outermost are printed first, so that the time limit never cuts the evaluation's restarts."
  (with-printing-time (reverse (mapcar #'restart-text (reverse restarts)))))

(defun shorten-reports (restarts)
  "Give long or failing RESTARTS a short report, because Swank prints restarts without a limit."
  (with-printing-time
    (dolist (restart (reverse restarts))
      (let ((whole (whole-report restart)))
        (unless (and whole (<= (length whole) +restart-text-limit+))
          (let ((text (or (restart-report restart) "<<error printing restart>>")))
            (set-report-function restart (lambda (stream) (write-string text stream)))))))))

(defun stop-message (condition)
  "The message of CONDITION for Swank, which calls this before it prints the restarts."
  (when *stop-hook* (recording-faults (funcall *stop-hook*)))
  (shorten-reports *sldb-restarts*)
  (message-text condition))

(defun offered-restarts (restarts)
  "RESTARTS without those of Swank, which are outside the evaluation."
  (let ((last (and *outermost-restart* (position *outermost-restart* restarts))))
    (subseq restarts 0 (if last (1+ last) nil))))

(defun wrong-count (restart count)
  "(:wrong-count FEWEST MOST ASKS-P) if RESTART does not take COUNT arguments, or NIL. ASKS-P is true if it can read them instead. A wrong call
would replace the stop by another one. For some restarts Lisp does not know the number of arguments."
  (multiple-value-bind (fewest most) (argument-range restart)
    (unless (and (<= fewest count (or most count))
                 (loop for (fewest most) in (or (ranges restart) '((0 nil))) thereis (<= fewest count (or most count))))
      (list :wrong-count fewest most (and (restart-interactive-function restart) t)))))

(defun wrong-keywords-p (arguments lambda-list)
  "True if ARGUMENTS has keys that LAMBDA-LIST does not, or a key without a value."
  (let ((keys (and (member '&key lambda-list)
                   (nthcdr (+ (lambda-list-range lambda-list) (length (parameters-after '&optional lambda-list))) arguments))))
    (or (oddp (length keys))
        (and keys
             (not (member '&allow-other-keys lambda-list))
             (not (getf keys :allow-other-keys))
             (loop with known = (cons :allow-other-keys (mapcar #'parameter-key (parameters-after '&key lambda-list)))
                   for (key) on keys by #'cddr
                   thereis (not (member key known)))))))

(defun wrong-arguments (restart arguments)
  "(:wrong-arguments LAMBDA-LIST-TEXT) if it is known that RESTART does not take ARGUMENTS, or NIL."
  (let ((lambda-lists (lambda-lists restart)))
    (flet ((taken-p (lambda-list)
             (multiple-value-bind (fewest most) (lambda-list-range lambda-list)
               (and (<= fewest (length arguments) (or most call-arguments-limit))
                    (not (wrong-keywords-p arguments lambda-list))))))
      (unless (or (null lambda-lists) (some #'taken-p lambda-lists))
        (list :wrong-arguments (format nil "~{~a~^ or ~}" (mapcar (lambda (each) (line-text each 200)) lambda-lists)))))))

;;; ASSERT: its restart takes no arguments, and the code asks for the values of the places after it has left the stop

(defun assert-restart-p (restart)
  "True if RESTART is the CONTINUE of ASSERT."
  (let ((name (or-nil (%fun-name (%fun-fun (restart-function restart))))))
    (and (consp name) *assert-function* (member *assert-function* name) t)))

(defun asserted-places (restart)
  "The places whose values the code asks for after RESTART, of ASSERT. The innermost such restart belongs to the innermost call, and so on."
  (when (assert-restart-p restart)
    (let ((depth (count-if #'assert-restart-p (ldiff *sldb-restarts* (member restart *sldb-restarts*))))
          (calls (loop for frame = (top-frame) then (frame-down frame)
                       while frame
                       when (eq *assert-function* (frame-name frame))
                         collect (or-nil (nth-value 1 (frame-call frame))))))
      ;; the form, the number of arguments shown, their forms and values, the places
      (destructuring-bind (&optional form (shown 0) &rest others) (nth depth calls)
        (declare (ignore form))
        (let ((places (nth (* 2 shown) others)))
          (and (listp places) places))))))
