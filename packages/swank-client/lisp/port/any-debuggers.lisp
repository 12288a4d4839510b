;;;; What the debuggers and compilers of Lisps other than SBCL call things: frames between the user's code and the debugger, and classes of the Lisp's own.

(defpackage #:swank-client/any-debuggers
  (:documentation "What the debuggers and compilers of Lisps other than SBCL do in their own way.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:accessible-symbol #:existing-symbols)
  (:export #:bare-call #:call-telling-warnings #:call-with-debugger-hook #:compiler-error-p #:compiler-message #:evaluate-in-frame
           #:implementation-package-p #:machinery-p))

(in-package #:swank-client/any-debuggers)

(defparameter *machinery*
  '("SIMPLE-EVAL" "UNIVERSAL-ERROR-HANDLER" "BYTECODES")
  "Names, without their packages, of functions between the user's code and the debugger that no standard names.")

(defparameter *machinery-prefixes* '("SWANK" "SI:" "SYSTEM:" "SYS::" "ORG.ARMEDBEAR." "JAVA.")
  "What the names of other functions of the Lisp, of Java in ABCL, and of Swank begin with.")

(defun after (mark text)
  "What follows the last MARK in TEXT, or NIL."
  (let ((start (search mark text :from-end t))) (and start (subseq text (+ start (length mark))))))

(defun ecl-function-name (text)
  "The name in TEXT if that is of a function as ECL prints it, #<bytecompiled-function NAME 0x7f>, or NIL."
  (let* ((start (and (eql 0 (search "#<" text)) (position #\Space text)))
         (end (and start (position #\Space text :from-end t))))
    (and end (< start end) (search "function" text :end2 start) (subseq text (1+ start) end))))

(defun bare-call (text)
  "TEXT, of a frame, as a call. ECL prints the function, without arguments, and CLISP describes the frame."
  (cond ((after "EVAL frame for form " text))
        ((after "APPLY frame for call " text))
        ((ecl-function-name text) (format nil "(~a)" (ecl-function-name text)))
        ((find-if (lambda (char) (find char "( #<[")) text) text)
        (t (format nil "(~a)" text))))

(defun call-name (call)
  "The name of the function in CALL, the text of a frame."
  (let* ((start (if (and (plusp (length call)) (char= #\( (char call 0))) 1 0))
         (end (position-if (lambda (char) (find char " )")) call :start start)))
    (string-upcase (subseq call start end))))

(defun numbered-lambda-p (name)
  "True if NAME is one that ECL gives a function without a name."
  (and (> (length name) 6) (string= "LAMBDA" name :end2 6) (every #'digit-char-p (subseq name 6))))

(defun machinery-p (index call)
  "True if CALL, the text of the frame with INDEX, is of the Lisp itself: a standard function, its evaluator or its debugger.
CLISP's frames of forms are the user's, because they have the variables."
  #+clisp (or (zerop index) (find (char call 0) "<[#"))
  #-clisp
  (let ((name (call-name call)))
    (or (member name *machinery* :test #'string=)
        (some (lambda (prefix) (eql 0 (search prefix name))) *machinery-prefixes*)
        (eq :external (nth-value 1 (find-symbol name "COMMON-LISP")))
        ;; the innermost frame of ECL is the function that calls the debugger
        (and (zerop index) (numbered-lambda-p name)))))

(defun implementation-package-p (package)
  "True if PACKAGE holds the Lisp's own conditions."
  (member (package-name package) '("SYSTEM" "SI" "CONDITIONS" "EXT" "EXTENSIONS" "CLOS" "FFI") :test #'string=))

;;; Hooks

(defun call-with-debugger-hook (hook function)
  "Call FUNCTION with HOOK in place of the debugger, also for BREAK, which binds *DEBUGGER-HOOK* to NIL."
  (swank/backend:call-with-debugger-hook
   hook
   #-clisp function
   ;; Swank does not know the variable by which CLISP enters its debugger
   #+clisp (lambda ()
             (let* ((driver ext:*break-driver*)
                    (ext:*break-driver* (lambda (continuable &optional condition &rest options)
                                          (when condition (funcall hook condition hook))
                                          (apply driver continuable condition options))))
               (funcall function)))))

;;; Evaluation in frames

(defun variable-symbol (name package)
  "The symbol of a variable with NAME, as ECL has it: a symbol or, of native code, a string such as \"\\\"PKG::X\\\"\". NIL if none has that name.
A name without a package is of PACKAGE."
  (if (symbolp name)
      (and (symbol-package name) name)
      (let* ((text (string-trim "\"|" name))
             (colons (search "::" text))
             (home (if colons (find-package (subseq text 0 colons)) package)))
        (and home (values (accessible-symbol (if colons (subseq text (+ 2 colons)) text) home))))))

(defun bound-in-frame (index package)
  "((VARIABLE (QUOTE VALUE)) ...) of the frame INDEX, the innermost binding of each variable."
  (let ((bindings '()))
    (dolist (local (swank/backend:frame-locals index) (nreverse bindings))
      (let ((variable (variable-symbol (getf local :name) package)))
        (unless (or (null variable) (constantp variable) (assoc variable bindings))
          (push `(,variable ',(getf local :value)) bindings))))))

(defun tell-kept (names old new)
  "Say on error output which of the variables NAMES, of a frame, keep their values OLD although the code has set its copies to the values NEW."
  (let ((kept (loop for name in names
                    for before in old
                    for after in new
                    unless (eql before after) collect name)))
    (when kept
      (format *error-output* "~&The frame's ~{~a~^, ~} ~:[keeps its value~;keep their values~]: on this Lisp, code gets copies of a frame's variables.~%"
              kept (rest kept)))))

(defun evaluate-in-frame (form index package)
  "The values of FORM in the frame INDEX. PACKAGE is that of names without one.
ECL's own evaluation in a frame confuses the variables of functions that establish restarts or blocks, so there FORM gets copies of the variables."
  #+ecl (let ((bindings (bound-in-frame index package)))
          (let ((names (mapcar #'first bindings)))
            (eval `(let ,bindings
                     (declare (ignorable ,@names))
                     (multiple-value-prog1 ,form
                       (tell-kept ',names (list ,@(mapcar #'second bindings)) (list ,@names)))))))
  #-ecl (progn package (swank/backend:eval-in-frame form index)))

;;; Conditions of compilers

(defun call-telling-warnings (function)
  "Call FUNCTION, which compiles. ABCL tells no handler its warnings unless it is asked to."
  (progv (existing-symbols '(("JVM" "*RESIGNAL-COMPILER-WARNINGS*"))) '(t) (funcall function)))

(defun of-compiler-p (condition name)
  "True if CONDITION is of the class NAME of ECL's compiler, which need not be loaded."
  #+ecl (let ((class (accessible-symbol name "C"))) (and class (find-class class nil) (typep condition class)))
  #-ecl (progn condition name nil))

(defun compiler-error-p (condition)
  "True if CONDITION is an error that a compiler has found, and no ERROR."
  (of-compiler-p condition "COMPILER-ERROR"))

(defun compiler-message (condition)
  "The message of CONDITION, of a compiler, without the place, or NIL for other conditions, and for those that have it only in their report."
  (when (and (of-compiler-p condition "COMPILER-MESSAGE") (simple-condition-format-control condition))
    (let ((text (apply #'format nil (simple-condition-format-control condition) (simple-condition-format-arguments condition))))
      (and (string/= text "") text))))
