;;;; Tests of the answers to questions about code, of definitions, and of reading code as data.

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

(define-test symbol-kinds-of-symbols
    "The kinds of things that a symbol names are known without its sources."
  (is (equal '(:function :built-in-class) (symbol-kinds 'list)))
  (is (equal '(:generic-function) (symbol-kinds 'greeting)))
  (is (equal '(:special-operator) (symbol-kinds 'if)))
  (is (equal '(:constant) (symbol-kinds 'pi)))
  (is (equal '() (symbol-kinds 'symbol-that-names-nothing)))
  (is-true (of-kind-p '(:generic-function) :function))
  (is-false (of-kind-p '(:macro) :function)))

(defun file-of-text (text)
  "A file with TEXT."
  (make-file :analysis (make-analysis :text text)))

(define-test masked-text-keeps-positions
    "All forms before the wanted one are blank, except those that set its context, and no position changes. The form after it ends the text."
  (let ((file (file-of-text (format nil "(in-package :a) 'b (c \")\"~%) #+(or) (d) (e (f)) (declaim (g)) (h)"))))
    (is (string= (format nil "(in-package :a) 'b (     ~%) #+(or) (d) (e (f)) (           )") (masked-text file 3)))
    (is (string= (format nil "(in-package :a) 'b (     ~%) #+(or) (d) (     ) (declaim (g)) (h)") (masked-text file 5)))))

(define-test reader-forms-are-recognized
    "Forms that may change the syntax of later forms are found by their operator or by the variable that they set."
  (dolist (text '("(named-readtables:in-readtable :a)" "(set-macro-character #\\? #'f)" "(enable-interpol-syntax)"
                  "(eval-when (:compile-toplevel) (setf *readtable* *mine*))"))
    (is-true (reader-form-p text (find-package "COMMON-LISP-USER")) "~a" text))
  (dolist (text '("(foo)" "(setf *x* 1)" "(eval-when (:execute) (foo))"))
    (is-false (reader-form-p text (find-package "COMMON-LISP-USER")) "~a" text)))

(define-test read-without-interning-replaces-names-their-packages-lack
    "A name whose package lacks it is read as an uninterned symbol that knows its prefix. Text, characters and features are no names."
  (let* ((*package* (find-package "COMMON-LISP-USER"))
         (source "(car swank-client/tests::never-read \"cl::a\" #\\: #+never-feature 1 :never-key '|a::b| #:c #+(and sbcl) 2 cl:list)")
         (form (first (read-without-interning source (data-readtable))))
         (unknown (second form)))
    (is (equal '(car list) (list (first form) (first (last form)))))
    (is (equal "NEVER-READ" (symbol-name unknown)))
    (is (equal "swank-client/tests::" (prefix-of-unknown unknown)))
    (is (equal ":" (prefix-of-unknown (fifth form))))
    (is (equal '("cl::a" #\: 2) (list (third form) (fourth form) (eighth form))))
    (is (null (accessible-symbol "NEVER-READ" "SWANK-CLIENT/TESTS")))
    (is (null (accessible-symbol "NEVER-FEATURE" "KEYWORD")))
    (is (null (accessible-symbol "NEVER-KEY" "KEYWORD")))))

(define-test read-without-interning-refuses-what-would-intern
    "A list that is read in another package, and a colon in a name that the readtable ends early."
  (signals error (read-without-interning "cl-user::(never-a)" (data-readtable)))
  (let ((readtable (data-readtable)))
    (set-macro-character #\[ (lambda (stream char) (declare (ignore char)) (list :bracket (read stream t nil t))) nil readtable)
    (set-macro-character #\] (lambda (stream char) (declare (ignore stream char)) (values)) nil readtable)
    (let ((form (first (read-without-interning "[cl-user::never-b]" readtable))))
      (is (equal "cl-user::" (prefix-of-unknown (second form))))
      (is (null (accessible-symbol "NEVER-B" "CL-USER"))))))

(define-test read-without-interning-limits-what-a-literal-builds
    "Sizes, numbers, names, nesting and shared structure that would take any amount of memory or time are refused."
  (dolist (text (list "#99999999A()" "#99999999(0)" "#99999999*0" "#2A(#1=(1 2) #1# #1# . #1#)" "#A((2 2) t ((1 2) (3 4)))"
                      (format nil "#3A~a" (format nil "(~v@{~a ~:*~})" 500 (format nil "(~v@{~a ~:*~})" 500 "(1)")))
                      (format nil "#7A(~{~a~})" (loop for level from 1 to 26 collect (format nil "#~d=(~:[1 1~;~:*#~d# #~:*~d#~]) " level
                                                                                             (and (> level 1) (1- level)))))
                      (format nil "~{~a~}" (loop repeat 100 collect "#9999(0) "))
                      (make-string 20000 :initial-element #\7)
                      (format nil "#\\~a" (make-string 20000 :initial-element #\a))
                      (format nil "~v@{~a~:*~}" 50000 "(")
                      (format nil "~v@{~a~:*~}a" 50000 "'")
                      (format nil "~v@{~a~:*~}a" 50000 "#'")
                      "#+#1=(or . #1#) a" "#.(car)" "#S(a)"))
    (signals error (read-without-interning text (data-readtable) :most nil) "~a" (subseq text 0 (min 40 (length text)))))
  (signals error (read-without-interning "#1=(or . #1#)" (data-readtable)))
  (is (equalp '(#2A((1 2) (3 4)) #(0 0 0) #*111 "a" #\a)
              (read-without-interning (format nil "#2A((1 2) (3 4)) #3(0) #3*1 \"a\" #\\a") (data-readtable)))))

(define-test read-without-interning-shares-what-the-text-shares
    "Shared and circular data is read as it is, however large a copy would be."
  (let* ((text (format nil "(~{~a~})" (loop for level from 1 to 40
                                            collect (format nil "#~d=(~:[list list~;~:*#~d# #~:*~d#~]) " level (and (> level 1) (1- level))))))
         (last (first (last (first (read-without-interning text (data-readtable) :most nil)))))
         (circle (first (read-without-interning "#1=(cl:list #2A((list #1#)) . #1#)" (data-readtable) :most nil))))
    (is (eq (first last) (second last)))
    (is (eq circle (cddr circle)))
    (is (eq circle (aref (second circle) 0 1)))
    (is (eq 'list (aref (second circle) 0 0)))
    (is (eq 'list (loop for part = last then (car part) while (consp part) finally (return part))))))

;;; What is kept of a form

(defmacro define-by-macro (name)
  "Defines NAME, a function."
  `(defun ,name () 1))

(defmacro only-twice (form)
  "FORM, twice."
  `(list ,form ,form))

(define-test defining-part-leaves-out-what-defines-nothing
  "Of a form, only definitions are kept, with the bindings around them."
  (let ((*package* (find-package "SWANK-CLIENT/TESTS")))
    (loop for (text part) in '(("(defun f (x) (list x))" "(defun f (x) (list x))")
                               ("(cl:defvar *x* 1 \"A (variable).\")" "(cl:defvar *x* 1 \"A (variable).\")")
                               ("(progn (print 1) (defun f () 1) (f))" "(defun f () 1)")
                               ("(list (defun f () 1) (defun g () 2) (run))"
                                "(progn
  (defun f () 1)
  (defun g () 2))")
                               ("(eval-when (:execute) (when t (defmacro m () 1)))" "(defmacro m () 1)")
                               ("(let ((n 0)) (print n) (defun next () (incf n)) (next))"
                                "(let ((n 0))
  (defun next () (incf n)))")
                               ("(dotimes (i 3) (defun f () i))" nil)
                               ("(setf (fdefinition 'f) (lambda () 1))" "(setf (fdefinition 'f) (lambda () 1))")
                               ("(setf *x* 1)" nil)
                               ("(eval '(defun f () 1))" nil)
                               ("(define-by-macro f)" "(define-by-macro f)")
                               ("(progn (define-by-macro f) (only-twice (run)))" "(define-by-macro f)")
                               ("(f 1)" nil)
                               ("x" nil))
          do (is (equal part (defining-part text)) "~s" text))))
