;;;; The internal functions of SBCL that call methods. compat/sbcl.lisp exports their names.

(in-package #:swank-client/sbcl)

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
  (if class (list 'sb-pcl::class-eq class) (list 'eql object)))

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
