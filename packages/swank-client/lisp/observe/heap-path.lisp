;;;; The search for what keeps an object alive: breadth first, from the variables and definitions of all packages and the variables that
;;;; threads bind. No thread is stopped meanwhile, and garbage is collected as usual.
;;;; What the library itself keeps for clients counts only if nothing else keeps the object.

(in-package #:swank-client/observe)

(defconstant +path-seconds+ 15 "Seconds that a search may take.")

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
    (instance (own-instance-p object search))))

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

(defun search-rank (package search)
  "0 for a package of the program, more for others: their variables are searched later."
  (cond ((own-package-p package search) 3)
        ((implementation-package-p package) 2)
        ((member (package-name package) '("COMMON-LISP" "KEYWORD") :test #'string=) 1)
        (t 0)))

(defun see-symbols (search)
  "Add the symbols of all packages to the tree of SEARCH."
  (let ((packages (live-packages)))
    (dolist (package (stable-sort (copy-list packages) #'< :key (lambda (package) (search-rank package search))))
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

(defun search-roots-for (target)
  "Search for what keeps TARGET alive. => the search, and how it ended: :FOUND, :NONE, :TIME or :SIZE"
  (let ((search (make-root-search :target target :limit (min +most-objects+ (floor (max 0 (- (heap-size) (heap-used))) +bytes-per-object+))
                             :end (+ (nanoseconds-now) (* +path-seconds+ 1000000000)))))
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

;;; What keeps an object alive: the steps from a root to it.

;;; The steps from a root to an object: what each reference is called, and the expression that follows it.

;;; A link is a reference from one object to the next. Some stand for several references, such as those through the conses of a list.

(defstruct (link (:constructor make-link (holder kind index value)))
  "The reference of KIND and INDEX from HOLDER to VALUE."
  holder kind index value)

(defun links-of (path)
  "The references between the objects of PATH, a result of PATH-OF."
  (loop for ((holder) (value parent . code)) on path
        while parent
        collect (multiple-value-call #'make-link holder (reference-kind code) value)))

(defun list-link (links)
  "=> a link for the conses of a list at the beginning of LINKS, and how many it replaces"
  (let* ((tails (or (position :cdr links :key #'link-kind :test-not #'eq) (length links)))
         (next (nth tails links))
         (elementp (and next (eq :car (link-kind next)))))
    (values (make-link (link-holder (first links)) (if elementp :nth :tail) tails
                       (link-value (if elementp next (nth (1- tails) links))))
            (if elementp (1+ tails) tails))))

(defparameter *merged-kinds*
  '((:data :element :row-major) (:closed :cell :assigned) (:information :car :plist)
    (:function :constant :code-constant))
  "((FIRST SECOND MERGED) ...): two references that are shown as one.")

(defun merged-links (links)
  "LINKS with fewer for the parts of lists, arrays, variables and functions."
  (loop while links
        collect (let* ((link (first links))
                       (next (second links))
                       (merged (and next (third (find-if (lambda (kinds) (and (eq (link-kind link) (first kinds)) (eq (link-kind next) (second kinds))))
                                                         *merged-kinds*)))))
                  (cond ((member (link-kind link) '(:car :cdr))
                         (multiple-value-bind (list-link count) (list-link links)
                           (setf links (nthcdr count links))
                           list-link))
                        ((and merged (mergeable-p link merged))
                         (setf links (cddr links))
                         (make-link (link-holder link) merged
                                    (if (eq merged :assigned) (link-index link) (link-index next))
                                    (link-value next)))
                        (t (pop links) link)))))

(defun mergeable-p (link merged)
  "True if LINK and the next are shown as the one reference MERGED."
  (case merged
    (:plist (symbolp (link-holder link)))
    (:code-constant (and (functionp (link-holder link)) (not (typep (link-holder link) '(or closure generic-function)))))
    (t t)))

;;; Names

(defun standard-slot-part (object index value)
  "The part of OBJECT, an instance of a standard class, at INDEX of its slots."
  (let ((slot (and (not (obsolete-p object))
                   (or-nil (find index (sb-mop:class-slots (class-of object)) :key #'sb-mop:slot-definition-location)))))
    (if slot
        (part (line-text (sb-mop:slot-definition-name slot) 200) value (slot-access (sb-mop:slot-definition-name slot)))
        (part (format nil "slot ~d" index) value nil))))

(defun word-part (object index value)
  "The part of OBJECT, a structure or condition, at the word INDEX."
  (let ((slot (and (typep object 'structure-object) (structure-slot object index))))
    (if slot
        (destructuring-bind (name accessor) slot
          (part (line-text name 200) value (if accessor (accessor-access accessor) (slot-access name))))
        (part (format nil "word ~d" index) value (indexed "(sb-kernel:%instance-ref ~a ~a)" index)))))

(defun indexed (control index)
  "The access by CONTROL, whose arguments are the expression for an object and INDEX."
  (lambda (object) (format nil control object index)))

(defun entry-part (table kind index value)
  "The part of TABLE, a hash table, that is the key or value of the entry INDEX."
  (multiple-value-bind (key held) (entry-at table index)
    (cond ((eq kind :key) (part "key" value nil))
          ((eq held value)
           (part (format nil "value of ~a" (viewed-text key 100)) value (entry-access key table)))
          (t (part "value" value nil)))))

(defun function-part (holder value)
  "The part VALUE of HOLDER that is its function, or the code of a function."
  (typecase holder
    (fdefn (named-function-part (fdefn-name holder) value))
    (hash-table (part "test" value nil))
    (closure (part "function" value "(sb-kernel:%closure-fun ~a)"))
    (funcallable-instance (part "function" value "(sb-kernel:%funcallable-instance-fun ~a)"))
    (t (part "code" value "(sb-kernel:fun-code-header ~a)"))))

(defun absolute (control &rest arguments)
  "The access by an expression that does not depend on the object."
  (let ((text (apply #'format nil control arguments)))
    (lambda (object) (declare (ignore object)) text)))

(defun named-function-part (name value)
  "The function or macro VALUE, whose name is NAME."
  (let* ((symbol (and (symbolp name) name))
         (macro (and symbol (macro-function symbol)))
         (text (line-text name 200)))
    (part (format nil "~:[function~;macro~] ~a" macro text) value
          (cond (macro (absolute "(macro-function '~a)" text))
                (t (absolute "#'~a" text))))))

(defun symbol-part (symbol kind value)
  "The part of SYMBOL that is VALUE."
  (let ((text (line-text symbol 200)))
    (ecase kind
      (:global (part (format nil "variable ~a" text) value (and (symbol-package symbol) (absolute "~a" text))))
      (:definition (named-function-part symbol value))
      (:plist (part (format nil "property list of ~a" text) value "(symbol-plist ~a)"))
      (:information (part (format nil "definitions of ~a" text) value "(sb-kernel:symbol-%info ~a)"))
      (:package (part "package" value "(symbol-package ~a)")))))

(defun closed-part (closure index value assignedp)
  "The part of CLOSURE that is VALUE, the variable at INDEX. ASSIGNEDP: whether SBCL keeps it in a cell."
  (part (variable-name (position index (closure-values closure) :key #'third)) value (closed-access index assignedp)))

(defun link-part (link)
  "The part of its holder for which LINK stands."
  (let ((holder (link-holder link)) (index (link-index link)) (value (link-value link)))
    (flet ((indexed-part (name control) (part (format nil name index) value (indexed control index))))
      (ecase (link-kind link)
        (:nth (part (format nil "element ~d" index) value (element-access index)))
        (:tail (part (format nil "tail ~d" index) value (lambda (object) (format nil "(nthcdr ~a ~a)" index object))))
        (:element (indexed-part "element ~d" "(svref ~a ~a)"))
        (:row-major (indexed-part "element ~d" (if (vectorp holder) "(aref ~a ~a)" "(row-major-aref ~a ~a)")))
        (:data (part "elements" value "(sb-kernel:%array-data ~a)"))
        ((:key :value) (entry-part holder (link-kind link) index value))
        (:standard-slot (standard-slot-part holder index value))
        (:slot (word-part holder index value))
        (:closed (closed-part holder index value nil))
        (:assigned (closed-part holder index value t))
        (:cell (part "value" value "(sb-kernel:value-cell-ref ~a)"))
        (:constant (indexed-part "constant ~d" "(sb-kernel:code-header-ref ~a ~a)"))
        (:code-constant (indexed-part "constant ~d of its code" "(sb-kernel:code-header-ref (sb-kernel:fun-code-header ~a) ~a)"))
        (:function (function-part holder value))
        ((:global :definition :plist :information :package) (symbol-part holder (link-kind link) value))))))

;;; The answer about what keeps an object alive.

(defconstant +first-steps+ 12 "Steps shown from the root on.")

(defconstant +last-steps+ 12 "Steps shown before the object.")

(defconstant +step-text+ 120 "Characters shown of the value of a step.")

(defconstant +longest-expression+ 300 "Characters of an expression. A longer one is replaced by a reference by number.")

;;; Roots

(defun binding-part (binding value)
  "The root that BINDING is, (SYMBOL . THREAD) with VALUE."
  (destructuring-bind (symbol . thread) binding
    (let ((name (line-text symbol 200)) (number (thread-number thread)))
      (part (format nil "variable ~a in thread ~d~@[ ~a~]" name number (and (sb-thread:thread-name thread) (line-text (sb-thread:thread-name thread) 100)))
            value
            (and (plusp number)
                 (absolute "(sb-thread:symbol-value-in-thread '~a (swank/backend:find-thread ~d))" name number))))))

(defun root-part (search path)
  "The root with which PATH of SEARCH begins."
  (destructuring-bind (value parent . code) (first path)
    (if (= parent +binding-root+)
        (binding-part (aref (search-bindings search) code) value)
        (let ((text (line-text value 200)))
          (part (format nil "symbol ~a" text) value (absolute "'~a" text))))))

;;; Steps

(defun path-parts (search path)
  "The parts of the steps of PATH of SEARCH, the root first."
  (let ((root (root-part search path))
        (parts (mapcar #'link-part (merged-links (links-of path)))))
    (if (and parts (symbolp (part-value root)))
        (values parts (part-access root))
        (values (cons root parts) nil))))

(defun step-expression (part expression)
  "The expression for PART of the object for which EXPRESSION stands, or a reference by number."
  (let ((text (and expression (access-text part expression))))
    (if (and text (<= (length text) +longest-expression+))
        text
        (reference-text (number-of (part-value part))))))

(defun step-entry (part expression)
  "(NAME ID EXPRESSION TEXT) of the step to PART."
  (list (part-name part)
        (number-of (part-value part))
        expression
        (viewed-text (part-value part) +step-text+)))

(defun step-entries (search path)
  "=> ((NAME ID EXPRESSION TEXT) ...) of the first and last steps of PATH of SEARCH, and the number of those between them"
  (multiple-value-bind (parts access) (path-parts search path)
    (let* ((expressions (loop for expression = (if access (funcall access nil) "nil") then next
                              for part in parts
                              for next = (step-expression part expression)
                              collect next))
           (entries (mapcar #'cons parts expressions))
           (left (max 0 (- (length entries) +first-steps+ +last-steps+))))
      (flet ((shown (entries) (loop for (part . expression) in entries collect (step-entry part expression))))
        (values (if (zerop left)
                    (shown entries)
                    (append (shown (subseq entries 0 +first-steps+)) (shown (last entries +last-steps+))))
                left)))))

(defun found-path (search)
  "The plist with the path that SEARCH has found."
  (multiple-value-bind (entries left) (step-entries search (path-of search))
    (list :steps entries :left left :own (search-own-phase search))))

(defun path-reply (id object)
  "(:path . PLIST) about OBJECT, which has the number ID."
  (let ((start (nanoseconds-now)) (allocated (sb-ext:get-bytes-consed)))
    (multiple-value-bind (search end) (search-roots-for object)
      (let ((cost (list :objects (search-count search)
                        :time (microseconds-since start)
                        :bytes (max 0 (- (sb-ext:get-bytes-consed) allocated)))))
        (with-client-code ((current-session))
          (append (list :path :id id :text (viewed-text object +instance-text+) :end end)
                  (and (eq end :found) (found-path search))
                  cost))))))

(defun heap-path (id)
  "The steps from a root to the object ID. => (:path . PLIST) | (:no-object ID TEXT-OR-NIL) | (:no-identity ID)"
  (reset-guard-pages)
  (multiple-value-bind (object found) (object-numbered id)
    (cond ((not (eq found t)) (list :no-object id found))
          ((simple-value-p object) (list :no-identity id))
          (t (path-reply id object)))))
