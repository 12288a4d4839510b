;;;; Walks the heap, and names the types of what is in it. These are internals of SBCL.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-heap
  (:documentation "The objects in the heap, counted and found.")
  (:use #:common-lisp)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now)
  (:import-from #:swank-client/sbcl-functions #:with-walk-of-memory)
  (:import-from #:swank-client/sbcl-objects #:layout-class #:layout-of-instance #:slot-vector)
  (:import-from #:sb-alien #:slot)
  (:functions #:sb-kernel #:%instancep #:dynamic-usage #:funcallable-instance-p #:get-lisp-obj-address)
  (:functions #:sb-vm #:map-allocated-objects #:saetp-specifier #:saetp-typecode)
  (:variables #:sb-vm #:*specialized-array-element-type-properties* #:list-pointer-lowtag #:simple-vector-widetag)
  (:types #:sb-kernel #:closure #:code-component #:fdefn)
  (:export #:closure #:collect-garbage #:collectable-p #:count-heap #:find-in-heap #:find-largest #:heap-size #:heap-used #:key-type #:object-bytes))

(in-package #:swank-client/sbcl-heap)

(defun heap-used ()
  "Bytes in use in the heap, garbage included."
  (dynamic-usage))

(defun heap-size ()
  "Bytes that the heap can have."
  (sb-ext:dynamic-space-size))

(defun collectable-p ()
  "True if a full collection is safe. It copies what lives, and SBCL ends when the copies find no room."
  (<= (* 2 (heap-used)) (heap-size)))

(defun collect-garbage ()
  "Collect all garbage."
  (sb-ext:gc :full t))

;;; Types by the word that tells them: the layout of an instance, or the tag of another object

(defun tag (name)
  "The tag NAME of SB-VM, or NIL if this SBCL has none."
  (let ((symbol (find-symbol name "SB-VM")))
    (and symbol (boundp symbol) (symbol-value symbol))))

(defparameter *tag-types*
  '(("BIGNUM-WIDETAG" bignum) ("RATIO-WIDETAG" ratio) ("DOUBLE-FLOAT-WIDETAG" double-float) ("SINGLE-FLOAT-WIDETAG" single-float)
    ("COMPLEX-RATIONAL-WIDETAG" (complex rational)) ("COMPLEX-WIDETAG" (complex rational))
    ("COMPLEX-SINGLE-FLOAT-WIDETAG" (complex single-float)) ("COMPLEX-DOUBLE-FLOAT-WIDETAG" (complex double-float))
    ("SYMBOL-WIDETAG" symbol) ("CODE-HEADER-WIDETAG" code-component) ("CLOSURE-WIDETAG" closure)
    ("FDEFN-WIDETAG" fdefn) ("SAP-WIDETAG" sb-sys:system-area-pointer) ("WEAK-POINTER-WIDETAG" sb-ext:weak-pointer)
    ("SIMPLE-ARRAY-WIDETAG" (and simple-array (not vector))) ("COMPLEX-ARRAY-WIDETAG" (and array (not simple-array) (not vector)))
    ("COMPLEX-VECTOR-WIDETAG" (and vector (not simple-array) (not string) (not bit-vector)))
    ("COMPLEX-BIT-VECTOR-WIDETAG" (and bit-vector (not simple-array)))
    ("COMPLEX-BASE-STRING-WIDETAG" (and base-string (not simple-array)))
    ("COMPLEX-CHARACTER-STRING-WIDETAG" (and (vector character) (not simple-array))))
  "Types of objects by the name of their tag.")

(defun vector-type (element-type)
  "The type of simple vectors of ELEMENT-TYPE, as briefly as it is written."
  (cond ((eq element-type t) 'simple-vector)
        ((eq element-type 'bit) 'simple-bit-vector)
        ((eq element-type 'base-char) 'simple-base-string)
        (t `(simple-array ,element-type (*)))))

(defun make-types-by-tag ()
  "A vector with the type of each tag, or NIL."
  (let ((types (make-array 256 :initial-element nil)))
    (setf (aref types list-pointer-lowtag) 'cons)
    (loop for (name type) in *tag-types*
          for tag = (tag name)
          when tag do (setf (aref types tag) type))
    (loop for entry across *specialized-array-element-type-properties*
          do (setf (aref types (saetp-typecode entry)) (vector-type (saetp-specifier entry))))
    types))

(defvar *types-by-tag* nil "The result of MAKE-TYPES-BY-TAG once it is known.")

(defun key-type (key)
  "The type of objects with KEY, as in the result of COUNT-HEAP: a type specifier, a class, or NIL if it has no name."
  (if (integerp key)
      (aref (or *types-by-tag* (setf *types-by-tag* (make-types-by-tag))) key)
      (layout-class key)))

(declaim (inline key-of))
(defun key-of (object tag)
  "The layout of OBJECT, or TAG, its tag, if it has none."
  (cond ((or (%instancep object) (funcallable-instance-p object)) (layout-of-instance object))
        ((consp object) list-pointer-lowtag)
        (t tag)))

;;; Walking. No garbage is collected meanwhile, so other threads that need that pause. Nothing here may wait for a lock: its owner may be
;;; waiting for the collector.

(defconstant +objects-between-looks+ 4096 "Objects between two looks at the clock and at the room that is left.")

(defun walk-heap (function seconds prepare)
  "Call PREPARE, and then FUNCTION with each object of the heap, its tag and its size in bytes; perhaps again, from the start.
=> true, or NIL if it is not over after SECONDS or when the heap is nearly full; and the nanoseconds that it took"
  (declare (function function prepare) (fixnum seconds) (optimize speed (sb-ext:inhibit-warnings 3)))
  (let ((left +objects-between-looks+)
        (start 0) (end 0)
        (filled (floor (* 9 (heap-size)) 10)))
    (declare (fixnum left start end filled))
    (with-walk-of-memory
      (funcall prepare)
      ;; the time that the first walk has waited for those of others does not count
      (when (zerop start)
        (setf start (nanoseconds-now)
              end (+ start (* seconds 1000000000))))
      (values (block walk
                (map-allocated-objects
                 (lambda (object tag bytes)
                   (when (zerop (decf left))
                     (setf left +objects-between-looks+)
                     (when (or (> (the fixnum (nanoseconds-now)) end) (> (the fixnum (heap-used)) filled))
                       (return-from walk nil)))
                   (funcall function object tag bytes))
                 :dynamic)
                t)
              (- (the fixnum (nanoseconds-now)) start)))))

(defconstant +keys+ 16384 "Places of the table of a count.")

(declaim (inline place-of-key))
(defun place-of-key (keys key)
  "The index of KEY, or of the free place for it, in KEYS, or NIL if that is full. Layouts may move unless no garbage is collected."
  (declare (simple-vector keys))
  (loop with start fixnum = (logand (1- +keys+) (ash (get-lisp-obj-address key) -4))
        for step fixnum from 0 below +keys+
        for index fixnum = (logand (1- +keys+) (+ start step))
        when (or (eq (svref keys index) key) (null (svref keys index))) return index))

;;; Prototypes: SBCL makes an object of a class for itself, which no program has made

(defun prototype-of (key)
  "The object that SBCL has made as the prototype of the class of KEY, if it is in the heap and has that KEY; or NIL. It makes none."
  (let ((class (and (not (integerp key)) (layout-class key)))
        (slot (find-symbol "PROTOTYPE" "SB-PCL")))
    (when (and class slot (slot-exists-p class slot) (slot-boundp class slot))
      (let ((object (slot-value class slot)))
        (and (or (%instancep object) (funcallable-instance-p object))
             (eq key (layout-of-instance object))
             (eq :dynamic (sb-ext:heap-allocated-p object))
             object)))))

(defun without-prototypes (counted)
  "COUNTED, ((KEY COUNT BYTES) ...), without the prototypes of classes."
  (loop for (key count bytes) in counted
        for prototype = (prototype-of key)
        for left = (if prototype (1- count) count)
        when (plusp left)
          collect (list key left (if prototype (max 0 (- bytes (object-bytes prototype))) bytes))))

(deftype counts () `(simple-array fixnum (,+keys+)))

(defun count-heap (seconds)
  "Count what is in the heap, for at most SECONDS. The vector with the slots of an instance counts as a part of it, and the prototypes
of classes do not count.
=> ((KEY COUNT BYTES) ...), true if that is all, and the nanoseconds that the walk took"
  (let ((keys (make-array +keys+ :initial-element nil))
        (counts (make-array +keys+ :element-type 'fixnum :initial-element 0))
        (bytes (make-array +keys+ :element-type 'fixnum :initial-element 0))
        (slot-vectors 0) (slot-bytes 0))
    (declare (type counts counts bytes) (fixnum slot-vectors slot-bytes))
    (flet ((prepare ()
             (fill keys nil)
             (fill counts 0)
             (fill bytes 0)
             (setf slot-vectors 0 slot-bytes 0))
           (note (object tag size)
             (declare (fixnum tag size) (optimize speed (sb-ext:inhibit-warnings 3)))
             (let* ((key (key-of object tag))
                    (place (place-of-key keys key))
                    (slots (and (not (typep key 'fixnum)) (slot-vector object))))
               (when slots
                 (let ((own (sb-ext:primitive-object-size slots)))
                   (declare (fixnum own))
                   (incf slot-vectors)
                   (incf slot-bytes own)
                   (incf size own)))
               (when place
                 (setf (svref keys place) key)
                 (incf (aref counts place))
                 (incf (aref bytes place) size)))))
      (multiple-value-bind (complete took) (walk-heap #'note seconds #'prepare)
        (values (without-prototypes
                 (without-slot-vectors (loop for key across keys
                                             for index from 0
                                             when key collect (list key (aref counts index) (aref bytes index)))
                                       slot-vectors slot-bytes))
                complete
                took)))))

(defun without-slot-vectors (counted count bytes)
  "COUNTED without COUNT simple vectors of BYTES, which have been counted with their instances."
  (let ((entry (assoc simple-vector-widetag counted)))
    (when entry
      (setf (second entry) (max 0 (- (second entry) count))
            (third entry) (max 0 (- (third entry) bytes))))
    counted))

(defun find-in-heap (keys every limit seconds)
  "Find objects with one of KEYS, for at most SECONDS: at most LIMIT, each EVERYth, and no prototype of a class.
=> a list of them, true if all were seen, and the nanoseconds that the walk took"
  (declare (fixnum every limit))
  (let ((prototypes (make-array +keys+ :initial-element nil))
        (own (mapcar #'prototype-of keys))
        (wanted (make-array +keys+ :initial-element nil))
        (found (make-array limit :initial-element nil))
        (left 1) (next 0))
    (declare (fixnum left next))
    (flet ((prepare ()
             (fill wanted nil)
             (setf left 1 next 0)
             (loop for key in keys
                   for prototype in own
                   for place = (place-of-key wanted key)
                   when place do (setf (svref wanted place) key
                                       (svref prototypes place) prototype)))
           (note (object tag bytes)
             (declare (ignore bytes) (optimize speed (sb-ext:inhibit-warnings 3)))
             (let* ((key (key-of object tag)) (place (place-of-key wanted key)))
               (when (and place (svref wanted place) (not (eq object (svref prototypes place)))
                          (< next limit) (zerop (decf left)))
                 (setf left every
                       (svref found next) object)
                 (incf next)))))
      (multiple-value-bind (complete took) (walk-heap #'note seconds #'prepare)
        (values (coerce (subseq found 0 next) 'list) complete took)))))

(defun find-largest (keys least limit seconds)
  "Find the LIMIT largest objects with one of KEYS and at least LEAST bytes, for at most SECONDS: no prototype of a class.
=> a list of them, the largest first; the number of all that are so large; true if all were seen; and the nanoseconds that the walk took"
  (declare (fixnum least limit))
  (let ((prototypes (mapcar #'prototype-of keys))
        (wanted (make-array +keys+ :initial-element nil))
        (found (make-array limit :initial-element nil))
        (sizes (make-array limit :element-type 'fixnum :initial-element 0))
        (count 0) (smallest 0))
    (declare (fixnum count smallest))
    (flet ((prepare ()
             (fill wanted nil)
             (setf count 0 smallest 0)
             (dolist (key keys)
               (let ((place (place-of-key wanted key)))
                 (when place (setf (svref wanted place) key)))))
           (note (object tag bytes)
             (declare (fixnum tag bytes) (optimize speed (sb-ext:inhibit-warnings 3)))
             (let* ((key (key-of object tag)) (place (place-of-key wanted key)))
               (when (and place (svref wanted place) (not (member object prototypes :test #'eq)))
                 (let ((slots (and (not (typep key 'fixnum)) (slot-vector object))))
                   (when slots (incf bytes (the fixnum (sb-ext:primitive-object-size slots)))))
                 (when (>= bytes least)
                   (let ((place (cond ((< count limit) count) ((> bytes (aref sizes smallest)) smallest))))
                     (incf count)
                     (when place
                       (setf (svref found place) object
                             (aref sizes place) bytes)
                       (when (>= count limit)
                         (setf smallest 0)
                         (loop for index fixnum from 1 below limit
                               when (< (aref sizes index) (aref sizes smallest)) do (setf smallest index))))))))))
      (multiple-value-bind (complete took) (walk-heap #'note seconds #'prepare)
        (let ((order (sort (loop for index below (min count limit) collect index) #'> :key (lambda (index) (aref sizes index)))))
          (values (loop for index in order collect (svref found index)) count complete took))))))

(defun object-bytes (object)
  "The bytes of OBJECT, with the vector of its slots."
  (let ((slots (slot-vector object)))
    (+ (sb-ext:primitive-object-size object) (if slots (sb-ext:primitive-object-size slots) 0))))
