;;;; Which object holds a lock or queue for which a thread waits, and which threads that object names. A lock made by hand consists of such parts.
;;;; No thread is disturbed: the object is looked for on the stack of the waiting thread, and below the variables of the program.
;;;; What is found is true, because the slot was read; what is not found may exist.

(in-package #:swank-client/debug)

;;; Slots, read without calling the user's code

(defun map-references (function object)
  "Call FUNCTION with each object to which OBJECT refers, and the kind and index of the reference."
  (call-with-references object (lambda (value code) (multiple-value-call function value (reference-kind code)))))

(defun slot-name-at (object kind index)
  "The name of the slot of OBJECT to which a reference of KIND and INDEX belongs, or NIL."
  (unless (obsolete-p object)
    (case kind
      (:standard-slot (let ((slot (or-nil (find index (sb-mop:class-slots (class-of object)) :key #'sb-mop:slot-definition-location))))
                        (and slot (sb-mop:slot-definition-name slot))))
      (:slot (and (typep object 'structure-object) (first (structure-slot object index)))))))

(defun slot-holding (value object)
  "The name of a slot of OBJECT, an instance, that holds VALUE, or NIL."
  (map-references (lambda (part kind index)
                    (when (eq part value)
                      (let ((name (slot-name-at object kind index)))
                        (when name (return-from slot-holding name)))))
                  object))

(defun class-symbol (object)
  "The name of the class of OBJECT, an instance, or NIL."
  (let ((class (layout-class (layout-of-instance object))))
    (and class (class-name class))))

(defun of-program-p (object)
  "True if OBJECT is an instance of a class that belongs neither to Lisp nor to this library."
  (let* ((name (and (typep object 'instance) (class-symbol object)))
         (package (and name (symbolp name) (symbol-package name))))
    (and package (not (implementation-package-p package)) (not (runtime-package-p package)))))

;;; On the stack

(defconstant +most-holders+ 3 "Objects, each of which holds the one before, that a place names.")

(defun holder-among (object instances)
  "=> one of INSTANCES that holds OBJECT in a slot, and the name of the slot; or NIL"
  (dolist (instance instances)
    ;; one that is not complete yet has no layout; a thread refers to the lock for which it waits; the entries of a hash table are no slots, and may be many
    (unless (or (eq instance object) (eql 0 (layout-of-instance instance)) (typep instance '(or sb-thread:thread sb-thread:mutex sb-thread:waitqueue hash-table)))
      (let ((slot (slot-holding object instance)))
        (when slot (return (values instance slot)))))))

(defun holders-among (object instances)
  "((HOLDER . SLOT) ...) of OBJECT among INSTANCES: one that holds OBJECT, then one that holds that, until one is the program's."
  (loop repeat +most-holders+
        for (holder slot) = (multiple-value-list (holder-among object instances))
        while holder
        collect (cons holder slot)
        until (of-program-p holder)
        do (setf object holder)))

;;; Below variables

(defconstant +variable-references+ 200000 "References below variables that are followed.")

(defconstant +variable-seconds+ 1/4 "Seconds in which this begins.")

(defun program-variables ()
  "((VALUE . SYMBOL) ...) of the variables of the program whose global values are objects."
  (let ((found '()))
    (dolist (package (live-packages) found)
      (unless (or (implementation-package-p package) (runtime-package-p package))
        (or-nil
          (do-symbols (symbol package)
            (when (and (eq package (symbol-package symbol)) (not (keywordp symbol)))
              (map-references (lambda (value kind index)
                                (declare (ignore index))
                                (when (eq kind :global) (push (cons value symbol) found)))
                              symbol))))))))

(defun followed-p (object)
  "True if OBJECT is one of those through which a lock is looked for."
  (typecase object
    ((or cons simple-vector hash-table) t)
    (instance (of-program-p object))
    (array (eq t (array-element-type object)))))

(defun variable-places (objects)
  "The places of OBJECTS below variables of the program: object -> (SYMBOL HOLDER SLOT). HOLDER is an object below SYMBOL that holds it, or NIL; SLOT is
NIL if that is no instance. Those near a variable are found first."
  (let ((places (make-hash-table :test 'eq)) (seen (make-hash-table :test 'eq))
        (queue '()) (next '()) (left +variable-references+) (missing (length objects))
        (end (+ (get-internal-real-time) (* +variable-seconds+ internal-time-units-per-second))))
    (flet ((meet (value symbol holder kind index)
             (when (or (zerop missing) (minusp (decf left))) (return-from variable-places places))
             (when (and (member value objects :test #'eq) (not (gethash value places)))
               (setf (gethash value places) (list symbol holder (and holder (slot-name-at holder kind index))))
               (decf missing))
             (when (and (followed-p value) (not (gethash value seen)))
               (setf (gethash value seen) t)
               (push (cons value symbol) next))))
      (loop for (value . symbol) in (program-variables) do (meet value symbol nil nil nil))
      (loop while (or queue next)
            do (unless queue (setf queue (nreverse (shiftf next '()))))
               (when (> (get-internal-real-time) end) (return places))
               (destructuring-bind (holder . symbol) (pop queue)
                 (map-references (lambda (value kind index) (meet value symbol holder kind index)) holder))
            finally (return places)))))

;;; The threads that an object names

(defconstant +most-recorded+ 20 "Threads in a list that an object names.")

(defun recorded-threads (value)
  "The threads that are VALUE, the content of a slot: one, or the elements of a short list of nothing else."
  (typecase value
    (sb-thread:thread (list value))
    (cons (let ((elements (loop for cons = value then (cdr cons) repeat +most-recorded+ while (consp cons) collect (car cons))))
            (and (every (lambda (element) (typep element 'sb-thread:thread)) elements) elements)))))

(defun recorded-in (object)
  "((SLOT NUMBER) ...): the slots of OBJECT that hold threads. NUMBER is 0 for one that has ended."
  (let ((found '()))
    (map-references (lambda (value kind index)
                      (dolist (thread (recorded-threads value))
                        (let ((slot (slot-name-at object kind index)))
                          (when slot
                            (push (list (line-text slot 100) (if (sb-thread:thread-alive-p thread) (thread-number thread) 0)) found)))))
                    object)
    (nreverse found)))

;;; Places as text

(defun holder-text (holder slot)
  "SLOT of HOLDER as text."
  (let ((class (class-symbol holder)))
    (format nil "slot ~a of ~a (id ~d)" (line-text slot 100) (if class (line-text class 100) "an object") (number-of holder))))

(defun root-text (symbol directp)
  "Where an object is found from the variable SYMBOL, whose value it is if DIRECTP."
  (format nil "~:[found from~;the value of~] ~a" directp (line-text symbol 100)))

(defun lock-place-text (holders place)
  "The text for the place of a lock with HOLDERS, ((HOLDER . SLOT) ...), of which the last, or the lock, has PLACE, a value of VARIABLE-PLACES; or NIL."
  (destructuring-bind (&optional symbol holder slot) place
    (let ((texts (append (loop for (each . its-slot) in holders collect (holder-text each its-slot))
                         (and slot (list (holder-text holder slot)))
                         (and symbol (list (root-text symbol (or (null holder) (and slot (eq holder (sb-ext:symbol-global-value symbol))))))))))
      (and texts (format nil "~{~a~^, ~}" texts)))))

;;; Waits

(defun lock-name (kind object)
  "The name of OBJECT, for which a thread waits in a wait of KIND, or NIL."
  (case kind
    (:mutex (sb-thread:mutex-name object))
    (:queue (sb-thread:waitqueue-name object))
    (:semaphore (sb-thread:semaphore-name object))))

(defun worth-holders-p (kind object)
  "True if it is worth knowing what holds OBJECT, for which a thread waits in a wait of KIND."
  (or (member kind '(:queue :semaphore))
      (and (eq kind :mutex) (null (lock-name kind object)))))

(defun located-wait (thread wantedp)
  "(KIND OBJECT HOLDERS) of the wait of THREAD: the values of WAIT-OF and, if WANTEDP, ((HOLDER . SLOT) ...) of the object. The queue of a semaphore
stands for that."
  (multiple-value-bind (kind object) (wait-of thread)
    (let* ((holders (and wantedp (worth-holders-p kind object) (holders-among object (stack-instances thread (system-call thread)))))
           (semaphore (first (first holders))))
      (if (typep semaphore 'sb-thread:semaphore)
          (list :semaphore semaphore (rest holders))
          (list kind object holders)))))

(defun outermost (object holders)
  "The last of HOLDERS, ((HOLDER . SLOT) ...) of OBJECT, or OBJECT."
  (or (first (first (last holders))) object))

(defun wait-place (wait place)
  "A plist of where WAIT, a value of LOCATED-WAIT, is: :PLACE, a text, if the lock has no name or its holders name threads, and :RECORDED,
((SLOT NUMBER) ...). PLACE is that of the outermost holder."
  (destructuring-bind (kind object holders) wait
    (destructuring-bind (&optional symbol below slot) place
      (declare (ignore symbol))
      (let* ((recorded (and (not (eq kind :mutex))
                            (mapcan #'recorded-in (append (mapcar #'first holders) (and slot (list below))))))
             (text (and (or recorded (null (lock-name kind object))) (lock-place-text holders place))))
        (append (and text (list :place text))
                (and recorded (list :recorded recorded)))))))

(defun worth-place-p (wait)
  "True if it is worth knowing where WAIT, a value of LOCATED-WAIT, is."
  (destructuring-bind (kind object holders) wait
    (and (worth-holders-p kind object)
         (or holders (null (lock-name kind object))))))

(defun wait-places (waits)
  "For each of WAITS, values of LOCATED-WAIT or NIL, a plist as of WAIT-PLACE."
  (let* ((worth (remove-if-not #'worth-place-p (remove nil waits)))
         (ends (remove-duplicates (loop for (nil object holders) in worth collect (outermost object holders)) :test #'eq))
         (places (and ends (variable-places ends))))
    (loop for wait in waits
          collect (and (member wait worth :test #'eq)
                       (wait-place wait (gethash (outermost (second wait) (third wait)) places))))))
