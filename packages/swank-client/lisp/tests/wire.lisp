;;;; Tests of messages on the wire.

(in-package #:swank-client/tests)

(define-test bytes-of-counts-utf-8-and-escapes
    "The size of a string is that of its escaped UTF-8; the upper bound is four bytes per character."
  (is (= 3 (bytes-of "abc" t)))
  (is (= 4 (bytes-of "\"\\" t)))
  (is (= 2 (bytes-of (string (code-char 228)) t)))
  (is (= 4 (bytes-of (string (code-char #x1F600)) t)))
  (is (= 12 (bytes-of "abc" nil))))

(defclass unprintable () ()
  (:documentation "Objects that cannot be printed."))

(defmethod print-object ((object unprintable) stream)
  (declare (ignore stream))
  (error "not printable"))

(define-test fits-p-gives-the-reason
    "Data that fits is distinguished from data that is too large or cannot be printed."
  (is (eq t (fits-p '(:ok (1 2.5 "text" :key #(1 2))))))
  (is (eq :too-large (fits-p (make-string 17000000 :initial-element #\x))))
  (is (eq :too-large (let ((circular (list 1))) (setf (rest circular) circular) circular
                       (fits-p circular))))
  (is (eq :unprintable (fits-p (list (make-instance 'unprintable))))))

(define-test shortened-keeps-both-ends
    "A long string keeps its beginning and its end."
  (let ((short (shortened (concatenate 'string "a" (make-string 30000 :initial-element #\-) "z"))))
    (is (> 21000 (length short)))
    (is (char= #\a (char short 0)))
    (is (char= #\z (char short (1- (length short)))))
    (is (search "10002 characters left out" short)))
  (is (equal '(1 "x" . :y) (shortened '(1 "x" . :y)))))

(define-test fitting-event-refuses-results
    "A reply that does not fit becomes a refusal with the reason and the same id; other events are unchanged."
  (is (equal '(:return nil (:ok 1) 7) (fitting-event '(:return nil (:ok 1) 7))))
  (is (equal '(:return nil (:refused :too-large) 7)
             (fitting-event (list :return nil (list :ok (make-string 17000000 :initial-element #\x)) 7))))
  (is (equal '(:write-string "x") (fitting-event '(:write-string "x")))))

(define-test last-newline-of-every-string
    "The last newline is found in every kind of string, within the bounds."
  (dolist (string (list (format nil "a~%b~%c") (coerce (format nil "a~%b~%c") 'simple-base-string)
                        (make-array 5 :element-type 'character :fill-pointer t :initial-contents (format nil "a~%b~%c"))))
    (is (= 3 (last-newline string 0 5)))
    (is (= 1 (last-newline string 0 3)))
    (is-false (last-newline string 4 5))))
