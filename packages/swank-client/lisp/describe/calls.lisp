;;;; The methods that a call of a generic function would run. Arguments are read as data: nothing is evaluated.

(in-package #:swank-client/describe)

(defvar *call* '() "The sources of the arguments of a call whose methods are to be listed. They are read in the current package.")

(defun read-datum (source)
  "Read SOURCE, one expression, without running code or interning."
  (let ((forms (read-without-interning source (data-readtable *readtable*) :most nil)))
    (if (= (length forms) 1)
        (first forms)
        (error "~a is ~d expressions, but each argument is one." source (length forms)))))

(defun object-reference-p (form)
  "True if FORM is (swank-objects:ref NUMBER)."
  (and (typep form '(cons symbol (cons integer null)))
       (string= (first form) "REF")
       (equal (home-name (first form)) "SWANK-OBJECTS")))

(defun symbol-argument (symbol)
  "The argument that SYMBOL means: the value of a variable, or an instance of a class."
  (multiple-value-bind (value bound) (session-value symbol)
    (cond (bound (list :object value))
          ((find-class symbol nil) (list :class (find-class symbol)))
          (t (error "~a is neither a variable with a value nor a class." symbol)))))

(defun read-argument (source)
  "The argument that SOURCE means, as EFFECTIVE-METHODS takes it."
  (let ((form (read-datum source)))
    (cond ((typep form '(cons (eql quote) (cons t null))) (list :object (second form)))
          ((object-reference-p form) (list :object (call-if-loaded "SWANK-OBJECTS" "REF" (second form))))
          ((consp form)
           (error "~a would have to be evaluated. Write a literal, 'data, a variable, (swank-objects:ref N) or the name of a class." source))
          ((and (symbolp form) (not (keywordp form)) form) (symbol-argument form))
          (t (list :object form)))))

(defun takes-count-p (function count)
  "True if the generic FUNCTION takes COUNT arguments."
  (let ((required (required-count function)))
    (and (>= count required)
         (or (= count required)
             (> (length (sb-mop:generic-function-lambda-list function)) required)))))

(defun methods-called (name)
  "The methods that *CALL* runs if it calls NAME.
=> (:methods ENTRIES), as METHOD-ENTRIES returns them | (:unknown REASON) | NIL if NAME is no generic function"
  (let ((function (generic-function-named name)))
    (handler-case
        (cond ((null function) nil)
              ((not (takes-count-p function (length *call*)))
               (list :unknown (format nil "it takes ~d required argument~:p, not ~d." (required-count function) (length *call*))))
              (t (with-printing-time
                   (list :methods (method-entries name (effective-methods function (mapcar #'read-argument *call*)))))))
      (storage-condition () (restore-guard-page) (list :unknown "computing them has exhausted the stack or the heap."))
      (error (problem) (list :unknown (report-text problem 500))))))
