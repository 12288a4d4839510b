;;;; Views of lists and arrays.

(in-package #:swank-client/inspect-object)

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
  (if (zerop index) "(first ~a)" (lambda (object) (format nil "(nth ~d ~a)" index object))))

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
           (list (part name (nthcdr count list) (lambda (object) (format nil "(nthcdr ~d ~a)" count object)) :mark mark))))
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
                                              (lambda (object) (format nil "(aref ~a ~d)" object index)))))))))

(defun row (array index)
  "The row INDEX of ARRAY, which has several dimensions, as an array that shares its elements. => the row, and its offset"
  (let* ((dimensions (rest (array-dimensions array)))
         (offset (* index (reduce #'* dimensions))))
    (values (make-array dimensions :element-type (array-element-type array) :displaced-to array :displaced-index-offset offset)
            offset)))

(defun row-access (array offset)
  "The access to the row of ARRAY at OFFSET."
  (lambda (object)
    (format nil "(make-array '~a~:[ :element-type '~a~;~*~] :displaced-to ~a :displaced-index-offset ~d)"
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
                                              (lambda (object) (format nil "(subseq ~a ~d ~d)" object from to)) :freshp t)))))))
