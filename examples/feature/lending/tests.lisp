(defpackage #:lending-tests
  (:use #:common-lisp #:fiveam #:lending))

(in-package #:lending-tests)

(def-suite lending :description "Who has which book.")
(in-suite lending)

(defun new-book ()
  (make-instance 'book :title "Emma"))

(test a-book-is-lent
  (is (equal "Ann" (borrower (lend (new-book) "Ann")))))

(test a-book-is-lent-once
  (signals not-available (lend (lend (new-book) "Ann") "Bob")))

(test a-book-is-given-back
  (is (null (borrower (give-back (lend (new-book) "Ann"))))))

(test a-few-days-are-cheap
  (is (= 60 (fine 3))))
