;;;; Tests of looking at the heap.

(in-package #:swank-client/tests)

(defstruct heap-item "An object to count." content)

(defvar *heap-items* '() "Objects to count and to find.")

(defun in-seconds (seconds)
  "The time in SECONDS, in nanoseconds."
  (+ (nanoseconds-now) (* seconds 1000000000)))

(defun heap-item-entry ()
  "(KEY COUNT BYTES) of the items in the heap."
  (find (find-class 'heap-item) (count-heap (in-seconds 60)) :key (lambda (entry) (key-type (first entry)))))

(define-test count-heap-counts-instances
    "A walk counts each instance with its bytes, and finds them by the key."
  (setf *heap-items* (loop repeat 1000 collect (make-heap-item)))
  (sb-ext:gc :full t)
  (destructuring-bind (key count bytes) (heap-item-entry)
    (is (>= count 1000))
    (is (= bytes (* count (sb-ext:primitive-object-size (first *heap-items*)))))
    (let ((found (find-in-heap (list key) 100 5 (in-seconds 60))))
      (is (= 5 (length found)))
      (is (every #'heap-item-p found))))
  (setf *heap-items* '()))

(define-test a-walk-ends-at-its-limit
    "A walk whose time is over says that it is not complete."
  (is-false (nth-value 1 (count-heap (nanoseconds-now))))
  (is-true (nth-value 1 (count-heap (in-seconds 60)))))

(define-test types-are-matched-by-class
    "An object's class decides whether it is of a type that others are combined to."
  (let ((item (find-class 'heap-item)))
    (is-true (of-type-p item 'structure-object))
    (is-true (of-type-p item '(and structure-object (not hash-table))))
    (is-true (of-type-p 'simple-vector '(or vector cons)))
    (is-false (of-type-p item '(not structure-object)))
    (is-false (of-type-p nil 'structure-object))))

(define-test by-value-p-tells-what-classes-cannot
    "Types that classes and element types decide are told from those that need the objects' values."
  (dolist (type '(vector (vector double-float) (simple-array character (*)) (array t *) string (or cons hash-table) (not function) atom))
    (is-false (by-value-p type)))
  (dolist (type '(keyword boolean (simple-vector 3) (string 5) (vector t 2) (cons integer) (integer 0 5) unsigned-byte (member nil)
                  (or cons (eql *)) (and symbol (not keyword))))
    (is-true (by-value-p type))))

(define-test growth-is-the-difference-by-type
    "Types that are as before are left out, and those that are gone have negative figures."
  (let ((changes (growth-of '((a 3 30) (b 1 10) (d 5 50)) '((a 1 10) (b 1 10) (c 2 64)))))
    (is (equal '((d 5 50 0 0) (a 2 20 1 10) (c -2 -64 2 64)) changes))
    (is (equal '((d 5 50 0 0) (c -2 -64 2 64)) (shown-growth changes 2)))))

(define-test conses-of-a-list-are-one-step
    "The path to an element of a list names its index; the path to a tail, the number of conses before it."
  (setf *heap-items* (list 1 2 (list 3)))
  (flet ((last-link (target)
           (let ((search (search-roots-for target)))
             (first (last (merged-links (links-of (path-of search))))))))
    (let ((link (last-link (third *heap-items*))))
      (is (equal '(:nth 2) (list (link-kind link) (link-index link)))))
    (let ((link (last-link (cdr *heap-items*))))
      (is (equal '(:tail 1) (list (link-kind link) (link-index link))))))
  (setf *heap-items* '()))

(define-test a-search-follows-no-weak-reference
    "What only a weak pointer or a weak table refers to is not found."
  (let ((object (list 1)) (table (make-hash-table :weakness :value)))
    (setf *heap-items* (list (sb-ext:make-weak-pointer object) table)
          (gethash 1 table) object)
    (is (eq :none (nth-value 1 (search-roots-for object)))))
  (setf *heap-items* '()))
