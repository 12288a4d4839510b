;;;; How SBCL represents objects. Reading them this way calls none of the user's code.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-objects
  (:documentation "The parts of objects, read without calling the user's code.")
  (:use #:common-lisp)
  (:import-from #:sb-alien #:alien-sap #:slot)
  (:functions #:sb-alien-internals #:alien-value-type #:unparse-alien-type)
  (:functions #:sb-kernel #:%closure-index-ref #:%closure-values #:%fun-fun #:%instancep #:%other-pointer-p #:%pcl-instance-p
                          #:%simple-fun-type #:classoid-name #:classoid-pcl-class #:closurep #:dd-slots #:dsd-accessor-name #:dsd-index
                          #:dsd-name #:find-defstruct-description #:funcallable-instance-p #:value-cell-ref #:widetag-of)
  (:macros #:sb-pcl #:fsc-instance-slots #:std-instance-slots)
  (:variables #:sb-pcl #:+slot-unbound+)
  (:variables #:sb-vm #:value-cell-widetag)
  (:types #:sb-alien-internals #:alien-value)
  (:types #:sb-kernel #:ansi-stream #:instance)
  (:export #:alien-address #:alien-type #:closure-values #:function-code-type #:instance-slots #:layout-class #:layout-of-instance
           #:obsolete-name #:obsolete-p #:plain-stream-p #:slot-vector #:structure-parts #:structure-slot #:unbound-mark))

(in-package #:swank-client/sbcl-objects)

(defun first-function (&rest names)
  "The first function in SB-KERNEL that NAMES name, for names that differ between versions of SBCL."
  (loop for name in names
        for symbol = (find-symbol name "SB-KERNEL")
        when (and symbol (fboundp symbol)) return (fdefinition symbol)))

(defparameter *layout-of* (first-function "LAYOUT-OF" "WRAPPER-OF") "SBCL's function that returns the layout of an object.")

(defparameter *layout-invalid* (first-function "WRAPPER-INVALID" "LAYOUT-INVALID") "SBCL's function that tells whether a layout is out of date.")

(defparameter *layout-classoid* (first-function "WRAPPER-CLASSOID" "LAYOUT-CLASSOID") "SBCL's function that returns the class of a layout.")

(declaim (inline layout-of-instance))
(defun layout-of-instance (object)
  "The layout of OBJECT, an instance of a class."
  (funcall (the function *layout-of*) object))

(defun layout-class (layout)
  "The class whose instances have LAYOUT, or had it before the class was redefined; NIL if there is none."
  (let ((classoid (and (typep layout 'instance) (funcall *layout-classoid* layout))))
    (and classoid (or (classoid-pcl-class classoid) (find-class (classoid-name classoid) nil)))))

(defmacro unchecked (form)
  "FORM, a call of one of SBCL's readers, without its claim about the type of the value."
  (let ((expansion (macroexpand-1 form)))
    (if (and (consp expansion) (eq 'sb-ext:truly-the (first expansion))) (third expansion) form)))

(declaim (inline slot-vector))
(defun slot-vector (object)
  "The vector with the slots of OBJECT, or NIL if it is no instance of a standard class, or not complete yet."
  (when (%pcl-instance-p object)
    (let ((slots (if (%instancep object)
                     (unchecked (std-instance-slots object))
                     (unchecked (fsc-instance-slots object)))))
      (and (simple-vector-p slots) slots))))

(defun obsolete-p (object)
  "True if the class of OBJECT has been redefined since OBJECT was last used. Reading a slot would update OBJECT, which calls the user's code."
  (and *layout-of* *layout-invalid*
       ;; TYPEP with a class would update it
       (or (%instancep object) (funcallable-instance-p object))
       (funcall *layout-invalid* (funcall *layout-of* object))
       t))

(defun obsolete-name (object)
  "The name of the class of OBJECT, which is obsolete."
  (classoid-name (funcall *layout-classoid* (funcall *layout-of* object))))

(defun unbound-mark ()
  "The object that INSTANCE-SLOTS returns for the value of an unbound slot."
  '+unbound+)

(defun slot-content (object slot)
  "The value of SLOT, an effective slot definition, in OBJECT."
  (let ((location (and (typep object 'standard-object) (sb-mop:slot-definition-location slot))))
    (typecase location
      (fixnum (let ((value (if (funcallable-instance-p object)
                               (sb-mop:funcallable-standard-instance-access object location)
                               (sb-mop:standard-instance-access object location))))
                (if (eq value +slot-unbound+) (unbound-mark) value)))
      (cons (if (eq (cdr location) +slot-unbound+) (unbound-mark) (cdr location)))
      ;; conditions, and classes with a way of their own
      (t (if (slot-boundp object (sb-mop:slot-definition-name slot))
             (slot-value object (sb-mop:slot-definition-name slot))
             (unbound-mark))))))

(defun instance-slots (object)
  "((NAME VALUE SHARED-P) ...) of OBJECT, an instance of a standard or condition class."
  (loop for slot in (sb-mop:class-slots (class-of object))
        collect (list (sb-mop:slot-definition-name slot)
                      (slot-content object slot)
                      (eq :class (sb-mop:slot-definition-allocation slot)))))

(defun structure-description (object)
  "SBCL's description of the structure OBJECT, or NIL. The type of an alien is no name."
  (find-defstruct-description (class-name (class-of object)) nil))

(defun structure-parts (object)
  "((NAME VALUE ACCESSOR) ...) of the structure OBJECT. ACCESSOR is NIL if no function reads the slot."
  (let ((description (structure-description object)))
    (loop for slot in (and description (dd-slots description))
          for name = (dsd-name slot)
          for accessor = (dsd-accessor-name slot)
          collect (list name
                        (handler-case (slot-value object name)
                          (error () (unbound-mark)))
                        (and accessor (symbol-package accessor) (fboundp accessor) accessor)))))

(defun structure-slot (object index)
  "(NAME ACCESSOR) of the slot of the structure OBJECT at the word INDEX, or NIL. ACCESSOR is NIL if no function reads the slot."
  (let* ((description (and (not (obsolete-p object)) (structure-description object)))
         (slot (and description (find index (dd-slots description) :key #'dsd-index))))
    (and slot
         (let ((accessor (dsd-accessor-name slot)))
           (list (dsd-name slot) (and accessor (symbol-package accessor) (fboundp accessor) accessor))))))

(defun closure-values (function)
  "((VALUE ASSIGNED-P INDEX) ...) of the variables that FUNCTION closes over. INDEX is that of %CLOSURE-INDEX-REF."
  (when (closurep function)
    ;; SBCL stores those of a function in reverse
    (loop for index from (1- (length (%closure-values function))) downto 0
          for value = (%closure-index-ref function index)
          for cellp = (and (%other-pointer-p value)
                           (= (widetag-of value) value-cell-widetag))
          collect (list (if cellp (value-cell-ref value) value) cellp index))))

(defun alien-type (object)
  "The type of OBJECT in C, as SB-ALIEN writes it, or NIL if OBJECT is no alien."
  (and (typep object 'alien-value)
       (unparse-alien-type (alien-value-type object))))

(defun alien-address (alien)
  "The address of ALIEN, as a system area pointer."
  (alien-sap alien))

(defun function-code-type (function)
  "The type of FUNCTION that the compiler derived."
  (%simple-fun-type (%fun-fun function)))

(defun plain-stream-p (stream)
  "True if STREAM is one of SBCL's own: asking for its properties calls none of the user's code."
  (typep stream 'ansi-stream))
