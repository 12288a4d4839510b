;;;; What SBCL records about functions and names.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-functions
  (:documentation "What SBCL records about functions and names.")
  (:use #:common-lisp)
  (:functions #:sb-c #:definition-source-location-namestring #:map-packed-xref-data)
  (:functions #:sb-disassem #:disassemble-code-component #:disassemble-memory)
  (:functions #:sb-int #:call-with-each-globaldb-name #:clear-info #:info #:legal-fun-name-p)
  (:types #:sb-int #:bug)
  (:functions #:sb-kernel #:%code-debug-info #:%code-entry-point #:%coerce-callable-to-fun #:%fun-fun #:%fun-lambda-list #:%fun-name
                          #:%simple-fun-xrefs #:code-instructions #:code-n-entries #:fun-code-header)
  (:functions #:sb-pcl #:%method-function-fast-function)
  (:names #:sb-pcl #:%documentation #:fast-method #:slow-method)
  (:export #:%code-debug-info #:%code-entry-point #:%coerce-callable-to-fun #:%fun-fun #:%fun-lambda-list #:%fun-name
           #:%method-function-fast-function #:*method-function-names* #:clear-compiler-info #:code-instructions #:code-n-entries
           #:call-walking #:compiler-info #:definition-source-location-namestring #:disassemble-code-component #:disassemble-memory #:fun-code-header
           #:inline-p #:legal-fun-name-p #:recorded-references #:type-docstring #:with-walk-of-memory))

(in-package #:swank-client/sbcl-functions)

(defparameter *method-function-names* '(fast-method slow-method)
  "The first elements of the names of method functions.")

(defun inline-p (name)
  "True if calls of the function NAME may be compiled inline."
  (member (info :function :inlinep name) '(inline sb-ext:maybe-inline)))

(defun type-docstring (name)
  "The docstring of the type or class NAME, or NIL. DOCUMENTATION would compile its methods, for which it needs the compiler's lock."
  (or (info :type :documentation name)
      (let ((class (find-class name nil)))
        (and class (slot-exists-p class '%documentation) (slot-value class '%documentation)))))

(defconstant +walks+ 20 "How often a walk of memory that met an error of SBCL is tried.")

(defvar *walk-lock* (sb-thread:make-mutex :name "swank-client walks memory") "Held by the thread that walks memory.")

(defun call-walking-once (function)
  "Call FUNCTION when no other thread walks memory. No garbage is collected meanwhile.
=> a list of its values, or NIL and the error that ended it"
  (let ((taken nil))
    (sb-sys:without-interrupts
      (unwind-protect
           (when (setf taken (sb-sys:allow-with-interrupts (sb-thread:grab-mutex *walk-lock*)))
             (sb-sys:without-gcing
               (handler-case (multiple-value-list (funcall function))
                 (error (error) (values nil error)))))
        (when taken (sb-thread:release-mutex *walk-lock*))))))

(defun call-walking (function)
  "Call FUNCTION, in which SBCL walks all objects or all compiled code. It is called again if SBCL met memory that a thread was changing.
=> its values"
  (loop for walk from 1
        do (multiple-value-bind (results error) (call-walking-once function)
             (cond ((null error) (return (values-list results)))
                   ;; outside the walk: a thread that stopped there would hold off the collector, and with it all threads
                   ((or (= walk +walks+) (not (typep error '(or bug sb-sys:memory-fault-error)))) (error error))
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

(defun uses-p (function kind name)
  "True if SBCL has recorded a cross reference of KIND from FUNCTION to NAME."
  (let ((references (%simple-fun-xrefs (%fun-fun function))))
    (when references
      (map-packed-xref-data (lambda (its-kind its-name number)
                              (declare (ignore number))
                              (when (and (eq its-kind kind) (equal its-name name)) (return-from uses-p t)))
                            references)
      nil)))

(defun users-by-name (kind name)
  "The names of functions, methods excepted, that have a cross reference of KIND to NAME. Needs no place of the functions in a file."
  (let ((users '()))
    (call-with-each-globaldb-name
     (lambda (user)
       (when (and (sb-introspect:valid-function-name-p user) (fboundp user) (not (and (symbolp user) (special-operator-p user))))
         (let ((function (or (and (symbolp user) (macro-function user)) (fdefinition user))))
           (when (and (compiled-function-p function) (uses-p function kind name)) (push user users))))))
    users))

(defun recorded-references (kind name)
  "((USER . PLACE) ...): the functions with a cross reference of KIND, such as :CALLS, to NAME. PLACE is SBCL's record of the function's place,
or NIL."
  (handler-case (with-walk-of-memory
                  (ecase kind
                    (:calls (sb-introspect:who-calls name))
                    (:references (sb-introspect:who-references name))
                    (:binds (sb-introspect:who-binds name))
                    (:sets (sb-introspect:who-sets name))
                    (:macroexpands (sb-introspect:who-macroexpands name))))
    ;; while SBCL from 2.5 loads a file with users, it does not know their places yet
    (type-error () (mapcar #'list (users-by-name kind name)))))
