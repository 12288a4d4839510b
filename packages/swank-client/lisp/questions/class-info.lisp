;;;; Describes classes and generic functions: what is inherited, and which methods there are.

(in-package #:swank-client/questions)

(defconstant +methods-limit+ 100 "Methods of a class or a generic function that are listed.")

(defconstant +classes-limit+ 100 "Subclasses and slots of a class that are listed.")

(defun first-ones (list limit)
  "The first LIMIT elements of LIST."
  (subseq list 0 (min limit (length list))))

(defun class-names (classes)
  "((NAME ...) COUNT) for CLASSES: at most +CLASSES-LIMIT+ names, and the number of all."
  (list (loop for class in (first-ones classes +classes-limit+) collect (name-text (class-name class)))
        (length classes)))

(defun located (definition)
  "The plist that describes DEFINITION, as REFERENCE-ENTRY does, and its :SYSTEM."
  (list* :system (or-nil (system-of definition)) (reference-entry definition nil)))

(defun method-entry (definition)
  "The plist that describes DEFINITION, of a method, with the classes :ON which it specializes that come from another system."
  (list* :on (recording-faults (foreign-classes definition)) (located definition)))

(defun machinery-p (definition)
  "True if DEFINITION is of a method that SBCL or this library made for itself: it is not from a file, and is for its own class or any slot."
  (let ((name (definition-name definition)))
    (or (and (consp name) (not (eq (first name) 'setf)))
        (and (null (record-path definition)) (null (evaluation-of definition))
             (some #'own-specializer-p (remove (find-class t) (sb-mop:method-specializers (definition-method definition))))))))

(defun method-list (methods)
  "((ENTRY ...) COUNT COUNT-OF-LISPS-OWN) for METHODS: the program's in the order of their places, and the number of them."
  (multiple-value-bind (programs own) (split-by-owner (remove-if #'machinery-p (mapcar #'method-definition methods)))
    (list (mapcar #'method-entry (first-ones (by-place programs) +methods-limit+))
          (length programs)
          (length own))))

;;; Slots

(defun slot-entry (name class own-class &key (type t) (initform nil initformp) initargs readers writers (allocation :instance))
  "The plist that describes the slot NAME, which CLASS gives to OWN-CLASS."
  (list :name (name-text name)
        :from (and (not (eq class own-class)) (name-text (class-name class)))
        :type (and (not (eq type t)) (name-text type))
        :initform (and initformp (name-text initform))
        :initargs (mapcar #'name-text initargs)
        :readers (mapcar #'name-text readers)
        :writers (mapcar #'name-text writers)
        :shared (eq allocation :class)))

(defun direct-slot-entry (slot class own-class)
  "The plist that describes SLOT, a direct slot of CLASS."
  (apply #'slot-entry (sb-mop:slot-definition-name slot) class own-class
         :type (sb-mop:slot-definition-type slot)
         :initargs (sb-mop:slot-definition-initargs slot)
         :readers (sb-mop:slot-definition-readers slot)
         :writers (sb-mop:slot-definition-writers slot)
         :allocation (sb-mop:slot-definition-allocation slot)
         (and (sb-mop:slot-definition-initfunction slot)
              (list :initform (sb-mop:slot-definition-initform slot)))))

(defun structure-slot-entries (class)
  "The plists that describe the slots of CLASS, a structure class."
  (loop for (name accessor type default read-only) in (structure-slots (class-name class))
        collect (slot-entry name class class :type type :initform default :readers (list accessor)
                                             :writers (and (not read-only) (list (list 'setf accessor))))))

(defun slot-entries (class precedence)
  "The plists that describe the slots of CLASS, those of each class of PRECEDENCE."
  (if (typep class 'structure-class)
      (structure-slot-entries class)
      (loop for super in precedence
            append (loop for slot in (or-nil (sb-mop:class-direct-slots super))
                         unless (lisps-own-slot-p slot)
                           collect (direct-slot-entry slot super class)))))

(defun lisps-own-slot-p (slot)
  "True if SLOT is one that SBCL uses internally."
  (let ((package (symbol-package (sb-mop:slot-definition-name slot))))
    (and package (package-name package) (implementation-package-p package))))

;;; Classes

(defun precedence-of (class)
  "The classes that CLASS inherits from, itself included, in their order; NIL if one of them is not defined yet."
  (or-nil (if (sb-mop:class-finalized-p class)
              (sb-mop:class-precedence-list class)
              (sb-mop:compute-class-precedence-list class))))

(defun undefined-classes (class)
  "The classes that are not defined yet among CLASS and all its superclasses."
  (let ((seen '()) (left (list class)))
    (loop while left
          do (let ((next (pop left)))
               (unless (member next seen)
                 (push next seen)
                 (setf left (append left (sb-mop:class-direct-superclasses next))))))
    (remove-if-not (lambda (one) (typep one 'sb-mop:forward-referenced-class)) (nreverse seen))))

(defun accessor-names (classes)
  "The names of the functions that read or write direct slots of CLASSES."
  (loop for class in classes
        append (loop for slot in (or-nil (sb-mop:class-direct-slots class))
                     append (sb-mop:slot-definition-readers slot)
                     append (sb-mop:slot-definition-writers slot))))

(defun own-methods (class)
  "The methods that specialize on CLASS, without the plain accessors of its slots."
  (let ((accessors (accessor-names (list class))))
    (remove-if (lambda (method)
                 (and (null (method-qualifiers method))
                      (member (sb-mop:generic-function-name (sb-mop:method-generic-function method)) accessors :test #'equal)))
               (specializing-methods class))))

(defun class-facts (class)
  "The plist that describes CLASS."
  (let* ((precedence (precedence-of class))
         (slots (slot-entries class (or precedence (list class)))))
    (list :kind (class-kind class)
          :metaclass (name-text (class-name (class-of class)))
          :place (located (class-definition class))
          :precedence (class-names precedence)
          :undefined (class-names (and (null precedence) (undefined-classes class)))
          :superclasses (class-names (sb-mop:class-direct-superclasses class))
          :subclasses (class-names (sb-mop:class-direct-subclasses class))
          :slots (first-ones slots +classes-limit+)
          :slot-count (length slots)
          :methods (method-list (own-methods class)))))

;;; Generic functions

(defun function-facts (name symbol)
  "The plist that describes the generic function NAME, SYMBOL or (SETF SYMBOL)."
  (let ((function (fdefinition name)))
    (list :name (name-text name)
          :arglist (arglist-text name symbol)
          :combination (let ((combination (method-combination-name function)))
                         (and (not (eq combination 'standard)) (name-text combination)))
          :place (located (operator-definition name))
          :methods (method-list (sb-mop:generic-function-methods function))
          :call (and *call* (methods-called name)))))

(defun class-info (text package-text &optional sources)
  "Describe the class and the generic function that TEXT, NAME or (setf NAME), names. SOURCES are the arguments of a call of the function.
=> (:found NAME CLASS-PLIST-OR-NIL FUNCTION-PLIST-OR-NIL OTHER-KINDS SYSTEMS-KNOWN-P) | the replies of CALL-WITH-NAMED"
  (with-code-session (package-text)
    (call-with-named text
                     (lambda (symbol status package)
                       (declare (ignore status package))
                       (let* ((setf-p (setf-text-p (trimmed text)))
                              (name (if setf-p (list 'setf symbol) symbol))
                              (class (and (not setf-p) (find-class symbol nil)))
                              (*call* sources))
                         (with-files ()
                           (with-file-systems (systems-known-p)
                             (with-printing-time
                               (list :found (name-text name)
                                     (and class (class-facts class))
                                     (and (and (fboundp name) (typep (fdefinition name) 'generic-function)) (function-facts name symbol))
                                     (kinds-of name)
                                     systems-known-p)))))))))
