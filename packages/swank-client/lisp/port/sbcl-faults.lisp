;;;; Faults of this library that must not break what the user's program or a connection does. They are recorded.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-faults
  (:documentation "Records the faults of this library.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:runtime-symbol-p)
  (:import-from #:swank-client/any-lisp #:after-exhaustion #:nil-on #:or-nil)
  (:import-from #:swank-client/sbcl-internals #:missing-internal)
  (:functions #:sb-di #:debug-fun-name #:frame-debug-fun #:frame-down #:top-frame)
  (:export #:recent-faults #:recording-faults))

(in-package #:swank-client/sbcl-faults)

(defconstant +faults-kept+ 100 "Faults that are kept.")
(defconstant +fault-text-limit+ 300 "Characters of a fault's text.")
(defconstant +functions-shown+ 4 "Functions that a fault names.")
(defconstant +frames-searched+ 50 "Frames in which these functions are looked for.")

(defvar *faults* '() "The latest faults, newest first: (NUMBER TIME TYPE TEXT FUNCTIONS). They contain only numbers and texts.")

(defun plain (object &optional (depth 12))
  "OBJECT, or what is printed instead of it: a printing method of the user may fail, or never return, and strings may be private."
  (typecase object
    ((or fixnum symbol character) object)
    (cons (if (plusp depth) (cons (plain (car object) (1- depth)) (plain (cdr object) (1- depth))) '|...|))
    (package (package-name object))
    (t (format nil "a ~s" (class-name (class-of object))))))

(defun fault-text (condition)
  "The message of CONDITION as far as it needs no code of the user, without the strings in it."
  (typecase condition
    (simple-condition (apply #'format nil (simple-condition-format-control condition)
                             (mapcar #'plain (simple-condition-format-arguments condition))))
    (type-error (format nil "The value ~s is not of type ~s." (plain (type-error-datum condition)) (plain (type-error-expected-type condition))))
    (cell-error (format nil "~s" (plain (cell-error-name condition))))
    (package-error (format nil "~s" (plain (package-error-package condition))))
    (t "")))

(defun own-name (name)
  "The symbol of this library in NAME, a frame's, or NIL."
  (cond ((consp name) (loop for part in (reverse name) thereis (own-name part)))
        ((and name (symbolp name) (runtime-symbol-p name)) name)))

(defun own-functions ()
  "The names of this library's functions that this thread runs, innermost first."
  (loop with found = '()
        repeat +frames-searched+
        for frame = (top-frame) then (frame-down frame)
        while (and frame (< (length found) +functions-shown+))
        do (let ((name (own-name (debug-fun-name (frame-debug-fun frame)))))
             (when (and name (not (eq (symbol-package name) (symbol-package 'own-functions)))) (pushnew name found)))
        finally (return (mapcar #'string-downcase (reverse found)))))

(defun keep-fault (type text functions)
  "Add a fault to those that are kept."
  (let ((time (get-universal-time)))
    (sb-ext:atomic-update (symbol-value '*faults*)
                          (lambda (faults)
                            (cons (list (1+ (or (first (first faults)) 0)) time type text functions)
                                  (subseq faults 0 (min (length faults) (1- +faults-kept+))))))))

(defun record-fault (condition)
  "Record CONDITION. Never fails, and takes no lock."
  (let ((*break-on-signals* nil))
    (or-nil
      (with-standard-io-syntax
        (let* ((*print-readably* nil)
               (text (or (nil-on error (fault-text condition)) "")))
          (keep-fault (prin1-to-string (class-name (class-of condition)))
                      (subseq text 0 (min (length text) +fault-text-limit+))
                      (or-nil (own-functions))))))))

(deftype fault ()
  "Conditions that are faults if code of this library signals them. The program exhausts stack and heap, its user interrupts it, and what an SBCL
lacks is known."
  '(and serious-condition (not (or storage-condition sb-sys:interactive-interrupt missing-internal))))

(defmacro recording-faults (&body body)
  "The value of BODY, code of this library that must not break the code around it. If it fails, NIL, and RECENT-FAULTS has the error.
*BREAK-ON-SIGNALS* of the code around it is not for its errors."
  `(handler-case (let ((*break-on-signals* nil)) (handler-bind ((fault #'record-fault)) ,@body))
     (storage-condition () (after-exhaustion) nil)
     ((or fault missing-internal) () nil)))

(defun recent-faults ()
  "((NUMBER TIME TYPE TEXT FUNCTIONS) ...) for the latest faults, oldest first. NUMBER counts all, TIME is a universal time; FUNCTIONS are names
of functions that ran, innermost first."
  (reverse *faults*))
