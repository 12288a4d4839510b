;;;; What an object is made of: facts about it, and parts that are objects. Lists, arrays, tables, symbols and packages.

(in-package #:swank-client/observe)

(defstruct view
  "An object as it is shown."
  ;; what kind of object it is, for people
  (kind "object" :type string)
  ;; ((LABEL . TEXT) ...)
  (facts '() :type list)
  ;; a function that returns more of them, which need time, so only the object that a client asks for has them
  (later (constantly '()) :type function)
  ;; the number of parts
  (count 0 :type integer)
  ;; a function of START and END that returns a list of parts
  (range (constantly '()) :type function))

(defstruct part
  "A part of an object."
  ;; as text
  (name "" :type string)
  value
  ;; the key of an entry of a table, in a list
  (key '() :type list)
  ;; a function that returns the expression for the part from that for the object, or NIL
  (access nil)
  ;; true if VALUE was made for the answer, so that nothing else keeps it
  (freshp nil)
  ;; :UNBOUND, :SHARED, :ASSIGNED, :CYCLE or NIL
  (mark nil))

(defun part (name value access &key mark key freshp)
  "A part. ACCESS is a format control with one argument, the expression for the object, or a function of it, or NIL."
  (make-part :name name :value value :mark mark :key key :freshp freshp
             :access (if (stringp access) (lambda (object) (format nil access object)) access)))

(defun parts-view (kind facts parts)
  "A view of KIND with FACTS and all its PARTS."
  (make-view :kind kind
             :facts (remove nil facts)
             :count (length parts)
             :range (lambda (start end) (subseq parts (min start (length parts)) (min end (length parts))))))

(defun fact (label control &rest arguments)
  "A fact. NIL if CONTROL is NIL."
  (and control (cons label (apply #'format nil control arguments))))

;;; Texts. Printing an obsolete instance would update it, which calls the user's code.

(defconstant +read-elements+ (1+ +line-elements+) "Elements of a list or vector that LINE-TEXT reads: the last one says that there are more.")

(defun obsolete-text (object)
  "The text that stands for OBJECT, an obsolete instance."
  (format nil "#<obsolete ~a>" (line-text (obsolete-name object) 200)))

(defun without-obsolete (object &optional (levels +line-levels+))
  "OBJECT, or a copy of its part that LINE-TEXT reads, LEVELS deep, with texts in place of obsolete instances."
  (cond ((obsolete-p object) (make-printed (obsolete-text object)))
        ((zerop levels) object)
        ((consp object) (list-without-obsolete object (1- levels)))
        ((and (vectorp object) (eq t (array-element-type object))) (vector-without-obsolete object (1- levels)))
        (t object)))

(defun list-without-obsolete (list levels)
  "LIST, or a copy of its beginning, for WITHOUT-OBSOLETE. Its elements are shown LEVELS deep."
  (loop for tail = list then (rest tail)
        repeat +read-elements+
        while (consp tail)
        for copy = (without-obsolete (first tail) levels)
        collect copy into copies
        count (not (eq copy (first tail))) into changed
        finally (let ((end (if (consp tail) '() (without-obsolete tail 0))))
                  (return (if (and (zerop changed) (or (consp tail) (eq end tail))) list (append copies end))))))

(defun vector-without-obsolete (vector levels)
  "VECTOR, or a copy of its beginning, for WITHOUT-OBSOLETE. Its elements are shown LEVELS deep."
  (let* ((beginning (subseq vector 0 (min +read-elements+ (length vector))))
         (copy (map 'vector (lambda (element) (without-obsolete element levels)) beginning)))
    (if (every #'eq beginning copy) vector copy)))

(defun viewed-text (object limit)
  "OBJECT printed on one line of at most LIMIT characters."
  (if (obsolete-p object)
      (obsolete-text object)
      (line-text-in-time (without-obsolete object) limit)))

(defun text-fact (label value)
  "A fact that is the printed VALUE, or NIL if that is NIL."
  (and value (cons label (line-text-in-time value 500))))

(defun name-expression (name)
  "NAME, a symbol, as an expression that returns it."
  (format nil "'~a" (line-text name 200)))

(defmacro with-code-numbers (&body body)
  "Run BODY, which writes code, so that the session reads the numbers in it as they are, whatever its *READ-BASE* is."
  `(let ((*print-base* 10)
         (*print-radix* (/= 10 (session-setting (current-session) '*read-base*))))
     ,@body))

(defun access-text (part expression)
  "The expression for PART of the object for which EXPRESSION stands, or NIL."
  (and (part-access part) (or-nil (with-code-numbers (funcall (part-access part) expression)))))

(defun literal-text (object)
  "OBJECT as code that makes an equal one, or NIL if there is no short one."
  (typecase object
    (keyword (line-text object 200))
    (symbol (cond ((member object '(nil t)) (line-text object 10))
                  ((symbol-package object) (name-expression object))))
    ((or integer ratio float) (and (not (huge-number-p object)) (with-code-numbers (line-text object 200))))
    (character (line-text object 40))
    (string (and (<= (length object) 100) (string-literal object)))))

(defun string-literal (string)
  "STRING as code on one line that makes an equal one, or NIL if there is none, because line breaks are shown as spaces."
  (let ((text (line-text string 300)))
    (and (equal string (or-nil (with-standard-io-syntax (read-from-string text)))) text)))

(defun reference-text (number)
  "The expression for the object NUMBER."
  (with-code-numbers (format nil "(swank-objects:ref ~a)" number)))

;;; Views of lists and arrays.

(defconstant +conses-limit+ 1000000 "Conses of a list that are counted.")

;;; Lists

(defun list-shape (list)
  "=> the number of conses of LIST, at most +CONSES-LIMIT+; :PROPER, :DOTTED, :CIRCULAR or :LONG; and, if it is circular, the index of the cons
that its cycle returns to"
  (let ((slow list) (fast list) (count 0))
    (declare (fixnum count))
    (loop
      (cond ((atom fast) (return (values count (if fast :dotted :proper))))
            ((>= count +conses-limit+) (return (values count :long))))
      (setf fast (cdr fast))
      (incf count)
      (when (evenp count) (setf slow (cdr slow)))
      (when (and (eq slow fast) (consp fast)) (return (cycle-shape list fast))))))

(defun cycle-shape (list meeting)
  "The values of LIST-SHAPE for LIST, whose cycle contains the cons MEETING."
  (let* ((length (loop for cons = (cdr meeting) then (cdr cons) count t until (eq cons meeting)))
         (ahead (loop with cons = list repeat length do (setf cons (cdr cons)) finally (return cons)))
         (start (loop for cons = list then (cdr cons)
                      for other = ahead then (cdr other)
                      until (eq cons other) count t)))
    (values (+ start length) :circular start)))

(defun element-access (index)
  "The access to the element INDEX of a list."
  (if (zerop index) "(first ~a)" (lambda (object) (format nil "(nth ~a ~a)" index object))))

(defun list-range (list count shape return)
  "A function that returns the elements of LIST from START to END, and its tail."
  (lambda (start end)
    (let ((elements (loop for cons = (nthcdr (min start count) list) then (cdr cons)
                          for index from start below (min end count)
                          while (consp cons)
                          collect (part (format nil "~d" index) (car cons) (element-access index)))))
      (if (and (< start (1+ count)) (>= end (1+ count)))
          (append elements (tail-part list count shape return))
          elements))))

(defun tail-part (list count shape return)
  "The part after the last of COUNT elements of LIST, if it is not proper, in a list."
  (flet ((tail (name mark)
           (list (part name (nthcdr count list) (lambda (object) (format nil "(nthcdr ~a ~a)" count object)) :mark mark))))
    (ecase shape
      (:proper '())
      (:dotted (tail "." nil))
      (:long (tail "rest" nil))
      (:circular (tail (format nil "back to ~d" return) :cycle)))))

(defun list-view (list)
  "The view of LIST, a cons."
  (multiple-value-bind (count shape return) (list-shape list)
    (make-view :kind (ecase shape
                       (:proper (format nil "list of ~d" count))
                       (:dotted (if (= count 1) "cons" (format nil "dotted list of ~d and a tail" count)))
                       (:long (format nil "list of more than ~d" count))
                       (:circular (format nil "circular list: after element ~d it goes on with element ~d" (1- count) return)))
               :count (if (eq shape :proper) count (1+ count))
               :range (list-range list count shape return))))

;;; Arrays

(defun element-type-fact (array)
  "The fact about the element type of ARRAY, or NIL if that is T."
  (and (not (eq t (array-element-type array)))
       (text-fact "element type" (array-element-type array))))

(defun array-facts (array)
  "The facts about ARRAY."
  (multiple-value-bind (target offset) (array-displacement array)
    (remove nil (list (fact "dimensions" (and (> (array-rank array) 1) "~{~d~^ x ~}") (array-dimensions array))
                      (element-type-fact array)
                      (fact "fill pointer" (and (array-has-fill-pointer-p array) "~d of ~d")
                            (and (array-has-fill-pointer-p array) (fill-pointer array)) (array-total-size array))
                      (fact "adjustable" (and (adjustable-array-p array) "yes"))
                      (and target (fact "displaced to" "~a at ~d" (line-text-in-time target 60) offset))))))

(defun vector-view (vector)
  "The view of VECTOR."
  (let ((count (length vector)))
    (make-view :kind (format nil "vector of ~d" count)
               :facts (array-facts vector)
               :count count
               :range (lambda (start end)
                        (loop for index from start below (min end (length vector))
                              collect (let ((index index))
                                        (part (format nil "~d" index) (aref vector index)
                                              (lambda (object) (format nil "(aref ~a ~a)" object index)))))))))

(defun row (array index)
  "The row INDEX of ARRAY, which has several dimensions, as an array that shares its elements. => the row, and its offset"
  (let* ((dimensions (rest (array-dimensions array)))
         (offset (* index (reduce #'* dimensions))))
    (values (make-array dimensions :element-type (array-element-type array) :displaced-to array :displaced-index-offset offset)
            offset)))

(defun row-access (array offset)
  "The access to the row of ARRAY at OFFSET."
  (lambda (object)
    (format nil "(make-array '~a~:[ :element-type '~a~;~*~] :displaced-to ~a :displaced-index-offset ~a)"
            (rest (array-dimensions array)) (eq t (array-element-type array)) (line-text (array-element-type array) 100) object offset)))

(defun rows-view (array)
  "The view of ARRAY, which has several dimensions: its rows."
  (make-view :kind (format nil "array of ~{~d~^ x ~}" (array-dimensions array))
             :facts (array-facts array)
             :count (if (zerop (array-total-size array)) 0 (array-dimension array 0))
             :range (lambda (start end)
                      (loop for index from start below (min end (array-dimension array 0))
                            collect (multiple-value-bind (row offset) (row array index)
                                      (part (format nil "row ~d" index) row (row-access array offset) :freshp t))))))

(defun scalar-view (array)
  "The view of ARRAY, which has no dimensions."
  (parts-view "array without dimensions" (array-facts array) (list (part "element" (aref array) "(aref ~a)"))))

;;; Strings

(defconstant +chunk+ 2000 "Characters of each part of a long string.")

(defun string-view (string)
  "The view of STRING. A long string has parts of some characters each."
  (let ((chunks (ceiling (length string) +chunk+)))
    (make-view :kind (format nil "string of ~d" (length string))
               :facts (remove-if (lambda (fact) (equal "element type" (first fact))) (array-facts string))
               :count (if (> chunks 1) chunks 0)
               :range (lambda (start end)
                        (loop for chunk from start below (min end chunks)
                              collect (let* ((from (* chunk +chunk+))
                                             (to (min (length string) (+ from +chunk+))))
                                        (part (format nil "~d to ~d" from (1- to)) (subseq string from to)
                                              (lambda (object) (format nil "(subseq ~a ~a ~a)" object from to)) :freshp t)))))))

;;; Views of hash tables, symbols and packages.

;;; Hash tables

(defun found-by-equal-p (key table)
  "True if an object that is made like KEY finds its entry in TABLE."
  (typecase key
    ((or symbol fixnum character) t)
    (number (not (eq 'eq (hash-table-test table))))
    (t (member (hash-table-test table) '(equal equalp)))))

(defun entry-access (key table)
  "The access to the value of KEY in TABLE."
  (let ((literal (and (found-by-equal-p key table) (literal-text key)))
        (number (number-of key)))
    (lambda (object) (format nil "(gethash ~a ~a)" (or literal (reference-text number)) object))))

(defun table-range (table)
  "A function that returns the entries of TABLE from START to END. It takes no lock of the table, which a stopped thread may hold."
  (lambda (start end)
    (let ((index -1) (found '()))
      (with-hash-table-iterator (next table)
        (loop while (< (1+ index) end)
              do (multiple-value-bind (more key value) (next)
                   (unless more (return))
                   (when (>= (incf index) start) (push (cons key value) found)))))
      (loop for (key . value) in (nreverse found)
            collect (part (line-text-in-time key 200) value (entry-access key table)
                          :key (if (or (simple-value-p key) (symbolp key)) '() (list key)))))))

(defconstant +spread-limit+ 500000 "Entries of a table whose hash codes are counted.")

(defconstant +long-chain+ 10 "Keys in a chain that good hash codes hardly ever make.")

(defun collision-fact (longest kept distinct most)
  "The fact that keys collide, or NIL. The arguments are the values of TABLE-SPREAD."
  (cond ((and (> kept distinct) (or (>= most 4) (> (* 4 (- kept distinct)) kept)))
         (fact "warning" "keys collide: ~:d keys have ~:d hash code~:p, and ~:d keys the same one, so finding a key may compare ~:d"
               kept distinct most (max longest most)))
        ((>= longest +long-chain+) (fact "warning" "keys collide: finding a key may compare ~:d" longest))))

(defun spread-facts (table)
  "The facts about how the keys of TABLE are spread."
  (if (> (hash-table-count table) +spread-limit+)
      (list (fact "hash codes" "not counted: more than ~:d entries" +spread-limit+))
      (multiple-value-bind (longest kept distinct most) (table-spread table)
        (cond ((null longest)
               (list (fact "hash codes" (and (plusp (hash-table-count table)) "not known: SBCL has no chains for this table, or it is being changed"))))
              ((plusp (hash-table-count table))
               (list (if (zerop kept)
                         (fact "distinct hash codes" "not kept: SBCL hashes these keys by address or value")
                         (fact "distinct hash codes" "~:d of ~:d" distinct kept))
                     (fact "longest chain" "~:d" longest)
                     (collision-fact longest kept distinct most)))))))

(defun table-view (table)
  "The view of TABLE, a hash table."
  (let ((weakness (sb-ext:hash-table-weakness table)))
    (make-view :kind (format nil "hash table of ~d" (hash-table-count table))
               :facts (remove nil (list (fact "test" "~a" (line-text (hash-table-test table) 200))
                                        (fact "count" "~d" (hash-table-count table))
                                        (fact "size" "~d" (hash-table-size table))
                                        (fact "weakness" (and weakness "~(~a~)") weakness)
                                        (fact "synchronized" (and (sb-ext:hash-table-synchronized-p table) "yes"))))
               :later (lambda () (spread-facts table))
               :count (hash-table-count table)
               :range (table-range table))))

;;; Symbols

(defun symbol-view (symbol)
  "The view of SYMBOL."
  (let ((class (find-class symbol nil)))
    (flet ((of (name present value control) (and present (part name value control))))
      (parts-view (if (keywordp symbol) "keyword" "symbol")
                  (list (fact "name" "~s" (symbol-name symbol))
                        (fact "package" "~:[none~;~:*~a~]" (home-name symbol))
                        (fact "variable" (and (boundp symbol) (not (keywordp symbol)) "~:[~;constant~]bound") (constantp symbol)))
                  (remove nil (list (of "value" (and (boundp symbol) (not (keywordp symbol))) (and (boundp symbol) (symbol-value symbol)) "(symbol-value ~a)")
                                    (of "function" (fboundp symbol) (and (fboundp symbol) (fdefinition symbol)) "(fdefinition ~a)")
                                    (of "class" class class "(find-class ~a)")
                                    (of "property list" (symbol-plist symbol) (symbol-plist symbol) "(symbol-plist ~a)")
                                    (of "package" (symbol-package symbol) (symbol-package symbol) "(symbol-package ~a)")))))))

;;; Packages

(defun external-symbols (package)
  "The external symbols of PACKAGE, sorted."
  (let ((symbols '()))
    (do-external-symbols (symbol package) (push symbol symbols))
    (sort symbols #'string<)))

(defun internal-count (package)
  "The number of symbols whose home PACKAGE is, and that are not external."
  (let ((count 0))
    (do-symbols (symbol package)
      (when (and (eq package (symbol-package symbol))
                 (not (eq :external (nth-value 1 (accessible-symbol (symbol-name symbol) package)))))
        (incf count)))
    count))

(defun names-fact (label packages)
  "The fact that lists the names of PACKAGES, or NIL if there are none."
  (fact label (and packages "~{~a~^ ~}") (mapcar #'package-name packages)))

(defun package-view (package)
  "The view of PACKAGE: its external symbols."
  (if (null (package-name package))
      (parts-view "deleted package" '() '())
      (let ((symbols (external-symbols package)))
        (parts-view "package"
                    (list (fact "nicknames" (and (package-nicknames package) "~{~a~^ ~}") (package-nicknames package))
                          (names-fact "uses" (package-use-list package))
                          (names-fact "used by" (package-used-by-list package))
                          (fact "external symbols" "~d" (length symbols))
                          (fact "internal symbols" "~d" (internal-count package))
                          (fact "locked" (and (sb-ext:package-locked-p package) "yes")))
                    (loop for symbol in symbols
                          collect (part (symbol-name symbol) symbol (name-access symbol)))))))

(defun name-access (symbol)
  "The access to SYMBOL, whatever object it belongs to."
  (let ((text (or (literal-text symbol) "nil")))
    (lambda (object) (declare (ignore object)) text)))
