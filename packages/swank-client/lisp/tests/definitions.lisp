;;;; Tests of finding and describing definitions.

(in-package #:swank-client/tests)

(defgeneric greeting (who)
  (:documentation "A generic function with methods, for these tests."))

(defmethod greeting :around ((who (eql :world)))
  (call-next-method))

(defmethod greeting ((who symbol))
  who)

(define-test defined-thing-of-defining-forms
    "The kind and the name of a definition are found in its form."
  (loop for (form kind name) in '(((defun f ()) :function f)
                                  ((defun (setf f) (x)) :function (setf f))
                                  ((defstruct (s (:conc-name nil))) :structure s)
                                  ((defpackage :p) :package "P")
                                  ((setf (fdefinition 'f) #'g) :function f)
                                  ((list 1) nil nil))
        do (is (equal (list kind name) (multiple-value-bind (k n) (defined-thing form) (list k n))))))

(define-test name-p-of-kinds
    "A function may be named (SETF NAME), a package by a string, and nothing by a number."
  (is-true (name-p :function '(setf f)))
  (is-true (name-p :package "P"))
  (is-false (name-p :function "F"))
  (is-false (name-p :function 1)))

(define-test method-name-has-qualifiers-and-specializers
    "The name of a method consists of its function, its qualifiers and its specializers."
  (is (equal '((greeting (symbol)) (greeting :around ((eql :world))))
             (sort (mapcar (lambda (method) (method-name 'greeting method)) (methods-of 'greeting)) #'< :key #'length)))
  (is (null (methods-of 'car))))

(define-test current-definition-finds-related-kinds
    "The current definition is found under any kind that can replace the given one."
  (is (eq :generic-function (first (current-definition :function 'greeting))))
  (is (eq :class (first (current-definition :structure 'unprintable))))
  (is (null (current-definition :function 'no-such-function))))

(define-test unqualified-parameters-print-without-packages
    "The parameters of a lambda list print without packages; lambda list keywords and defaults are unchanged."
  (let ((*print-gensym* nil))
    (is (equal "(A &OPTIONAL (B 1 B-P) &KEY C ((:D E) 2))"
               (prin1-to-string (unqualified-parameters '(a &optional (b 1 b-p) &key c ((:d e) 2))))))))

(define-test qualified-name-has-bars-where-needed
    "The name of a symbol has its package, and can be read back."
  (is (equal "COMMON-LISP::CAR" (qualified-name 'car)))
  (is (equal "SWANK-CLIENT/TESTS::|a b|" (qualified-name (intern "a b" "SWANK-CLIENT/TESTS"))))
  (is (equal "#:X" (qualified-name (make-symbol "X")))))
