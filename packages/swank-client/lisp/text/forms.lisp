;;;; Top-level forms of a text, numbered as the compiler does, and the lists in them. Reading suppresses values: nothing is interned or
;;;; evaluated, and unknown packages do not matter.

(in-package #:swank-client/forms)

(defun defining-kind (operator)
  "The kind of definition that OPERATOR makes, or NIL."
  (case operator
    (defun :function)
    (defmacro :macro)
    (defgeneric :generic-function)
    (defmethod :method)
    ((defvar defparameter #+sbcl sb-ext:defglobal) :variable)
    (defconstant :constant)
    (define-symbol-macro :symbol-macro)
    (defclass :class)
    (defstruct :structure)
    (define-condition :condition)
    (deftype :type)
    (define-compiler-macro :compiler-macro)
    ((defsetf define-setf-expander) :setf-expander)
    (define-method-combination :method-combination)
    (defpackage :package)
    (setf :setf)))

(defstruct top-level-form
  "A form between START and END. The reading of the form before it ended at GAP: comments and skipped forms are between GAP and START."
  gap start end)

(defun note-feature (stream char parameter)
  "The reader's function for #., which skips the form. In a feature expression the result stands for a feature that exists."
  (declare (ignore char parameter))
  (let ((*read-suppress* t)) (read stream t nil t))
  :common-lisp)

(defvar *note-list* nil "The function that is called with the start, the end and the depth from 0 of each list that is read.")

(defvar *list-depth* 0 "The number of lists around the one that is read.")

(defparameter *list-reader* (get-macro-character #\( nil) "The standard reader's function for parentheses.")

(defun read-noting-list (stream char)
  "The reader's function for parentheses, which calls *NOTE-LIST*."
  (let ((start (1- (file-position stream))))
    (unwind-protect (let ((*list-depth* (1+ *list-depth*))) (funcall *list-reader* stream char))
      (funcall *note-list* start (file-position stream) *list-depth*))))

;; making a readtable takes longer than reading most forms
(defparameter *noting-readtable*
  (let ((readtable (copy-readtable nil)))
    (set-dispatch-macro-character #\# #\. #'note-feature readtable)
    (set-macro-character #\( #'read-noting-list nil readtable)
    readtable)
  "The standard readtable, except that lists are noted and #. runs no code.")

(defun call-noting-lists (note function)
  "Call FUNCTION, which reads, with variables of the reader that suppress values. NOTE gets the start, the end and the depth of each list."
  (let ((*read-suppress* t)
        (*readtable* *noting-readtable*)
        (*note-list* note)
        (*list-depth* 0))
    (funcall function)))

(defun first-line-end (text)
  "The end of the first line of TEXT if that names a program, as #!/usr/bin/sbcl, which SBCL skips when it loads a file; or else 0."
  (if (eql 0 (search "#!" text :end2 (min 2 (length text))))
      (or (position #\Newline text) (length text))
      0))

(defun top-level-forms (text)
  "=> the top-level forms of TEXT up to the first that cannot be read, and whether all can be read"
  (let ((forms '()) (from nil) (to nil) (eof (list nil)))
    (with-input-from-string (stream text)
      (file-position stream (first-line-end text))
      (handler-case
          (call-noting-lists
           (lambda (start end depth) (when (zerop depth) (setf from start to end)))
           (lambda ()
             (loop for gap = (file-position stream)
                   for got = (progn (setf from nil) (read-preserving-whitespace stream nil eof))
                   for end = (file-position stream)
                   until (eq got eof)
                   do (push (make-top-level-form :gap gap :end end
                                                 :start (if (and from (= to end)) from (first-position text gap end)))
                            forms))))
        ;; a text can be nested too deep for the reader
        ((or error storage-condition) ()
          (after-exhaustion)
          (return-from top-level-forms (values (nreverse forms) nil)))))
    (values (nreverse forms) t)))

(defun form-number (forms position)
  "The number of the form of FORMS that contains POSITION, or NIL."
  (position-if (lambda (form) (and (<= (top-level-form-start form) position) (< position (top-level-form-end form)))) forms))

(defun form-after (text offset)
  "The position of the first list in TEXT at or after OFFSET, or NIL. OFFSET may be in the white space before it."
  (and offset (<= offset (length text)) (position #\( text :start offset)))

;;; Comments

(defun block-comment-end (text start)
  "The end of the block comment that begins at START of TEXT."
  (loop with depth = 0
        for position from start below (1- (length text))
        do (cond ((string= "#|" text :start2 position :end2 (+ position 2)) (incf depth) (incf position))
                 ((string= "|#" text :start2 position :end2 (+ position 2)) (decf depth) (incf position)
                  (when (zerop depth) (return (1+ position)))))
        finally (return (length text))))

(defun first-position (text start end)
  "The position of the first character in TEXT from START to END that is neither white space nor in a comment, or END."
  (loop with position = start
        while (< position end)
        do (let ((char (char text position)))
             (cond ((blank-p char) (incf position))
                   ((char= char #\;) (setf position (or (position #\Newline text :start position :end end) end)))
                   ((and (char= char #\#) (< (1+ position) end) (char= #\| (char text (1+ position))))
                    (setf position (min end (block-comment-end text position))))
                   (t (return position))))
        finally (return end)))

;;; Conditions

(defun form-end (text start)
  "The end of the form that begins at START of TEXT, or of TEXT if it cannot be read."
  (with-input-from-string (stream (subseq text start))
    (handler-case (call-noting-lists (constantly nil)
                                     (lambda ()
                                       (read-preserving-whitespace stream)
                                       (+ start (file-position stream))))
      ((or error storage-condition) () (after-exhaustion) (length text)))))

(defun condition-at-p (text position)
  "True if a feature expression, #+ or #-, begins at POSITION of TEXT."
  (and (< (1+ position) (length text))
       (char= #\# (char text position))
       (find (char text (1+ position)) "+-")))

(defun conditional-p (text from start)
  "True if a feature expression between FROM and START of TEXT makes some Lisps skip the form that begins at START."
  (loop with conditional = nil
        for position = (first-position text from start) then (first-position text end start)
        for condition = (condition-at-p text position)
        while (< position start)
        for end = (form-end text (if condition (+ position 2) position))
        ;; a form that this Lisp skips ends the condition
        do (setf conditional (and condition t))
        finally (return conditional)))

;;; Syntax

(defparameter *words-of-syntax* '("readtable" "-syntax" "macro-character" "syntax-from-char")
  "Parts of the names of operators and variables that change the syntax of code.")

(defun mentions-syntax-p (text)
  "True if TEXT, code, names something that changes the syntax of code."
  (some (lambda (word) (search word text :test #'char-equal)) *words-of-syntax*))

;;; Lists

(defun list-spans (text start end)
  "((START END DEPTH) ...) of the lists in the form between START and END of TEXT, itself included, in the order in which they begin."
  (let ((spans '()))
    (handler-case (with-input-from-string (stream (subseq text start end))
                    (call-noting-lists (lambda (from to depth) (push (list (+ start from) (+ start to) depth) spans))
                                       (lambda () (read-preserving-whitespace stream))))
      ((or error storage-condition) () (after-exhaustion) nil))
    (sort spans #'< :key #'first)))

(defun element-spans (text start end &optional (most 2))
  "((START END) ...) of the first MOST elements of the list between START and END of TEXT."
  (let ((part (subseq text start end)))
    (handler-case
        (with-input-from-string (stream part)
          (read-char stream)
          (call-noting-lists
           (constantly nil)
           (lambda ()
             (loop repeat most
                   for from = (first-position part (file-position stream) (1- (length part)))
                   while (< from (1- (length part)))
                   do (read-preserving-whitespace stream)
                   collect (list (+ start from) (+ start (file-position stream)))))))
      ((or error storage-condition) () (after-exhaustion) '()))))
