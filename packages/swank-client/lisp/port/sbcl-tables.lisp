;;;; How the keys of a hash table are spread. These are internals of SBCL.
;;;; A table is read as it is: no lock is taken, and no code of the user is called. Other threads may change it meanwhile.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-tables
  (:documentation "How the keys of a hash table are spread.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:functions #:sb-impl #:hash-table-hash-vector #:hash-table-index-vector #:hash-table-next-vector)
  (:export #:table-spread))

(in-package #:swank-client/sbcl-tables)

(defun address-mark ()
  "What SBCL keeps in place of the hash code of a key that it hashes by its address, or NIL if it keeps no codes."
  (let ((table (make-hash-table :test 'equal)))
    ;; EQUAL compares vectors by their addresses
    (loop repeat 40 do (setf (gethash (vector) table) t))
    (let ((codes (hash-table-hash-vector table)))
      (and codes (aref codes 1)))))

(defun chains (table)
  "=> the entries of TABLE in all chains, the longest chain, and the number of keys with each kept hash code: code -> number. NIL if SBCL keeps no
chains for TABLE, or if another thread changes it."
  (let* ((starts (hash-table-index-vector table))
         (nexts (hash-table-next-vector table))
         (codes (hash-table-hash-vector table))
         (mark (address-mark))
         (most (length nexts))
         (entries 0) (longest 0)
         (numbers (make-hash-table)))
    (loop for start across starts
          do (loop for entry = start then (aref nexts entry)
                   for length from 0
                   until (zerop entry)
                   do (when (> (incf entries) most) (return-from chains nil))
                      (when (and codes (not (eql mark (aref codes entry))))
                        (incf (gethash (aref codes entry) numbers 0)))
                   finally (setf longest (max longest length))))
    (values entries longest numbers)))

(defun table-spread (table)
  "=> the number of keys of TABLE in its longest chain, of those whose hash codes SBCL keeps, of distinct codes, and of the keys with the most frequent
one. NIL if that is not known: for a small table, which may have no chains, and for one that another thread changes."
  (let ((count (hash-table-count table)))
    ;; other threads may shorten the vectors
    (multiple-value-bind (entries longest numbers) (nil-on error (chains table))
      (and entries
           (= entries count (hash-table-count table))
           (loop for number being the hash-values of numbers
                 sum number into kept
                 maximize number into most
                 finally (return (values longest kept (hash-table-count numbers) (or most 0))))))))
