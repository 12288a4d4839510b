;;;; The methods that a call of a generic function would run. Arguments are read as data: nothing is evaluated.

(in-package #:swank-client/describe)

(defvar *call* '() "The sources of the arguments of a call whose methods are to be listed. They are read in the current package.")

(defun refuse-structure (stream char parameter)
  "The reader's function for #S, which would call a constructor."
  (declare (ignore stream char parameter))
  (error "#S is not read, because it would call a constructor."))

(defun data-readtable (&optional readtable)
  "A copy of READTABLE, by default the standard one, without #S."
  (let ((readtable (copy-readtable readtable)))
    (set-dispatch-macro-character #\# #\S #'refuse-structure readtable)
    readtable))

(defun existing-symbols (form scratch)
  "FORM with each symbol of the package SCRATCH replaced by the one that the current package has under its name, if it has one."
  (labels ((existing (part)
             (typecase part
               (cons (cons (existing (car part)) (existing (cdr part))))
               (simple-vector (map 'vector #'existing part))
               (symbol (if (eq scratch (symbol-package part))
                           (multiple-value-bind (symbol status) (accessible-symbol (symbol-name part) *package*)
                             (if status symbol part))
                           part))
               (t (if (comma-p part)
                      (make-comma (existing (comma-form part)) part)
                      part)))))
    (existing form)))

(defun read-without-interning (source readtable)
  "The forms of SOURCE, read with READTABLE without running code. A name that the current package does not have becomes a symbol of no package."
  (let ((scratch (make-package (format nil "SWANK-CLIENT SCRATCH ~a" (gensym)) :use '())))
    (unwind-protect
         (let ((*read-eval* nil)
               (*readtable* readtable))
           (existing-symbols (let ((*package* scratch)) (source-forms source)) scratch))
      (delete-package scratch))))

(defun read-datum (source)
  "Read SOURCE, one expression, without running code or interning."
  (let ((forms (read-without-interning source (data-readtable))))
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
      (storage-condition () (restore-guard-page) nil)
      (error (problem) (list :unknown (report-text problem 500))))))
