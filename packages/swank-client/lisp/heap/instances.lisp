;;;; Objects of a type.

(in-package #:swank-client/heap)

(defconstant +instance-text+ 200 "Characters shown of an instance.")

(defun instance-entries (objects)
  "((ID BYTES TEXT) ...) of OBJECTS."
  (with-client-code ((current-session))
    (loop for object in objects
          collect (list (number-of object) (object-bytes object) (object-text object +instance-text+)))))

(defun found-instances (counted limit look)
  "At most LIMIT objects with keys in COUNTED, evenly spread over the heap, and the distance between two of them."
  (let* ((start (nanoseconds-now))
         (every (max 1 (floor (sum #'second counted) (max 1 limit)))))
    (multiple-value-bind (objects complete)
        (find-in-heap (mapcar #'first counted) every limit (+ start (* +walk-seconds+ 1000000000)))
      (incf (look-walk look) (microseconds-since start))
      (unless complete (setf (look-complete look) nil))
      (values objects every))))

(defun heap-instances (type &key collect (limit 20))
  "Objects of TYPE, at most LIMIT, after a full collection if COLLECT. => (:instances . PLIST) | (:no-type TEXT REASON)"
  (reset-guard-pages)
  (with-type (asked type)
    (let* ((look (begin-look collect))
           (counted (counted-heap look asked)))
      (multiple-value-bind (objects every) (found-instances counted limit look)
        (list* :instances
               :type (first (first (type-rows (list (list asked)))))
               :count (sum #'second counted)
               :bytes (sum #'third counted)
               :types (type-rows (first-of (sort (by-type counted) #'> :key #'third) 5))
               :every every
               :instances (instance-entries objects)
               (look-plist look))))))
