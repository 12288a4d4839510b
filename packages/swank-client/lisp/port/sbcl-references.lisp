;;;; Which objects an object refers to. These are internals of SBCL.
;;;; Objects are read as they are: no lock is taken, no code of the user is called, and no obsolete instance is updated. Other threads may
;;;; change them meanwhile, so each word is read once, and used only if it points into the heap.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-references
  (:documentation "Which objects an object refers to.")
  (:use #:common-lisp)
  (:import-from #:swank-client/sbcl-objects #:layout-of-instance #:slot-vector)
  (:functions #:sb-impl #:hash-table-pairs #:hash-table-test-fun)
  (:functions #:sb-kernel #:%array-data #:%closure-fun #:%closure-index-ref #:%funcallable-instance-fun #:%instance-ref #:code-header-ref
                          #:closurep #:code-header-words #:dynamic-space-obj-p #:fdefn-fun #:fdefn-name #:fun-code-header
                          #:funcallable-instance-p #:get-closure-length
                          #:get-lisp-obj-address #:symbol-%info #:symbol-tls-index #:value-cell-ref #:widetag-of)
  (:macros #:sb-kernel #:do-instance-tagged-slot)
  (:variables #:sb-vm #:code-constants-offset #:value-cell-widetag)
  (:types #:sb-kernel #:code-component #:fdefn #:funcallable-instance #:instance)
  (:names #:sb-c #:fast-symbol-global-value)
  (:export #:bound-symbols #:call-with-references #:entry-at #:fdefn #:fdefn-name #:funcallable-instance #:instance #:leaf-p #:map-entries
           #:pointer-p #:reference-code #:reference-kind #:value-in-thread-of))

(in-package #:swank-client/sbcl-references)

;;; What can be followed

(defconstant +low-spaces-end+ (ash 1 32) "SBCL's spaces of fixed addresses are below this one.")

(defmacro immobile-p (word)
  "True if WORD is an object in the space of code, symbols and layouts that do not move, which some SBCLs put at any address."
  (let ((symbol (find-symbol "IMMOBILE-SPACE-OBJ-P" "SB-KERNEL")))
    (and symbol (fboundp symbol) (list symbol word))))

(declaim (inline pointer-p))
(defun pointer-p (word)
  "True if WORD, read from an object, is an object in the heap or in a space of SBCL's own: no number, mark, or object on a stack."
  (let ((address (get-lisp-obj-address word)))
    (and (= 3 (logand 3 address))
         (or (dynamic-space-obj-p word)
             (< address +low-spaces-end+)
             (immobile-p word)))))

(declaim (inline leaf-p))
(defun leaf-p (object)
  "True if OBJECT refers to no other."
  (typecase object
    ((or null number character) t)
    ((or cons simple-vector) nil)
    ((simple-array * (*)) t)
    ((or sb-ext:weak-pointer sb-sys:system-area-pointer) t)))

;;; References. Each has a kind, and an index where an object has several of a kind.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *reference-kinds* #(:car :cdr :element :data :key :value :slot :standard-slot :closed :function :constant :global :information :cell
                          :definition :binding :package)
    "The kinds of references."))

(defun reference-kind (code)
  "=> the kind and the index of the reference whose CODE is given"
  (values (aref *reference-kinds* (logand 31 code)) (ash code -5)))

(defun reference-code (kind index)
  "The code of the reference of KIND at INDEX."
  (logior (position kind *reference-kinds*) (ash index 5)))

(defmacro reference (kind word &optional (index 0))
  "Call VISIT with WORD and the code of its KIND and INDEX, if it is to be followed."
  (let ((value (gensym "WORD")))
    `(let ((,value ,word))
       (when (pointer-p ,value)
         (funcall visit ,value (logior ,(position kind *reference-kinds*) (the fixnum (ash (the (unsigned-byte 56) ,index) 5))))))))

(defmacro define-references (name (object) documentation &body body)
  "Define the function NAME that calls VISIT with the references of OBJECT."
  `(defun ,name (,object visit)
     ,documentation
     (declare (function visit))
     ,@body))

(define-references table-references (table)
  "Visit what TABLE, a hash table that is not weak, keeps alive."
  (let ((pairs (hash-table-pairs table)))
    (reference :function (hash-table-test-fun table))
    (loop for index from 2 below (1- (length pairs)) by 2
          do (reference :key (svref pairs index) index)
             (reference :value (svref pairs (1+ index)) index))))

(define-references standard-references (slots)
  "Visit the values in SLOTS, the vector with the slots of an instance of a standard class."
  (declare (simple-vector slots))
  (loop for index from 0 below (length slots)
        do (reference :standard-slot (svref slots index) index)))

(define-references instance-references (object)
  "Visit the slots of OBJECT, an instance of a structure, condition or standard class."
  (cond ((eql 0 (layout-of-instance object)))
        ((slot-vector object) (standard-references (slot-vector object) visit))
        ((hash-table-p object) (unless (sb-ext:hash-table-weakness object) (table-references object visit)))
        (t (do-instance-tagged-slot (index object)
             (reference :slot (%instance-ref object index) index)))))

(define-references function-references (function)
  "Visit what FUNCTION refers to: the values that it closes over, and the constants of its code."
  (cond ((closurep function)
         (reference :function (%closure-fun function))
         (loop for index from 0 below (1- (get-closure-length function))
               do (reference :closed (%closure-index-ref function index) index)))
        ((funcallable-instance-p function)
         (reference :function (%funcallable-instance-fun function))
         (let ((slots (slot-vector function)))
           (when slots (standard-references slots visit))))
        (t (reference :function (fun-code-header function)))))

(define-references code-references (code)
  "Visit the constants of CODE."
  (loop for index from code-constants-offset below (code-header-words code)
        do (reference :constant (code-header-ref code index) index)))

(declaim (inline symbol-cell))
(defun symbol-cell (symbol)
  "The word that is the global value of SYMBOL, or a mark."
  (sb-sys:%primitive fast-symbol-global-value symbol))

(defun definition-of (symbol)
  "The function or macro function that SYMBOL names, with what encapsulates it, or NIL. FIND-FDEFN fails for some symbols in newer SBCLs."
  (and (fboundp symbol)
       (not (special-operator-p symbol))
       (or (macro-function symbol) (symbol-function symbol))))

(define-references symbol-references (symbol)
  "Visit the global value and the definitions of SYMBOL."
  (reference :global (symbol-cell symbol))
  (let ((definition (definition-of symbol)))
    (when definition (reference :definition definition)))
  (reference :information (symbol-%info symbol))
  (reference :package (symbol-package symbol)))

(define-references other-references (object)
  "Visit what OBJECT, which is no list, vector, instance, function or symbol, refers to."
  (typecase object
    (fdefn (reference :function (fdefn-fun object)))
    (code-component (code-references object visit))
    (array (reference :data (%array-data object)))
    (t (when (= value-cell-widetag (widetag-of object))
         (reference :cell (value-cell-ref object))))))

(define-references vector-references (vector)
  "Visit the elements of VECTOR, unless it is weak."
  (unless (sb-ext:weak-vector-p vector)
    (loop for index from 0 below (length vector)
          do (reference :element (svref vector index) index))))

(define-references call-with-references (object)
  "Call VISIT with each object that OBJECT keeps alive by itself, and with a code, for REFERENCE-KIND."
  (declare (optimize speed (sb-ext:inhibit-warnings 3)))
  (typecase object
    (cons
     (reference :car (car object))
     (reference :cdr (cdr object)))
    (simple-vector (vector-references object visit))
    (instance (instance-references object visit))
    (function (function-references object visit))
    (symbol (symbol-references object visit))
    (t (other-references object visit))))

(defun map-entries (function table)
  "Call FUNCTION with each key, value and index in TABLE, a weak hash table. A mark may stand for a key or value."
  (declare (function function))
  (loop with pairs = (hash-table-pairs table)
        for index from 2 below (1- (length pairs)) by 2
        do (funcall function (svref pairs index) (svref pairs (1+ index)) index)))

(defun entry-at (table index)
  "=> the key and the value of the entry of TABLE, a hash table, to which a reference with INDEX leads"
  (let ((pairs (hash-table-pairs table)))
    (and (< (1+ index) (length pairs))
         (let ((key (svref pairs index)))
           (values (if (or (pointer-p key) (typep key '(or number character))) key nil) (svref pairs (1+ index)))))))

;;; Variables that threads bind

(defun bound-symbols ()
  "The symbols that a thread may have bound."
  (let ((symbols '()) (seen (make-hash-table :test 'eq)))
    (do-all-symbols (symbol symbols)
      (when (and (plusp (symbol-tls-index symbol)) (not (gethash symbol seen)))
        (setf (gethash symbol seen) t)
        (push symbol symbols)))))

(defun value-in-thread-of (symbol thread)
  "=> the value that THREAD has bound SYMBOL to, and true, unless there is none or it is on a stack"
  (multiple-value-bind (value boundp)
      (handler-case (sb-thread:symbol-value-in-thread symbol thread nil)
        (error () nil))
    (and boundp
         (pointer-p value)
         (not (eq value (symbol-cell symbol)))
         (values value t))))
