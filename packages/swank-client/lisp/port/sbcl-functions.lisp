;;;; What SBCL records about functions and names.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-functions
  (:documentation "What SBCL records about functions and names.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:functions #:sb-c #:definition-source-location-namestring #:map-packed-xref-data)
  (:functions #:sb-disassem #:disassemble-code-component #:disassemble-memory)
  (:functions #:sb-int #:call-with-each-globaldb-name #:clear-info #:info #:legal-fun-name-p)
  (:functions #:sb-vm #:map-code-objects)
  (:types #:sb-int #:bug)
  (:functions #:sb-kernel #:%closure-values #:%code-debug-info #:%code-entry-point #:%fun-fun #:%fun-lambda-list #:%fun-name
                          #:%simple-fun-xrefs #:closurep #:code-instructions #:code-n-entries #:fun-code-header)
  (:functions #:sb-pcl #:%method-function-fast-function)
  (:names #:sb-pcl #:%documentation #:fast-method #:slow-method)
  (:export #:%code-debug-info #:%code-entry-point #:%fun-fun #:%fun-lambda-list #:%fun-name
           #:%method-function-fast-function #:*method-function-names* #:all-code #:call-walking #:clear-compiler-info #:code-instructions
           #:code-n-entries #:compiler-info #:definition-source-location-namestring #:disassemble-code-component #:disassemble-memory
           #:fun-code-header #:functions-called #:functions-named #:functions-in #:inline-p #:legal-fun-name-p #:method-code #:method-function-name-p
           #:recorded-references #:type-docstring #:with-walk-of-memory))

(in-package #:swank-client/sbcl-functions)

(defparameter *method-function-names* '(fast-method slow-method)
  "The first elements of the names of method functions.")

(defun method-function-name-p (name)
  "True if NAME is the first element of the names of method functions."
  (member name *method-function-names*))

(defun inline-p (name)
  "True if calls of the function NAME may be compiled inline."
  (member (info :function :inlinep name) '(inline sb-ext:maybe-inline)))

(defun type-docstring (name)
  "The docstring of the type or class NAME, or NIL. DOCUMENTATION would compile its methods, for which it needs the compiler's lock."
  (or (info :type :documentation name)
      (let ((class (find-class name nil)))
        (and class (slot-exists-p class '%documentation) (slot-value class '%documentation)))))

(defconstant +walks+ 20 "How often a walk of memory is tried that SBCL cannot end.")

(defconstant +wait-for-walk+ 5 "Seconds that a walk waits for the walks of other threads, which a debugger may have stopped.")

(defvar *walk-lock*
  (or (get :swank-client :walk-lock)
      (setf (get :swank-client :walk-lock) (sb-thread:make-mutex :name "swank-client walks memory")))
  "Held by the thread that walks memory. All versions of this file share it.")

(defun call-for-walk (function)
  "Call FUNCTION while no garbage is collected. A wait for a lock of SBCL becomes an error at once: its owner may wait for the collector.
=> a list of its values, or NIL and the error that ended it"
  (sb-sys:without-gcing
    ;; a thread that stopped in the debugger here would hold off the collector, and with it all threads
    (handler-case (let ((*break-on-signals* nil))
                    (sb-sys:with-deadline (:seconds 1/10 :override t) (multiple-value-list (funcall function))))
      (serious-condition (condition) (values nil condition)))))

(defun call-walking-once (function)
  "As CALL-FOR-WALK, beside no other walk, if they end in time."
  (if (sb-thread:holding-mutex-p *walk-lock*)
      (call-for-walk function)
      (unwind-protect (progn (sb-thread:grab-mutex *walk-lock* :timeout +wait-for-walk+)
                             (call-for-walk function))
        (when (sb-thread:holding-mutex-p *walk-lock*) (sb-thread:release-mutex *walk-lock*)))))

(defun call-walking (function)
  "Call FUNCTION, in which SBCL walks all objects or all compiled code. It is called again if SBCL met memory that a thread was changing, or a
lock that another thread held.
=> its values"
  (loop for walk from 1
        do (multiple-value-bind (results condition) (call-walking-once function)
             (cond ((null condition) (return (values-list results)))
                   ((or (= walk +walks+) (not (typep condition '(or bug sb-sys:memory-fault-error sb-sys:deadline-timeout)))) (error condition))
                   (t (sleep 0.01))))))

(defmacro with-walk-of-memory (&body body)
  "Evaluate BODY, in which SBCL walks all objects or all compiled code, perhaps several times. No garbage is collected meanwhile.
SBCL holds its allocator's lock during a walk of code. A thread that allocates code waits for that lock and keeps the collector off until it has
it. A collection that stops the walk then waits for that thread for ever, and the image hangs."
  `(call-walking (lambda () ,@body)))

(defmacro compiler-info (category kind name)
  "What SBCL's compiler knows as KIND, of CATEGORY, about NAME."
  `(info ,category ,kind ,name))

(defmacro clear-compiler-info (category kind name)
  "Make SBCL's compiler forget what it knows as KIND, of CATEGORY, about NAME."
  `(clear-info ,category ,kind ,name))

(defconstant +wrappers+ 3 "Closures around a function that are looked into.")

(defun functions-in (code)
  "The functions in CODE, a code object."
  (loop for index below (code-n-entries code) collect (%code-entry-point code index)))

(defun all-code ()
  "All code objects in memory, also those that were replaced."
  (with-walk-of-memory
    (let ((codes '()))
      (map-code-objects (lambda (code) (push code codes)))
      codes)))

(defun uses (function kind name)
  "The numbers of the forms of FUNCTION whose cross references of KIND are to NAME."
  (let ((references (%simple-fun-xrefs function)) (numbers '()))
    (when references
      (map-packed-xref-data (lambda (its-kind its-name number)
                              (when (and (eq its-kind kind) (equal its-name name)) (push number numbers)))
                            references))
    numbers))

(defun functions-called (function)
  "The names of the functions that FUNCTION or a local function of it calls by name, as far as SBCL has recorded calls."
  (let ((names '()))
    (dolist (part (functions-in (fun-code-header (%fun-fun function))) names)
      (let ((references (%simple-fun-xrefs part)))
        (when references
          (map-packed-xref-data (lambda (kind name number)
                                  (declare (ignore number))
                                  (when (eq kind :calls) (pushnew name names :test #'equal)))
                                references))))))

(defun place-of-use (function number)
  "SBCL's record of the place of FUNCTION, with the NUMBER of a form in it, or NIL. While SBCL from 2.5 loads a file, it does not know the places
of its functions yet."
  (let ((place (nil-on type-error (sb-introspect:find-definition-source function))))
    (when place (setf (sb-introspect:definition-source-form-number place) number))
    place))

(defun method-code (method)
  "The function that runs METHOD. One that a program has made itself may have an ordinary function."
  (let ((function (sb-mop:method-function method)))
    (or (nil-on type-error (%method-function-fast-function function)) function)))

(defun functions-inside (functions)
  "FUNCTIONS as the compiler made them, and those that closures among them hold, as one that wraps a function does; with repetitions. Without
generic functions, which share code."
  (let ((found '()))
    (labels ((visit (function depth)
               (let ((compiled (and (not (typep function 'generic-function)) (nil-on type-error (%fun-fun function)))))
                 (when compiled
                   (push compiled found)
                   (when (and (closurep function) (plusp depth))
                     (dolist (value (%closure-values function))
                       (when (functionp value) (visit value (1- depth)))))))))
      (dolist (function functions) (visit function +wrappers+)))
    found))

(defun functions-named (name)
  "=> the functions that NAME, as the compiler names code, denotes now, and true if it is the name of a definition"
  (flet ((known (functions) (values (functions-inside (remove nil functions)) t)))
    (typecase name
      ((cons (eql macro-function)) (known (list (macro-function (second name)))))
      ((cons (eql compiler-macro)) (known (list (compiler-macro-function (second name)))))
      ((cons (satisfies method-function-name-p))
       (let ((function (and (legal-fun-name-p (second name)) (fboundp (second name)) (fdefinition (second name)))))
         (known (and (typep function 'generic-function) (mapcar #'method-code (sb-mop:generic-function-methods function))))))
      (t (if (legal-fun-name-p name)
             (known (and (fboundp name) (list (fdefinition name))))
             (values '() nil))))))

(defun definition-name-p (name)
  "True if NAME, as the compiler names code, is the name of a definition."
  (nth-value 1 (functions-named name)))

(defun names-of-functions ()
  "A name of each function that has one, by the function."
  (let ((names (make-hash-table :test 'eq)))
    (call-with-each-globaldb-name
     (lambda (name)
       (when (and (legal-fun-name-p name) (fboundp name))
         (dolist (function (functions-inside (list (fdefinition name)))) (setf (gethash function names) name)))))
    names))

(defun user-finder ()
  "A function of a function in compiled code. It returns the name under which that is in use, or NIL if it has been replaced: its own, if this
denotes it; otherwise that of a definition that it has become. One that is no definition has its own with one in the same code, or if there is
none."
  (let ((names nil))
    (labels ((definition-p (function) (definition-name-p (%fun-name function)))
             (name-in-use (function)
               (let ((name (%fun-name function)))
                 (if (member function (functions-named name))
                     name
                     (values (gethash function (or names (setf names (names-of-functions))))))))
             (in-use-p (function)
               (let ((definitions (remove-if-not #'definition-p (functions-in (fun-code-header function)))))
                 (or (null definitions) (some #'name-in-use definitions)))))
      (lambda (function)
        (or (name-in-use function)
            (and (not (definition-p function)) (in-use-p function) (%fun-name function)))))))

(defun recorded-references (kind name)
  "((USER . PLACE) ...): the functions in use with a cross reference of KIND, such as :CALLS, to NAME. USER is a function's name as the compiler
gives it, or the one under which it is in use. PLACE is SBCL's record of the place of the use, or NIL."
  (loop with user-of = (user-finder)
        for code in (all-code)
        nconc (loop for function in (functions-in code)
                    for numbers = (uses function kind name)
                    for user = (and numbers (funcall user-of function))
                    when user nconc (loop for number in numbers collect (cons user (place-of-use function number))))))
