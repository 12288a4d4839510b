;;;; Tests of finding forms in the text of source files.

(in-package #:swank-client/tests)

(defun span-text (text start end)
  "TEXT from START to END."
  (subseq text start end))

(define-test top-level-forms-begin-with-their-parenthesis
    "The start of a top-level form is its parenthesis, whatever precedes it. Nothing is interned or evaluated."
  (let ((text (format nil "; (comment)~%(a #.(error \"read\"))~%#+(or) (left out)~%  (no-such-package::b)")))
    (is (equal (list (position #\( text :start 10) (search "(no-such" text))
               (mapcar #'top-level-form-start (top-level-forms text))))))

(define-test top-level-forms-have-gaps
    "Each form knows where the reading of the form before it ended, and atoms and quoted lists are forms."
  (let* ((text (format nil "(a)~%#| (b) |# c~% '(d)~%#+(or) (e) (f)"))
         (forms (top-level-forms text)))
    (is (equal '("(a)" "c" "(d)" "(f)")
               (mapcar (lambda (form) (span-text text (top-level-form-start form) (top-level-form-end form))) forms)))
    (is (equal '(0 3) (mapcar #'top-level-form-gap (subseq forms 0 2))))))

(define-test top-level-forms-end-at-broken-text
    "The forms before one that cannot be read are found."
  (multiple-value-bind (forms completep) (top-level-forms "(a) (b")
    (is (= 1 (length forms)))
    (is-false completep))
  (is-true (nth-value 1 (top-level-forms "(a) #+#.(cl:if t '(and) '(or)) (b)"))))

(define-test lists-and-their-elements-are-found
    "The spans of all lists in a form, and of the first elements of a list, comments left out."
  (let ((text "x (defun ; (no)
 (setf a) (b #\\( \"(\") |c (|)"))
    (is (equal '("(setf a)" "(b #\\( \"(\")")
               (loop for (start end depth) in (list-spans text 2 (length text))
                     when (= depth 1) collect (span-text text start end))))
    (is (equal '("defun" "(setf a)")
               (loop for (start end) in (element-spans text 2 (length text)) collect (span-text text start end))))))

(define-test definition-head-names-a-definition
    "The operator and the name of a defining form are compared with names as the reader would."
  (flet ((names-p (text name)
           (head-names-p (nth-value 1 (definition-head text 0 (length text))) name)))
    (is-true (names-p "(defun current-definition ())" 'current-definition))
    (is-true (names-p "(defun (setf FooBar) ())" '(setf foobar)))
    (is-true (names-p "(defstruct (foobar (:conc-name nil)) a)" 'foobar))
    (is-true (names-p "(defpackage #:foobar)" "FOOBAR"))
    (is-false (names-p "(defun |foobar| ())" 'foobar))
    (is-false (names-p "(defun (setf foobar) ())" 'foobar))))

(define-test position-of-counts-from-one
    "Lines and columns are counted from 1, in characters."
  (is (equal '(2 3) (multiple-value-list (position-of (format nil "ab~%cdef") 5)))))
