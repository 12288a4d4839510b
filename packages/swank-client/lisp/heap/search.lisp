;;;; The search for what keeps an object alive: breadth first, from the variables and definitions of all packages and the variables that
;;;; threads bind. No thread is stopped meanwhile, and garbage is collected as usual.
;;;; What the library itself keeps for clients counts only if nothing else keeps the object.

(in-package #:swank-client/heap)

(defconstant +search-seconds+ 15 "Seconds that a search may take.")

(defconstant +bytes-per-object+ 300 "Bytes of memory that the search may need for an object that it has seen.")

(defconstant +most-objects+ 20000000 "Objects that a search may see.")

(defconstant +looks-between+ 4096 "References followed between two looks at the clock.")

(defconstant +symbol-root+ -1 "The parent of a symbol in a package.")

(defconstant +binding-root+ -2 "The parent of a value to which a thread has bound a variable; the code is an index of SEARCH-BINDINGS.")

(defstruct (root-search (:conc-name search-))
  "A search for TARGET. The objects seen form a tree: each has a parent, an index or root, and the code of the reference to it."
  target
  (end 0 :type fixnum)
  (limit 0 :type fixnum)
  (until-look +looks-between+ :type fixnum)
  (seen (make-hash-table :test 'eq) :type hash-table)
  (objects (make-array 65536) :type simple-vector)
  (parents (make-array 65536 :element-type '(signed-byte 32)) :type (simple-array (signed-byte 32) (*)))
  (codes (make-array 65536 :element-type 'fixnum) :type (simple-array fixnum (*)))
  (count 0 :type fixnum)
  (next 0 :type fixnum)
  ;; (SYMBOL . THREAD) of each binding
  (bindings (make-array 100 :adjustable t :fill-pointer 0))
  ;; ((OBJECT PARENT . CODE) ...): the library's own, followed only when nothing else is left
  (own '() :type list)
  (own-phase nil)
  ;; whether instances of a layout are the library's own
  (layouts (make-hash-table :test 'eq) :type hash-table)
  (packages (make-hash-table :test 'eq) :type hash-table)
  ;; the indexes of weak hash tables
  (weak-tables '() :type list))

;;; The library's own objects

(defun own-package-p (package search)
  "True if PACKAGE belongs to the library, in any version."
  (and package
       (multiple-value-bind (own known) (gethash package (search-packages search))
         (if known
             own
             (setf (gethash package (search-packages search))
                   (runtime-package-p package))))))

(defun own-instance-p (object search)
  "True if the class of OBJECT belongs to the library."
  (let ((layout (layout-of-instance object)))
    (multiple-value-bind (own known) (gethash layout (search-layouts search))
      (if known
          own
          (setf (gethash layout (search-layouts search))
                (let* ((class (layout-class layout)) (name (and class (class-name class))))
                  (and name (own-package-p (symbol-package name) search))))))))

(declaim (inline own-p))
(defun own-p (object search)
  "True if OBJECT belongs to the library."
  (typecase object
    (null nil)
    (symbol (own-package-p (symbol-package object) search))
    (sb-kernel:instance (own-instance-p object search))))

;;; The tree

(defun grow-search (search)
  "Make room in SEARCH for more objects."
  (let ((size (* 2 (length (search-objects search)))))
    (flet ((larger (vector) (replace (make-array size :element-type (array-element-type vector)) vector)))
      (setf (search-objects search) (larger (search-objects search))
            (search-parents search) (larger (search-parents search))
            (search-codes search) (larger (search-codes search))))))

(defun put-object (search object parent code)
  "Add OBJECT to the tree of SEARCH."
  (declare (type (signed-byte 32) parent) (fixnum code))
  (let ((index (search-count search)))
    (when (>= index (search-limit search)) (throw 'search-end :size))
    (when (= index (length (search-objects search))) (grow-search search))
    (setf (svref (search-objects search) index) object
          (aref (search-parents search) index) parent
          (aref (search-codes search) index) code
          (search-count search) (1+ index))
    index))

(declaim (inline look-at-clock))
(defun look-at-clock (search)
  "End SEARCH if its time is over."
  (when (zerop (decf (search-until-look search)))
    (setf (search-until-look search) +looks-between+)
    (when (> (the fixnum (nanoseconds-now)) (search-end search)) (throw 'search-end :time))))

(defun see (search object parent code)
  "Add OBJECT to the tree of SEARCH unless it is there, refers to nothing, or is to be followed later."
  (declare (optimize speed (sb-ext:inhibit-warnings 3)))
  (look-at-clock search)
  (cond ((eq object (search-target search))
         (put-object search object parent code)
         (throw 'search-end :found))
        ((leaf-p object))
        ((gethash object (search-seen search)))
        ((and (not (search-own-phase search)) (own-p object search))
         (push (list* object parent code) (search-own search)))
        (t (setf (gethash object (search-seen search)) t)
           (put-object search object parent code))))

(defun follow (search)
  "Follow the references of all objects in the tree of SEARCH."
  (loop while (< (search-next search) (search-count search))
        do (let* ((index (search-next search))
                  (object (svref (search-objects search) index)))
             (incf (search-next search))
             (when (and (hash-table-p object) (sb-ext:hash-table-weakness object))
               (push index (search-weak-tables search)))
             (call-with-references object (lambda (part code) (see search part index code))))))

;;; Weak hash tables keep one part of an entry alive while something else keeps the other

(defun live-p (search part)
  "True if something that SEARCH has seen keeps PART alive, or if it never dies."
  (and (pointer-p part) (or (leaf-p part) (values (gethash part (search-seen search))))))

(defun follow-entries (search index)
  "Follow the entries of the weak hash table INDEX that other objects keep alive."
  (let* ((table (svref (search-objects search) index))
         (weakness (sb-ext:hash-table-weakness table)))
    (map-entries (lambda (key value pair)
                   (look-at-clock search)
                   (when (and (member weakness '(:key :key-or-value)) (pointer-p value) (or (not (pointer-p key)) (live-p search key)))
                     (see search value index (reference-code :value pair)))
                   (when (and (member weakness '(:value :key-or-value)) (pointer-p key) (live-p search value))
                     (see search key index (reference-code :key pair))))
                 table)))

(defun follow-weak-tables (search)
  "Follow what weak hash tables keep alive."
  (loop for count = (search-count search)
        do (dolist (index (search-weak-tables search)) (follow-entries search index))
           (follow search)
        until (= count (search-count search))))

;;; Roots

(defun package-rank (package search)
  "0 for a package of the program, more for others: their variables are searched later."
  (cond ((own-package-p package search) 3)
        ((implementation-package-p package) 2)
        ((member (package-name package) '("COMMON-LISP" "KEYWORD") :test #'string=) 1)
        (t 0)))

(defun see-symbols (search)
  "Add the symbols of all packages to the tree of SEARCH."
  (let ((packages (live-packages)))
    (dolist (package (stable-sort (copy-list packages) #'< :key (lambda (package) (package-rank package search))))
      (do-symbols (symbol package)
        (when (eq package (symbol-package symbol))
          (see search symbol +symbol-root+ 0))))))

(defun see-bindings (search)
  "Add the values that other threads have bound variables to. Those of the history are a session's."
  (let ((symbols (bound-symbols)) (history *history-variables*))
    (dolist (thread (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))
      (dolist (symbol symbols)
        (multiple-value-bind (value boundp) (value-in-thread-of symbol thread)
          (when boundp
            (let ((code (vector-push-extend (cons symbol thread) (search-bindings search))))
              (if (or (member symbol history) (own-p symbol search))
                  (push (list* value +binding-root+ code) (search-own search))
                  (see search value +binding-root+ code)))))))))

(defun see-own (search)
  "Add the library's own objects."
  (setf (search-own-phase search) t)
  (loop for (object parent . code) in (reverse (search-own search))
        do (see search object parent code)))

;;; The search

(defun room-for-search ()
  "The number of objects that a search may see, given the free memory."
  (min +most-objects+ (floor (max 0 (- (heap-size) (heap-used))) +bytes-per-object+)))

(defun search-roots-for (target)
  "Search for what keeps TARGET alive. => the search, and how it ended: :FOUND, :NONE, :TIME or :SIZE"
  (let ((search (make-root-search :target target :limit (room-for-search)
                             :end (+ (nanoseconds-now) (* +search-seconds+ 1000000000)))))
    (values search
            (catch 'search-end
              (see-symbols search)
              (see-bindings search)
              (follow search)
              (follow-weak-tables search)
              (see-own search)
              (follow search)
              (follow-weak-tables search)
              :none))))

(defun path-of (search)
  "((OBJECT PARENT . CODE) ...) from the root to the object that SEARCH has found. PARENT is a root or an index."
  (loop with path = '()
        for index = (1- (search-count search)) then parent
        for parent = (aref (search-parents search) index)
        do (push (list* (svref (search-objects search) index) parent (aref (search-codes search) index)) path)
        while (>= parent 0)
        finally (return path)))
