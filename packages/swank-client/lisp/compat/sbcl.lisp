;;;; The internal symbols of SBCL that the library uses. No other file names them. Names that differ between versions of SBCL are looked up
;;;; once, when this file is loaded.

(defpackage #:swank-client/sbcl
  (:documentation "Internal functions and variables of SBCL that the library uses.")
  (:use #:common-lisp)
  ;; the compiler
  (:import-from #:sb-c #:*policy-max* #:*policy-min* #:*source-plist* #:debug-info-source #:debug-source-namestring
                #:debug-source-plist)
  ;; evaluation, stepping and encapsulation
  (:import-from #:sb-impl #:*circularity-counter* #:*circularity-hash-table* #:*step-out* #:disable-stepping #:enable-stepping
                #:encapsulation-info #:encapsulation-info-definition #:invoke-stepper #:stepping-enabled-p)
  ;; conditions and restarts
  (:import-from #:sb-kernel #:**initial-handler-clusters** #:control-stack-exhausted #:control-stack-exhausted-error
                #:function-redefinition-warning #:function-redefinition-warning-new-function #:heap-exhausted-error #:redefinition-warning #:redefinition-warning-name
                #:redefinition-warning-new-location #:redefinition-with-defmacro #:redefinition-with-defmethod
                #:redefinition-with-defmethod-qualifiers #:redefinition-with-defmethod-specializers #:redefinition-with-defun
                #:restart-function #:restart-interactive-function #:restart-report-function)
  ;; frames
  (:import-from #:sb-debug #:frame-call)
  (:import-from #:sb-di #:compiled-code-location-pc #:compiled-code-location-step-info #:compiled-debug-fun-component
                #:compiled-frame-escaped #:debug-fun-debug-vars #:fill-in-code-location #:find-stepped-frame #:frame-pointer)
  ;; classes
  (:import-from #:sb-pcl #:%method-function-fast-function #:compute-applicable-methods-using-types #:condition-class #:maybe-trace-method #:slot-object #:update-ctors)
  ;; threads and memory
  (:import-from #:sb-thread #:with-system-mutex)
  (:import-from #:sb-vm #:current-thread-offset-sap #:thread-control-stack-start-slot #:thread-this-slot)
  (:export #:%method-function-fast-function
           #:**initial-handler-clusters**
           #:*assert-function*
           #:*bookkeeping-slots*
           #:*stepping-functions*
           #:loading-function-p
           #:package-version
           #:runtime-package-p
           #:version-in-name
           #:runtime-symbol-p
           #:*accessor-shortcuts*
           #:*dispatch-compilers*
           #:*circularity-counter*
           #:*circularity-hash-table*
           #:*constructor-shortcuts*
           #:*evaluator-functions*
           #:*exit-functions*
           #:*method-function-names*
           #:*policy-max*
           #:*policy-min*
           #:*signal-function*
           #:*source-plist*
           #:*step-signallers*
           #:*step-out*
           #:*thread-state-slot*
           #:accessible-symbol
           #:applicable-methods-of-types
           #:argument-type
           #:awaited-mutex
           #:call-if-loaded
           #:called-directly-p
           #:comma-form
           #:comma-p
           #:compiled-code-location-pc
           #:compiled-code-location-step-info
           #:compiled-debug-fun-component
           #:compiled-definition
           #:compiled-frame-escaped
           #:compiled-form
           #:compiled-from-file
           #:condition-class
           #:control-stack-exhausted
           #:control-stack-exhausted-error
           #:current-thread-offset-sap
           #:debug-fun-debug-vars
           #:debug-info-source
           #:debug-source-namestring
           #:debug-source-plist
           #:disable-stepping
           #:enable-stepping
           #:encapsulation-info
           #:encapsulation-info-definition
           #:exit-in-progress-p
           #:fill-in-code-location
           #:find-stepped-frame
           #:frame-call
           #:frame-pointer
           #:function-redefinition-warning
           #:function-redefinition-warning-new-function
           #:guard-page-size
           #:handled-type
           #:handler-name
           #:heap-exhausted-error
           #:inline-p
           #:instance-parts
           #:interrupted-address
           #:invoke-stepper
           #:keep-called-by-name
           #:make-comma
           #:maybe-trace-method
           #:note-direct-calls
           #:note-for-compile
           #:on-stack-p
           #:package-graph-lock
           #:remove-direct-calls
           #:redefinition-warning
           #:redefinition-warning-name
           #:redefinition-warning-new-location
           #:redefinition-with-defmacro
           #:redefinition-with-defmethod
           #:redefinition-with-defmethod-qualifiers
           #:redefinition-with-defmethod-specializers
           #:redefinition-with-defun
           #:require-part
           #:renew-dispatch
           #:restart-function
           #:restart-interactive-function
           #:restart-report-function
           #:set-homedir
           #:set-report-function
           #:skip-compiling
           #:slot-object
           #:static-linker-lock
           #:special-file-p
           #:stepping-enabled-p
           #:terminal-stream
           #:thread-control-stack-start-slot
           #:thread-this-slot
           #:type-docstring
           #:unavailable-argument-p
           #:user-package
           #:value-if-loaded
           #:version-symbols
           #:with-standard-settings
           #:with-system-mutex
           #:with-walk-of-code
           #:world-lock
           #:world-lock-taken-p))

(in-package #:swank-client/sbcl)

;;; Settings

(defun user-package ()
  "The package COMMON-LISP-USER, in which a session begins; or COMMON-LISP, which code cannot delete, in an image without it.
WITH-STANDARD-IO-SYNTAX binds the former even if it was deleted."
  ;; compiled for this name, a call of FIND-PACKAGE would go on returning the deleted package
  (declare (notinline find-package))
  (let ((package (find-package "COMMON-LISP-USER")))
    (if (and package (package-name package)) package (symbol-package 'car))))

(defmacro with-standard-settings (&body body)
  "Run BODY, the library's own code, under Lisp's default settings, whatever the image's user has set."
  `(with-standard-io-syntax
     (let ((*package* (user-package))
           (*print-readably* nil)
           (*break-on-signals* nil)
           (*macroexpand-hook* #'funcall)
           (*compile-print* nil)
           (*compile-verbose* nil)
           (*load-print* nil)
           (*load-verbose* nil)
           (*gensym-counter* 1)
           (sb-ext:*evaluator-mode* :compile))
       ,@body)))

(defun features-of-file (problem)
  "The features that PROBLEM, with which LOAD refuses a part of SBCL, says this SBCL lacks, or NIL. Only the user can have removed them."
  (when (string= "INVALID-FASL-FEATURES" (symbol-name (class-name (class-of problem))))
    (let ((text (find-if #'stringp (loop for slot in (sb-mop:class-slots (class-of problem))
                                         when (string= "FEATURES" (symbol-name (sb-mop:slot-definition-name slot)))
                                           collect (slot-value problem (sb-mop:slot-definition-name slot))))))
      (and text (let ((*package* (find-package "KEYWORD"))) (read-from-string text))))))

(defun require-part (name)
  "Load NAME, a part of this SBCL, whatever the image's user has set."
  (with-standard-settings
    (let ((*default-pathname-defaults* (make-pathname :directory (list :absolute))))
      (handler-case (require name)
        (error (problem)
          (let ((missing (ignore-errors (features-of-file problem))))
            (unless missing (error problem))
            (let* ((all (union missing *features*))
                   (new (let ((*features* all)) (require name) (set-difference *features* all))))
              ;; those that the part itself has added
              (setf *features* (append new *features*)))))))))

;;; Names that not every SBCL has

(defun existing-symbols (names)
  "Those symbols of NAMES, ((PACKAGE NAME) ...), that exist in this SBCL."
  (loop for (package name) in names
        for symbol = (and (find-package package) (find-symbol name package))
        when symbol collect symbol))

(defun value-if-bound (symbol)
  "The value of the variable SYMBOL, or NIL if this SBCL has no such variable."
  (and symbol (boundp symbol) (symbol-value symbol)))

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

(defparameter *thread-state-slot* (value-if-bound (first (existing-symbols '(("SB-VM" "THREAD-STATE-WORD-SLOT")))))
  "The slot of a thread structure whose first byte says whether the guard page is raised; NIL if this SBCL has no such slot.")

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

(defparameter *remove-direct-calls* (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "REMOVE-STATIC-LINKS")))))
  "SBCL's function that makes all code call a function by name.")

(defun remove-direct-calls (name)
  "Make all code call the function NAME by name, as SBCL does before it encapsulates NAME."
  (when (and *remove-direct-calls* (called-directly-p name))
    (funcall *remove-direct-calls* (funcall *find-fdefn* name))))

(defparameter *called-by-name* (first (existing-symbols '(("SB-VM" "*NEVER-STATICALLY-LINK*"))))
  "The variable with the names of functions that code in a saved core calls by name; NIL in an SBCL without it.")

(defun keep-called-by-name (names)
  "Make code in the core that will be saved call the functions NAMES by name. Saving makes most calls direct."
  (when (value-if-bound *called-by-name*)
    (setf (symbol-value *called-by-name*) (union names (symbol-value *called-by-name*) :test #'equal))))

;;; The compiler

(defparameter *warnings-p-variable* (first (existing-symbols '(("SB-C" "*WARNINGS-P*"))))
  "The variable that becomes the second value of COMPILE.")

(defparameter *failure-p-variable* (first (existing-symbols '(("SB-C" "*FAILURE-P*"))))
  "The variable that becomes the third value of COMPILE.")

(defun note-for-compile (failure-p)
  "Make a COMPILE or COMPILE-FILE that runs report a warning, and also a failure if FAILURE-P. => false if none runs"
  (flet ((note (variable)
           (when (and variable (boundp variable)) (setf (symbol-value variable) t))))
    (when failure-p (note *failure-p-variable*))
    (note *warnings-p-variable*)))

(defparameter *assert-function* (first (existing-symbols '(("SB-KERNEL" "ASSERT-ERROR"))))
  "SBCL's function that signals the error of ASSERT.")

(defmacro with-walk-of-code (&body body)
  "Evaluate BODY, in which SBCL walks all compiled code. No garbage is collected meanwhile.
SBCL holds its allocator's lock during such a walk. A thread that allocates code waits for that lock and keeps the collector off until it has
it. A collection that stops the walk then waits for that thread for ever, and the image hangs."
  `(sb-sys:without-gcing ,@body))

(defun inline-p (name)
  "True if calls of the function NAME may be compiled inline."
  (member (sb-int:info :function :inlinep name) '(inline sb-ext:maybe-inline)))

(defparameter *evaluator-functions*
  '(sb-int:simple-eval-in-lexenv sb-impl::%simple-eval sb-impl::simple-eval-progn-body sb-impl::simple-eval-locally)
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

(defparameter *method-function-names* '(sb-pcl::fast-method sb-pcl::slow-method)
  "The first elements of the names of method functions.")

;;; Threads

(defun guard-page-size ()
  "The size in bytes of each guard page of a control stack."
  sb-c:+backend-page-bytes+)

(defun interrupted-address ()
  "The address at which this thread was interrupted, or NIL outside an interrupt."
  (let ((count sb-kernel:*free-interrupt-context-index*))
    (and (plusp count)
         (let ((counter (sb-vm:context-pc (sb-di::nth-interrupt-context (1- count)))))
           (if (integerp counter) counter (sb-sys:sap-int counter))))))

;;; The process

(defun exit-in-progress-p ()
  "True while the image is exiting."
  (and (boundp 'sb-impl::*exit-in-progress*) (symbol-value 'sb-impl::*exit-in-progress*)))

(defun terminal-stream ()
  "The stream that SBCL uses for the terminal; it need not be a terminal stream."
  sb-impl::*tty*)

(defun set-homedir (folder)
  "Make REQUIRE look in FOLDER."
  (setf sb-sys::*sbcl-homedir-pathname* folder))

;;; The user's names, and names from code that may not be loaded

(declaim (inline accessible-symbol))
(defun accessible-symbol (name package)
  "=> the symbol NAME accessible in PACKAGE, and its status, or NIL if there is none. Interns nothing."
  (find-symbol name package))

(defun call-if-loaded (package name &rest arguments)
  "Call the function NAME of PACKAGE with ARGUMENTS if it exists."
  (let ((symbol (and (find-package package) (find-symbol name package))))
    (when (and symbol (fboundp symbol)) (apply symbol arguments))))

(defun value-if-loaded (package name)
  "The value of the variable NAME of PACKAGE, or NIL if there is no such variable."
  (value-if-bound (and (find-package package) (find-symbol name package))))

(defun runtime-name-p (name)
  "True if NAME is that of a package of this library, of any version."
  (eql 0 (search "SWANK-CLIENT/" name)))

(defun runtime-package-p (package)
  "True if PACKAGE is one of this library's, of any version."
  (let ((name (package-name package)))
    (and name (or (runtime-name-p name) (string= name "SWANK-OBJECTS")))))

(defun version-in-name (name)
  "The version in NAME, of a package that a client has loaded, or NIL."
  (let ((start (length "SWANK-CLIENT/")))
    (and (runtime-name-p name)
         (let ((slash (position #\/ name :start start))) (and slash (subseq name (1+ slash)))))))

(defun package-version (package)
  "The version of this library to which PACKAGE belongs, or NIL."
  (let ((name (package-name package))) (and name (version-in-name name))))

(defun runtime-symbol-p (symbol)
  "True if SYMBOL belongs to this library, of any version."
  (and (symbol-package symbol) (runtime-package-p (symbol-package symbol))))

(defun version-symbols (package-name symbol-name)
  "The symbols named SYMBOL-NAME in PACKAGE-NAME, for every loaded version of this library.
When a client loads the library, package names end with the version."
  (loop with prefix = (concatenate 'string "SWANK-CLIENT/" package-name)
        with length = (length prefix)
        for package in (list-all-packages)
        for name = (package-name package)
        for symbol = (and (eql 0 (search prefix name))
                          (or (= (length name) length) (char= #\/ (char name length)))
                          (find-symbol symbol-name package))
        when symbol collect symbol))

;;; Documentation

(defun type-docstring (name)
  "The docstring of the type or class NAME, or NIL. DOCUMENTATION would compile its methods, for which it needs the compiler's lock."
  (or (sb-int:info :type :documentation name)
      (let ((class (find-class name nil)))
        (and class (slot-exists-p class 'sb-pcl::%documentation) (slot-value class 'sb-pcl::%documentation)))))

;;; Files

(defun special-file-p (file)
  "True if FILE, a name, is a pipe or a device, which blocks those who read it."
  (multiple-value-bind (found device inode mode) (sb-unix:unix-stat file)
    (declare (ignore device inode))
    (and found (not (member (logand mode #o170000) '(#o100000 #o040000))))))
