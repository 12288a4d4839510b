;;;; Describes conditions as plain data for the wire.

(in-package #:swank-client/stops)

(defconstant +slot-text-limit+ 500 "Characters shown of a slot's value.")

;;; Types

(defun standard-class-p (class)
  "True if the name of CLASS is in the package COMMON-LISP."
  (eq (symbol-package (class-name class)) (find-package "COMMON-LISP")))

(defun implementation-symbol-p (symbol)
  "True if SYMBOL belongs to Lisp or SBCL, or to no package."
  (let ((package (symbol-package symbol)))
    (or (null package)
        (eq package (find-package "COMMON-LISP"))
        (eql 0 (search "SB-" (package-name package))))))

(defun implementation-class-p (class)
  "True if CLASS belongs to Lisp or SBCL."
  (implementation-symbol-p (class-name class)))

(defun broad-class-p (class)
  "True if the name of CLASS does not say what went wrong."
  (member (class-name class) '(error serious-condition condition simple-condition)))

(defun shown-class (condition)
  "The class to show for CONDITION: its own if the user defined it, else the most specific standard class. Steps have no standard class."
  (let ((classes (sb-mop:class-precedence-list (class-of condition))))
    (if (and (implementation-class-p (first classes)) (not (typep condition 'sb-ext:step-condition)))
        (or (find-if (lambda (class) (and (standard-class-p class) (not (broad-class-p class))
                                          (subtypep class 'condition)))
                     classes)
            (find 'error classes :key #'class-name)
            (find-if #'standard-class-p classes))
        (first classes))))

(defun class-name-text (class)
  "The name of CLASS, with its package unless that is COMMON-LISP or the runtime's."
  (if (or (standard-class-p class) (member (class-name class) '(interrupted breakpoint-reached exit-refused odd-character sb-ext:step-form-condition)))
      (symbol-name (class-name class))
      (with-standard-io-syntax
        (let ((*package* (find-package "KEYWORD")) (*print-readably* nil))
          (prin1-to-string (class-name class))))))

(defun supertype-texts (condition)
  "The names of the classes of CONDITION, the most specific first."
  (loop for class in (sb-mop:class-precedence-list (class-of condition))
        until (eq (class-name class) 'slot-object)
        unless (eq class (find-class t)) collect (class-name-text class)))

;;; Slots and message

(defun slot-texts (condition)
  "((NAME VALUE) ...) for the bound slots of CONDITION."
  (ignore-errors
   (loop for slot in (sb-mop:class-slots (class-of condition))
         for name = (sb-mop:slot-definition-name slot)
         repeat 20
         when (and (slot-boundp condition name)
                   (not (member name *bookkeeping-slots*))
                   (not (source-stream-p (slot-value condition name))))
           collect (list (string name) (line-text-in-time (slot-value condition name) +slot-text-limit+)))))

(defun source-stream-p (object)
  "True if OBJECT is the stream that the code was read from, which the client does not know."
  (and *source* (eq object *source*)))

(defun standard-input-p (stream)
  "True if STREAM reads the evaluation's standard input."
  (and *input*
       (or (eq stream *input*)
           (and (typep stream 'two-way-stream) (eq (two-way-stream-input-stream stream) *input*)))))

(defun message-text (condition)
  "The report of CONDITION, without the streams that SBCL mentions and the client does not know."
  (with-printing-time
    (in-time (unprinted-text condition)
      (or (ignore-errors (stream-condition-text condition))
          (report-text condition)))))

(defun stream-condition-text (condition)
  "The text for a condition about the source or the standard input, or NIL for others."
  (typecase condition
    ((and reader-error simple-condition)
     (string-capitalize-first
      (with-bounded-printing ()
        (truncated 2000 (lambda (stream)
                          (apply #'format stream (simple-condition-format-control condition)
                                 (simple-condition-format-arguments condition)))))))
    (end-of-file
     (cond ((source-stream-p (stream-error-stream condition)) "Unexpected end of file.")
           ((standard-input-p (stream-error-stream condition)) "End of file on standard input.")))))

(defun string-capitalize-first (text)
  "TEXT with its first letter upcased."
  (if (plusp (length text))
      (concatenate 'string (string-upcase (subseq text 0 1)) (subseq text 1))
      text))
