;;;; What is in the heap by type, how that has changed, and objects of a type.

(in-package #:swank-client/observe)

;;; Types of what is in the heap: their names, and which belong to a type that a client names.

(defun type-name-of (type)
  "The name of TYPE, a type specifier, class or NIL, as a symbol or list that TYPE-TEXT prints, or a text if it has none."
  (typecase type
    (null "other")
    (class (let ((name (class-name type)))
             (if (and name (eq type (find-class name nil))) name (format nil "~(~a~) without a name" (class-group-text type)))))
    (t type)))

(defun class-group-text (class)
  "What kind of class CLASS is."
  (if (typep class 'structure-class) "structure class" "class"))

;; SBCL takes a union apart, in a time that grows with the square of its parts
(defconstant +type-size+ 1000 "Conses of a type that a client names.")

(defun read-type (text)
  "=> the type that TEXT names, or NIL and a list that says why not, (:no-type TEXT REASON)"
  (handler-case
      (let ((forms (read-without-interning text (data-readtable *readtable*) :most +type-size+)))
        (cond ((/= 1 (length forms)) (values nil (list :no-type text "It is not one type.")))
              ((by-value-p (first forms)) (values nil (list :no-type text "Only types that classes and tags tell apart can be found.")))
              ((sb-ext:valid-type-specifier-p (first forms)) (first forms))
              (t (values nil (list :no-type text "")))))
    (storage-condition () (restore-guard-page) (values nil (list :no-type text "It is too complex.")))
    (error (problem) (values nil (list :no-type text (line-text-in-time (princ-to-string problem) 200))))))

(defun of-type-p (type asked)
  "True if objects of TYPE, a type specifier, class or NIL, are of the type ASKED. Instances of subclasses are not of TYPE here."
  (case (and (consp asked) (first asked))
    (and (every (lambda (part) (of-type-p type part)) (rest asked)))
    (or (some (lambda (part) (of-type-p type part)) (rest asked)))
    (not (not (of-type-p type (second asked))))
    ;; SUBTYPEP does not know that closures are functions
    (t (and type (or (eq asked t)
                     (equal type asked)
                     (values (or-nil (subtypep (if (eq type 'closure) 'compiled-function type) asked))))))))

(defun by-value-p (type)
  "True if TYPE depends on more than the classes of objects and the element types of arrays."
  (let ((type (sb-ext:typexpand type)))
    (if (atom type)
        (member type '(keyword bit standard-char))
        (destructuring-bind (name &rest parts) type
          (case name
            ((and or not) (some #'by-value-p parts))
            ((eql member satisfies) t)
            ((array simple-array vector) (restricted-p (second parts)))
            (t (some #'restricted-p parts)))))))

(defun restricted-p (part)
  "True if PART of a type, the dimensions of arrays or the restriction of other types, excludes some."
  (not (or (member part '(nil *))
           (and (consp part) (every (lambda (dimension) (eq dimension '*)) part)))))

(defun of-type (counted asked)
  "The entries of COUNTED, ((KEY COUNT BYTES) ...), whose objects are of the type ASKED."
  (if (eq asked t)
      counted
      (remove-if-not (lambda (entry) (of-type-p (key-type (first entry)) asked)) counted)))

(defun by-type (counted)
  "((NAME COUNT BYTES) ...) from COUNTED, ((KEY COUNT BYTES) ...). A redefined class has several keys."
  (let ((entries (make-hash-table :test 'equal)))
    (loop for (key count bytes) in counted
          for name = (type-name-of (key-type key))
          for entry = (or (gethash name entries) (setf (gethash name entries) (list name 0 0)))
          do (incf (second entry) count)
             (incf (third entry) bytes))
    (loop for entry being the hash-values of entries collect entry)))

(defconstant +walk-seconds+ 5 "Seconds that a walk through the heap may take. Threads that need a garbage collection wait for its end.")

(defconstant +baselines-limit+ 50 "Summaries of a client that are remembered. Each code whose growth is measured needs its own until it ends.")

(defstruct (baseline (:conc-name baseline-))
  "A summary, to compare later ones with."
  number
  ;; NAME, COUNT and BYTES of each type, in one vector: growth does not count it
  (types #() :type simple-vector)
  ;; whether garbage was collected before
  collected
  time)

(defvar *baselines* (make-hash-table :test 'eq :weakness :key :synchronized t) "The latest summaries of each session, the latest first.")

(defvar *last-number* (list 0) "A cell with the number of the latest summary.")

(defun forget-baselines (session)
  "Forget the summaries of SESSION."
  (remhash session *baselines*))

(pushnew 'forget-baselines *departure-hooks*)

(defun flat (types)
  "The elements of TYPES, ((NAME COUNT BYTES) ...), in one vector."
  (let ((vector (make-array (* 3 (length types)))) (index -1))
    (dolist (entry types vector)
      (dolist (element entry)
        (setf (svref vector (incf index)) element)))))

(defun baseline-entries (baseline)
  "((NAME COUNT BYTES) ...) of BASELINE."
  (loop with types = (baseline-types baseline)
        for index from 0 below (length types) by 3
        collect (list (svref types index) (svref types (+ 1 index)) (svref types (+ 2 index)))))

(defun without-baselines (entries since)
  "ENTRIES, ((NAME COUNT BYTES) ...), without the vectors of this client's summaries from number SINCE on."
  (let ((entry (assoc 'simple-vector entries :test #'eq)))
    (when entry
      (dolist (baseline (gethash (current-session) *baselines*))
        (when (>= (baseline-number baseline) since)
          (decf (second entry))
          (decf (third entry) (sb-ext:primitive-object-size (baseline-types baseline))))))
    entries))

(defun remember-baseline (types collected)
  "Remember TYPES for the client of this thread. => the number of the summary"
  (let* ((session (current-session))
         (number (1+ (sb-ext:atomic-incf (car *last-number*))))
         (baseline (make-baseline :number number :types (flat types) :collected collected :time (nanoseconds-now))))
    (sb-ext:with-locked-hash-table (*baselines*)
      (let ((known (gethash session *baselines*)))
        (setf (gethash session *baselines*)
              (cons baseline (subseq known 0 (min (length known) (1- +baselines-limit+)))))))
    number))

(defun known-baseline (number)
  "The summary NUMBER of this client, the latest if that is NIL; NIL if there is none."
  (let ((known (gethash (current-session) *baselines*)))
    (if number (find number known :key #'baseline-number) (first known))))

;;; Counting

(defstruct (heap-look)
  "What looking at the heap has cost: microseconds of a garbage collection and of walks."
  ;; :YES, :NO if that was not asked for, or :UNSAFE
  (collected :no)
  (gc 0)
  (walk 0)
  (complete t))

(defun microseconds-since (start)
  "Microseconds since START, in nanoseconds."
  (round (- (nanoseconds-now) start) 1000))

(defun begin-look (collect)
  "A look at the heap, after a full collection if COLLECT and if that is safe."
  (let ((look (make-heap-look)) (start (nanoseconds-now)))
    (cond ((not collect))
          ((not (collectable-p)) (setf (heap-look-collected look) :unsafe))
          (t (collect-garbage)
             (setf (heap-look-collected look) :yes
                   (heap-look-gc look) (microseconds-since start))))
    look))

(defun note-walk (look complete took)
  "Add a walk that took TOOK nanoseconds to LOOK, and whether it is COMPLETE."
  (incf (heap-look-walk look) (round took 1000))
  (unless complete (setf (heap-look-complete look) nil)))

(defun counted-heap (look &optional (asked t))
  "((KEY COUNT BYTES) ...) of objects of the type ASKED. LOOK gets what that has cost."
  (multiple-value-bind (counted complete took) (count-heap +walk-seconds+)
    (note-walk look complete took)
    (of-type counted asked)))

(defun look-plist (look)
  "A plist with what LOOK has cost, and the size of the heap."
  (list :collected (heap-look-collected look) :gc (heap-look-gc look) :walk (heap-look-walk look) :complete (heap-look-complete look)
        :used (heap-used) :size (heap-size)))

;;; The replies

(defun sum (key entries)
  "The sum of what KEY returns for ENTRIES."
  (reduce #'+ entries :key key))

(defun first-of (entries limit)
  "At most LIMIT of ENTRIES."
  (subseq entries 0 (min limit (length entries))))

(defun type-rows (entries)
  "ENTRIES, ((NAME NUMBER ...) ...), with the names as text."
  (with-client-code ((current-session))
    (loop for (name . numbers) in entries collect (cons (if (stringp name) name (line-text name 200)) numbers))))

(defmacro with-type ((asked text) &body body)
  "Run BODY with ASKED bound to the type that TEXT names, T if that is NIL, or return (:no-type TEXT REASON)."
  (let ((problem (gensym "PROBLEM")))
    `(multiple-value-bind (,asked ,problem)
         (if ,text (with-client-code ((current-session)) (read-type ,text)) t)
       (or ,problem (progn ,@body)))))

(defun heap-summary (&key type collect (limit 20))
  "The LIMIT types with the most bytes, below TYPE unless that is NIL, after a full collection if COLLECT.
=> (:summary . PLIST) | (:no-type TEXT REASON)"
  (with-type (asked type)
    (let* ((look (begin-look collect))
           (all (by-type (counted-heap look)))
           (types (sort (if type (of-type-names all asked) (copy-list all)) #'> :key #'third)))
      (list* :summary
             :id (and (heap-look-complete look) (remember-baseline all (heap-look-collected look)))
             :types (type-rows (first-of types limit))
             :type-count (length types)
             :objects (sum #'second types)
             :bytes (sum #'third types)
             (look-plist look)))))

(defun of-type-names (entries asked)
  "The entries of ENTRIES, ((NAME COUNT BYTES) ...), whose objects are of the type ASKED."
  (remove-if-not (lambda (entry) (and (not (stringp (first entry))) (of-type-p (first entry) asked))) entries))

(defun growth-of (now before)
  "((NAME COUNT BYTES COUNT-BEFORE BYTES-BEFORE) ...) of the types in NOW and BEFORE that differ, those with the most growth in bytes first.
COUNT and BYTES are differences."
  (let ((old (make-hash-table :test 'equal)) (changes '()))
    (loop for (name . numbers) in before do (setf (gethash name old) numbers))
    (flet ((note (name count bytes)
             (destructuring-bind (&optional (old-count 0) (old-bytes 0)) (gethash name old)
               (remhash name old)
               (unless (and (= count old-count) (= bytes old-bytes))
                 (push (list name (- count old-count) (- bytes old-bytes) old-count old-bytes) changes)))))
      (loop for (name count bytes) in now do (note name count bytes))
      (loop for name being the hash-keys of old using (hash-value numbers)
            do (push (list name (- (first numbers)) (- (second numbers)) (first numbers) (second numbers)) changes)))
    (sort changes #'> :key #'third)))

(defun shown-growth (changes limit)
  "At most LIMIT of CHANGES, sorted: those that differ most, in the same order."
  (let ((most (first-of (sort (copy-list changes) #'> :key (lambda (change) (abs (third change)))) limit)))
    (remove-if-not (lambda (change) (member change most :test #'eq)) changes)))

(defun heap-growth (&key since type collect (limit 20))
  "How the heap differs from the summary SINCE, the latest if that is NIL.
=> (:growth . PLIST) | (:no-summary SINCE) | (:no-type TEXT REASON)"
  (let ((baseline (known-baseline since)))
    (if (null baseline)
        (list :no-summary since)
        (with-type (asked type)
          (let* ((look (begin-look collect))
                 (now (without-baselines (by-type (counted-heap look)) (baseline-number baseline)))
                 (all (growth-of now (baseline-entries baseline)))
                 (changes (if type (of-type-names all asked) all)))
            (list* :growth
                   :since (baseline-number baseline)
                   :ago (microseconds-since (baseline-time baseline))
                   :collected-before (baseline-collected baseline)
                   :types (type-rows (shown-growth changes limit))
                   :type-count (length changes)
                   :objects (sum #'second changes)
                   :bytes (sum #'third changes)
                   (look-plist look)))))))

(defun run-code (code)
  "Run CODE, text, between two summaries. It is called by evaluated code, so that it can stop. => (:values TEXT ...)
The values themselves are not returned, because the history variables would keep them."
  (cons :values (value-texts (call-measured-code (compiled-parts code)))))

;;; Objects of a type.

(defconstant +instance-text+ 200 "Characters shown of an instance.")

(defun instance-entries (objects)
  "((ID BYTES TEXT) ...) of OBJECTS."
  (with-client-code ((current-session))
    (loop for object in objects
          collect (list (number-of object) (object-bytes object) (viewed-text object +instance-text+)))))

(defun found-instances (counted limit look)
  "At most LIMIT objects with keys in COUNTED, evenly spread over the heap, and the distance between two of them."
  (let ((every (max 1 (floor (sum #'second counted) (max 1 limit)))))
    (multiple-value-bind (objects complete took) (find-in-heap (mapcar #'first counted) every limit +walk-seconds+)
      (note-walk look complete took)
      (values objects every))))

(defun largest-instances (counted least limit look)
  "=> at most LIMIT objects with keys in COUNTED and at least LEAST bytes, the largest first; and the number of all that are so large"
  (multiple-value-bind (objects count complete took) (find-largest (mapcar #'first counted) least limit +walk-seconds+)
    (note-walk look complete took)
    (values objects count)))

(defun shown-instances (counted least limit look)
  "A plist with at most LIMIT objects that have keys in COUNTED: the largest of at least LEAST bytes or, if that is NIL, some of all sizes."
  (if least
      (multiple-value-bind (objects count) (largest-instances counted least limit look)
        (list :large count :every 1 :instances (instance-entries objects)))
      (multiple-value-bind (objects every) (found-instances counted limit look)
        (list :every every :instances (instance-entries objects)))))

(defun heap-instances (type &key collect (limit 20) least)
  "Objects of TYPE, at most LIMIT, after a full collection if COLLECT: the largest of at least LEAST bytes, unless that is NIL.
=> (:instances . PLIST) | (:no-type TEXT REASON)"
  (reset-guard-pages)
  (with-type (asked type)
    (let* ((look (begin-look collect))
           (counted (counted-heap look asked)))
      (append (list :instances
                    :type (first (first (type-rows (list (list asked)))))
                    :count (sum #'second counted)
                    :bytes (sum #'third counted)
                    :types (type-rows (first-of (sort (by-type counted) #'> :key #'third) 5)))
              (shown-instances counted least limit look)
              (look-plist look)))))
