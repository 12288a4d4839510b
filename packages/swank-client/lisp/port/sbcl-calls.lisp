;;;; How SBCL calls functions and methods: by address or by name, through encapsulations, step by step, and by the dispatch of generic functions.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-calls
  (:documentation "How SBCL calls functions and methods.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:existing-symbols #:value-if-bound)
  (:functions #:sb-impl #:disable-stepping #:enable-stepping #:encapsulation-info #:encapsulation-info-definition #:invoke-stepper
                        #:stepping-enabled-p)
  (:functions #:sb-int #:encapsulate #:encapsulated-p #:unencapsulate)
  (:functions #:sb-pcl #:compute-applicable-methods-using-types #:maybe-trace-method #:update-ctors)
  (:variables #:sb-impl #:*step-out*)
  (:names #:sb-impl #:%simple-eval #:simple-eval-locally #:simple-eval-progn-body)
  (:names #:sb-int #:simple-eval-in-lexenv)
  (:names #:sb-pcl #:class-eq)
  (:export #:*accessor-shortcuts* #:*constructor-shortcuts* #:*dispatch-compilers* #:*evaluator-functions* #:*exit-functions* #:*step-out*
           #:*step-signallers* #:*stepping-functions* #:applicable-methods-of-types #:argument-type #:called-directly-p #:disable-stepping
           #:enable-stepping #:encapsulate #:encapsulated-p #:encapsulation-info #:encapsulation-info-definition #:invoke-stepper
           #:keep-called-by-name #:loading-function-p #:maybe-trace-method #:note-direct-calls #:renew-dispatch
           #:stepping-enabled-p #:unavailable-argument-p #:unencapsulate))

(in-package #:swank-client/sbcl-calls)

(defparameter *step-signallers*
  (remove-if-not #'fboundp
                 (existing-symbols '(("SB-IMPL" "STEP-FORM") ("SB-IMPL" "STEP-VALUES") ("SB-IMPL" "STEP-FINISHED"))))
  "SBCL's functions that signal the stepper's conditions.")

(defparameter *exit-functions*
  (remove-if-not #'fboundp
                 (existing-symbols '(("SB-EXT" "EXIT") ("SB-EXT" "SAVE-LISP-AND-DIE") ("SB-EXT" "QUIT") ("SB-SYS" "OS-EXIT")
                                     ("SB-KERNEL" "%EXIT") ("SB-UNIX" "UNIX-EXIT")
                                     ;; ends the threads of everybody, and leaves the caller alone in the image
                                     ("SB-THREAD" "%EXIT-OTHER-THREADS")
                                     ;; Swank requires SB-POSIX; its KILL is inlined, so it cannot be encapsulated
                                     ("SB-POSIX" "EXIT") ("SB-POSIX" "_EXIT") ("SB-POSIX" "ABORT"))))
  "Functions of SBCL that end the image.")

;;; Direct calls. SBCL's own code calls some functions by address instead of by name. Before such a function gets another definition, SBCL
;;; searches all compiled code for these calls and changes them. That takes milliseconds for each function, and up to seconds on machines
;;; that delay locked access across cache lines, as Linux does by default.

(defparameter *find-fdefn* (first (remove-if-not #'fboundp (existing-symbols '(("SB-INT" "FIND-FDEFN")))))
  "SBCL's function that finds the object through which functions are called by name.")

(defparameter *directly-called-p* (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "FDEFN-HAS-STATIC-CALLERS")))))
  "SBCL's function that tells whether a function is called by address; NIL in an SBCL without such calls, or with a table for them.")

(defparameter *set-directly-called* (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "SET-FDEFN-HAS-STATIC-CALLERS")))))
  "SBCL's function that changes what the function in *DIRECTLY-CALLED-P* tells.")

(defun called-directly-p (name)
  "True if SBCL's own code calls the function NAME by address."
  (and *find-fdefn* *directly-called-p* *set-directly-called*
       (funcall *directly-called-p* (funcall *find-fdefn* name))))

(defun note-direct-calls (name calledp)
  "Make SBCL search for direct calls before NAME is redefined if CALLEDP is true, and not search otherwise."
  (funcall *set-directly-called* (funcall *find-fdefn* name) (if calledp 1 0)))

(defparameter *called-by-name* (first (existing-symbols '(("SB-VM" "*NEVER-STATICALLY-LINK*"))))
  "The variable with the names of functions that code in a saved core calls by name; NIL in an SBCL without it.")

(defun keep-called-by-name (names)
  "Make code in the core that will be saved call the functions NAMES by name. Saving makes most calls direct."
  (when (value-if-bound *called-by-name*)
    (setf (symbol-value *called-by-name*) (union names (symbol-value *called-by-name*) :test #'equal))))

;;; Functions whose frames are no code of the user

(defparameter *evaluator-functions*
  '(simple-eval-in-lexenv %simple-eval simple-eval-progn-body simple-eval-locally)
  "Functions whose frames are between EVAL and the code that it evaluates.")

(defparameter *stepping-functions* (existing-symbols '(("SB-DI" "HANDLE-SINGLE-STEP-AROUND-TRAP")))
  "Functions whose frames are between the caller of a function and that function while SBCL steps.")

(defparameter *loading-functions* (existing-symbols '(("SB-IMPL" "CALL-WITH-LOADER-PACKAGE-NAMES")))
  "Functions, besides those of SB-FASL, with which SBCL loads compiled code.")

(defun loading-function-p (symbol)
  "True if SYMBOL names a function with which SBCL loads compiled code."
  (and symbol
       (or (eq (symbol-package symbol) (find-package "SB-FASL"))
           (member symbol *loading-functions*))))

;;; Methods

(defparameter *accessor-shortcuts*
  (remove-if-not #'fboundp
                 (existing-symbols '(("SB-PCL" "ACCESSOR-VALUES") ("SB-PCL" "FINAL-ACCESSOR-DFUN-TYPE")
                                     ("SB-PCL" "USE-CONSTANT-VALUE-DFUN-P"))))
  "Functions of a generic function whose result is true if calls need not run its methods: they access slots, or return constants.")

(defparameter *constructor-shortcuts*
  (remove-if-not #'fboundp
                 (existing-symbols '(("SB-PCL" "AROUND-OR-NONSTANDARD-PRIMARY-METHOD-P")
                                     ("SB-PCL" "HAIRY-AROUND-OR-NONSTANDARD-PRIMARY-METHOD-P"))))
  "Functions of a list of methods whose result is true if MAKE-INSTANCE must call the generic function instead of compiling them in.")

(defparameter *dispatch-compilers*
  (remove-if-not #'fboundp
                 (existing-symbols '(("SB-PCL" "GET-NEW-FUN-GENERATOR") ("SB-PCL" "GET-DFUN-CONSTRUCTOR"))))
  "Functions that compile the dispatch of generic functions.")

(defun argument-type (object class)
  "The type of an argument, as APPLICABLE-METHODS-OF-TYPES takes it: OBJECT, or any direct instance of CLASS if that is not NIL."
  (if class (list 'class-eq class) (list 'eql object)))

(defun applicable-methods-of-types (generic-function types)
  "The methods of GENERIC-FUNCTION that can apply to required arguments of TYPES, the most specific first."
  (values (compute-applicable-methods-using-types generic-function types)))

(defparameter *unavailable-argument-type*
  (first (existing-symbols '(("SB-DEBUG" "UNPRINTABLE-OBJECT") ("SB-IMPL" "UNPRINTABLE-OBJECT"))))
  "SBCL's type of objects that stand in a frame for arguments whose values are not known.")

(defun unavailable-argument-p (object)
  "True if OBJECT stands in a frame for an argument whose value is not known."
  (and *unavailable-argument-type* (typep object *unavailable-argument-type*)))

(defun renew-dispatch (generic-function method)
  "Make SBCL build anew what calls METHOD of GENERIC-FUNCTION, including the constructors compiled for MAKE-INSTANCE."
  (when method
    (update-ctors 'add-method :generic-function generic-function :method method))
  (reinitialize-instance generic-function))
