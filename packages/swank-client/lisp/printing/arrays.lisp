;;;; Text for arrays: their dimensions, and the elements around an index.

(in-package #:swank-client/printing)

(defconstant +elements-shown+ 5 "Elements of a row that are shown.")

(defconstant +rows-shown+ 3 "Rows of an array with two dimensions that are shown.")

(defun range-around (index count width)
  "=> first and last of WIDTH indexes below COUNT around INDEX, the nearest ones if it is out of range, or the first ones if it is NIL"
  (let* ((width (min width count))
         (start (max 0 (min (- (or index 0) (floor width 2)) (- count width)))))
    (values start (+ start width -1))))

(defun element-texts (array start end &optional row)
  "The elements START to END of ARRAY, or of its ROW, as one text."
  (format nil "~{~a~^ ~}" (loop for index from start to end
                                collect (line-text (if row (aref array row index) (aref array index)) 20))))

(defun vector-part (vector index)
  "The elements of VECTOR around INDEX, as text."
  (multiple-value-bind (start end) (range-around index (length vector) +elements-shown+)
    (format nil "elements ~d to ~d: ~a" start end (element-texts vector start end))))

(defun matrix-part (array index axis)
  "The rows of ARRAY around INDEX, an index of AXIS, as text."
  (multiple-value-bind (first-row last-row) (range-around (and (eql axis 0) index) (array-dimension array 0) +rows-shown+)
    (multiple-value-bind (start end) (range-around (and (eql axis 1) index) (array-dimension array 1) +elements-shown+)
      (format nil "rows ~d to ~d~@[, columns ~{~d to ~d~}~]:~{ (~a)~}" first-row last-row
              (and (< (1+ (- end start)) (array-dimension array 1)) (list start end))
              (loop for row from first-row to last-row collect (element-texts array start end row))))))

(defun array-text (array index axis)
  "The dimensions and element type of ARRAY, and its elements around INDEX, an index of AXIS, which may be NIL. On one line."
  (handler-case
      (with-bounded-printing (:length 3 :level 2)
        (let ((part (and (plusp (array-total-size array))
                         (case (array-rank array)
                           (1 (vector-part array index))
                           (2 (matrix-part array index axis))))))
          (on-one-line
           (format nil "#<~:[ARRAY ~{~d~^x~}~;VECTOR of ~{~d~}~]~@[ ~a~]~@[, ~a~]>" (vectorp array) (array-dimensions array)
                   (and (not (eq t (array-element-type array))) (array-element-type array))
                   part))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text array)))))
