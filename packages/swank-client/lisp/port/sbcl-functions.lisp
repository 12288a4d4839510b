;;;; What SBCL records about functions and names.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-functions
  (:documentation "What SBCL records about functions and names.")
  (:use #:common-lisp)
  (:functions #:sb-c #:definition-source-location-namestring #:map-packed-xref-data)
  (:functions #:sb-disassem #:disassemble-code-component #:disassemble-memory)
  (:functions #:sb-int #:call-with-each-globaldb-name #:clear-info #:info #:legal-fun-name-p)
  (:functions #:sb-kernel #:%code-debug-info #:%code-entry-point #:%coerce-callable-to-fun #:%fun-fun #:%fun-lambda-list #:%fun-name
                          #:%simple-fun-xrefs #:code-instructions #:code-n-entries #:fun-code-header)
  (:functions #:sb-pcl #:%method-function-fast-function)
  (:names #:sb-pcl #:%documentation #:fast-method #:slow-method)
  (:export #:%code-debug-info #:%code-entry-point #:%coerce-callable-to-fun #:%fun-fun #:%fun-lambda-list #:%fun-name
           #:%method-function-fast-function #:*method-function-names* #:clear-compiler-info #:code-instructions #:code-n-entries
           #:compiler-info #:definition-source-location-namestring #:disassemble-code-component #:disassemble-memory #:fun-code-header
           #:inline-p #:legal-fun-name-p #:recorded-references #:type-docstring #:with-walk-of-code))

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

(defmacro with-walk-of-code (&body body)
  "Evaluate BODY, in which SBCL walks all compiled code. No garbage is collected meanwhile.
SBCL holds its allocator's lock during such a walk. A thread that allocates code waits for that lock and keeps the collector off until it has
it. A collection that stops the walk then waits for that thread for ever, and the image hangs."
  `(sb-sys:without-gcing ,@body))

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
  (handler-case (with-walk-of-code
                  (ecase kind
                    (:calls (sb-introspect:who-calls name))
                    (:references (sb-introspect:who-references name))
                    (:binds (sb-introspect:who-binds name))
                    (:sets (sb-introspect:who-sets name))
                    (:macroexpands (sb-introspect:who-macroexpands name))))
    ;; while SBCL from 2.5 loads a file with users, it does not know their places yet
    (type-error () (mapcar #'list (users-by-name kind name)))))
