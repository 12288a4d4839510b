;;;; Prints any object for people, bounded in size, depth and time, and never fails.

(defpackage #:swank-client/printing
  (:documentation "Prints any object for people, bounded in size, depth and time.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:user-package)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-internals #:supported)
  (:import-from #:swank-client/sbcl-conditions #:**initial-handler-clusters** #:*handler-clusters* #:*restart-clusters*)
  (:import-from #:swank-client/swank-requests #:call/truncated-output-to-string)
  (:import-from #:swank-client/sbcl-compiler #:*circularity-counter* #:*circularity-hash-table* #:*current-level-in-print*)
  (:export #:*printing-time* #:*printing-time-over-p* #:*value-length* #:*value-level* #:*value-limit* #:+line-elements+ #:+line-levels+
           #:array-text #:bounded-text #:data-values #:huge-number-p #:in-time #:line-text #:line-text-in-time #:on-one-line #:print-value
           #:printed-values #:report-text #:reported-objects #:truncated #:unprinted-text #:with-bounded-printing
           #:with-fast-number-printing #:with-fresh-printer-state #:with-initial-handlers #:with-printing-time #:without-outer-handlers))

(in-package #:swank-client/printing)

(defvar *value-limit* 20000 "Characters shown of one value.")

(defconstant +values-limit+ 50 "Values shown of one evaluation.")

(defconstant +values-room+ 1000000 "Characters of all its values together. In the worst case more would not fit into one of Swank's messages.")

(defvar *value-length* 200 "Elements shown of one list or vector.")

(defvar *value-level* 20 "Levels of nesting shown.")

(defconstant +integer-bits-limit+ 100000 "Larger integers can take minutes to print in decimal, and would be cut anyway.")

(defun truncated (limit printer)
  "The text that PRINTER writes to a stream, cut after LIMIT characters."
  (call/truncated-output-to-string limit printer "..."))

(defun at-most (limit setting)
  "The smaller of LIMIT and SETTING, a print variable's value."
  (if (typep setting '(integer 0)) (min setting limit) limit))

(defmacro with-bounded-printing ((&key (length '*value-length*) (level '*value-level*)) &body body)
  "Run BODY, which prints at most LENGTH elements and LEVEL levels of lists and vectors, or fewer if the print variables say so."
  `(let ((*print-length* (at-most ,length *print-length*))
         (*print-level* (at-most ,level *print-level*))
         (*print-circle* nil)
         (*print-pretty* nil)
         (*print-readably* nil)
         (*print-escape* t)
         (sb-ext:*suppress-print-errors* 'serious-condition))
     ,@body))

;;; Printing in a stopped thread

(defmacro with-fresh-printer-state (&body body)
  "Run BODY, the debugger, with fresh state for the printer.
Printing that the debugger interrupted may be changing its circularity table, which must not be used then."
  `(let ((*circularity-hash-table* nil)
         (*circularity-counter* nil)
         (*current-level-in-print* 0))
     ,@body))

;;; Limiting time: a printing method may never return

(defconstant +printing-seconds+ 2 "Seconds that printing for one report may take.")

(defvar *printing-time* nil "An object that identifies the current time limit, or NIL.")

(defvar *printing-time-over-p* nil "True after the time limit is reached.")

(defvar *printing-p* nil "True while code runs that the time limit may unwind.")

(defun call-with-printing-time (function)
  "Call FUNCTION with a new time limit for printing."
  (let* ((time (list nil))
         (*printing-time* time)
         (*printing-time-over-p* nil)
         (timer (sb-ext:make-timer (lambda ()
                                     (when (eq *printing-time* time)
                                       (setf *printing-time-over-p* t)
                                       (when *printing-p* (throw 'late nil))))
                                   :thread sb-thread:*current-thread*)))
    (sb-ext:schedule-timer timer +printing-seconds+)
    (unwind-protect (funcall function)
      (sb-ext:unschedule-timer timer))))

(defmacro with-printing-time (&body body)
  "Run BODY with one time limit for all IN-TIME forms in it together."
  `(if *printing-time*
       (progn ,@body)
       (call-with-printing-time (lambda () ,@body))))

(defmacro with-initial-handlers (&body body)
  "Run BODY without the handlers of the code around it."
  `(let ((*handler-clusters* (supported **initial-handler-clusters**)))
     ,@body))

(defmacro without-outer-handlers (&body body)
  "Run BODY without the handlers and restarts of the stopped code: they would end the stop."
  `(with-initial-handlers
     (let ((*restart-clusters* '()))
       ,@body)))

(defun give-up-printing (condition hook)
  "Leave IN-TIME instead of entering the debugger, which would stop inside the report of another stop."
  (declare (ignore condition hook))
  (throw 'late nil))

(defmacro in-time (instead &body body)
  "The text that BODY returns, or INSTEAD if the time limit is reached or BODY would enter the debugger."
  `(or (unless *printing-time-over-p*
         (catch 'late
           (let ((*printing-p* t)
                 (*debugger-hook* nil)
                 (sb-ext:*invoke-debugger-hook* #'give-up-printing))
             (without-outer-handlers
               (handler-bind ((warning #'muffle-warning)) ,@body)))))
       ,instead))

(defun class-text (object)
  "The name of the class of OBJECT."
  (handler-case (with-standard-io-syntax
                  (let ((*print-readably* nil) (*package* (find-package "KEYWORD")))
                    (prin1-to-string (class-name (class-of object)))))
    (serious-condition () "OBJECT")))

(defun unprinted-text (object)
  "The text shown in place of OBJECT, which cannot be printed."
  (format nil "#<a ~a ~:[cannot be printed~;takes too long to print~]>" (class-text object) *printing-time-over-p*))

(defun on-one-line (text)
  "TEXT with its line breaks and their indentation replaced by one space."
  (if (find #\Newline text)
      (with-output-to-string (out)
        (loop with start = 0
              for end = (position #\Newline text :start start)
              do (write-string text out :start start :end end)
                 (unless end (return))
                 (write-char #\Space out)
                 (setf start (or (position #\Space text :start (1+ end) :test-not #'char=) (length text)))))
      text))

;;; Text for people from values, arrays and conditions.

(defun huge-number-p (object)
  "True if OBJECT is a number that takes too long to print in decimal."
  (typecase object
    (integer (> (integer-length object) +integer-bits-limit+))
    (ratio (or (huge-number-p (numerator object)) (huge-number-p (denominator object))))))

(defun holds-huge-number-p (object)
  "True if a huge number is among the first 500 parts of OBJECT, a list or vector."
  (let ((parts-left 500))
    (labels ((holds-p (part)
               (decf parts-left)
               (cond ((minusp parts-left) nil)
                     ((consp part) (or (holds-p (car part)) (holds-p (cdr part))))
                     ((simple-vector-p part) (some #'holds-p part))
                     (t (huge-number-p part)))))
      (holds-p object))))

(defmacro with-fast-number-printing ((objects) &body body)
  "Run BODY, which prints OBJECTS. If they hold huge numbers, numbers are printed in hexadecimal, which is fast."
  (let ((huge-p (gensym "HUGE-P")))
    `(let* ((,huge-p (holds-huge-number-p ,objects))
            (*print-base* (if ,huge-p 16 *print-base*))
            (*print-radix* (or ,huge-p *print-radix*)))
       ,@body)))

(defun bounded-text (value limit)
  "At most LIMIT characters of what PRIN1 prints for VALUE."
  (with-fast-number-printing (value)
    (truncated limit (lambda (stream) (prin1 value stream)))))

(defun huge-number-text (number)
  "The text shown in place of NUMBER."
  (let ((integer (numerator number)))
    (format nil "#<~(~a~) too long to print: ~d bits>" (if (eql integer number) 'integer 'ratio) (integer-length integer))))

;;; What a text leaves out

(defun ends-part-p (text position)
  "True if a part of a printed list, or TEXT itself, ends before POSITION."
  (or (= position (length text)) (find (char text position) " )")))

(defun elided-by (text)
  "What the printer has left out of TEXT: a list of :LENGTH, for `...` before a parenthesis, and of :LEVEL, for `#` alone."
  (let ((found '())
        (quoted nil))
    (do ((position 0 (1+ position)))
        ((>= position (length text)) (sort found #'string<))
      (let ((char (char text position)))
        (cond ((char= char #\\) (incf position))
              ((find char "\"|") (setf quoted (case quoted ((nil) char) (t (if (char= quoted char) nil quoted)))))
              (quoted)
              ((and (char= char #\)) (>= position 4) (string= "..." text :start2 (- position 3) :end2 position)
                    (find (char text (- position 4)) " ("))
               (pushnew :length found))
              ((and (char= char #\#)
                    (or (zerop position) (find (char text (1- position)) " ('"))
                    (ends-part-p text (1+ position)))
               (pushnew :level found)))))))

(defun cuts (text limit)
  "What keeps TEXT, printed within LIMIT, from showing all: a list of :CHARACTERS, :LENGTH and :LEVEL."
  (if (> (length text) limit)
      (cons :characters (elided-by (subseq text 0 limit)))
      (elided-by text)))

(defun print-value (value limit)
  "VALUE printed, at most LIMIT characters of it. => the text, and its CUT"
  (cond ((huge-number-p value) (values (huge-number-text value) '((:number) nil nil)))
        ((and (stringp value) (> (length value) limit))
         (values (format nil "~s..." (subseq value 0 limit)) (list '(:characters) limit (length value))))
        (t (let ((text (bounded-text value limit)))
             (values text (cut value text limit))))))

(defun conses (list)
  "The number of conses of LIST, or :CIRCULAR."
  (handler-case (or (list-length list) :circular)
    (type-error () (loop for rest = list then (cdr rest) while (consp rest) count t))))

(defun element-count (value)
  "The number of elements of VALUE, if it is a list or vector that prints them, or :CIRCULAR."
  (typecase value
    (cons (conses value))
    (string nil)
    (vector (length value))))

(defun cut (value text limit)
  "NIL, or what keeps TEXT, which prints VALUE within LIMIT, from showing all: (REASONS SHOWN TOTAL).
SHOWN and TOTAL count characters or elements. NIL if they are not known, or if only parts of VALUE are cut; a circular list has no TOTAL."
  (let* ((reasons (cuts text limit))
         (count (and (member :length reasons) (element-count value))))
    (cond ((null reasons) nil)
          ((member :characters reasons) (list reasons limit nil))
          ((eq count :circular) (list reasons *print-length* nil))
          ((and count (> count *print-length*)) (list reasons *print-length* count))
          (t (list reasons nil nil)))))

(defun value-text (value limit)
  "VALUE as PRIN1 prints it under the session's print settings, within limits. => the values of PRINT-VALUE"
  (handler-case
      (with-bounded-printing ()
        (typecase value
          ((or fixnum symbol character) (prin1-to-string value))
          (t (print-value value limit))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text value)))))

;;; The values of an evaluation

(defun data-text (value limit)
  "VALUE in standard syntax, as a program reads it, cut after LIMIT characters. => the values of PRINT-VALUE"
  (let ((text (with-standard-io-syntax
                (let ((*package* (user-package))
                      (*print-readably* nil)
                      (*print-pretty* nil))
                  (truncated limit (lambda (stream) (prin1 value stream)))))))
    (values text (and (> (length text) limit) (list '(:characters) limit nil)))))

(defun texts-of-values (values limit printer)
  "A plist with the first of VALUES as text made by PRINTER, at most LIMIT characters each and +VALUES-ROOM+ in all, the positions of those
that do not show all, each with its CUT, and the number of VALUES."
  (loop with shown = (min (length values) +values-limit+)
        with each = (min limit (floor +values-room+ (max 1 shown)))
        for value in values
        for position below shown
        for (text cut) = (multiple-value-list (funcall printer value each))
        collect text into texts
        when cut collect (cons position cut) into cuts
        finally (return (list :values texts :cut cuts :count (length values)))))

(defun data-values (values)
  "TEXTS-OF-VALUES for programs."
  (texts-of-values values +values-room+ #'data-text))

(defun printed-values (values limit)
  "TEXTS-OF-VALUES for people."
  (texts-of-values values limit #'value-text))

(defconstant +line-elements+ 10 "Elements that LINE-TEXT shows of each list or vector.")

(defconstant +line-levels+ 4 "Levels of nesting that LINE-TEXT shows.")

(defun line-text (value limit)
  "VALUE on one line of at most LIMIT characters, for lists of many values."
  (handler-case
      (with-bounded-printing (:length +line-elements+ :level +line-levels+)
        (on-one-line (if (huge-number-p value) (huge-number-text value) (bounded-text value limit))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text value)))))

(defun line-text-in-time (value limit)
  "LINE-TEXT within the time limit, because printing methods of VALUE may never return."
  (if (typep value '(or fixnum symbol character))
      (line-text value limit)
      (in-time (unprinted-text value) (line-text value limit))))

(defun reported-objects (condition)
  "The objects that the report of CONDITION probably prints."
  (or-nil
    (typecase condition
      (simple-condition (simple-condition-format-arguments condition))
      (type-error (list (type-error-datum condition)))
      (arithmetic-error (arithmetic-error-operands condition)))))

(defun report-text (condition &optional (limit *value-limit*) pretty)
  "The report of CONDITION, laid out on several lines if PRETTY, or a text that says that the report failed."
  (handler-case
      (with-bounded-printing (:length 64 :level 6)
        (with-fast-number-printing ((reported-objects condition))
          (let ((*print-escape* nil)
                (*print-pretty* pretty))
            (string-trim '(#\Space #\Newline #\Tab)
                         (truncated limit (lambda (stream) (princ condition stream)))))))
    (serious-condition (failure)
      (format nil "#<error printing a ~a: ~a>" (class-text condition) (class-text failure)))))

;;; Text for arrays: their dimensions, and the elements around an index.

(defconstant +elements-shown+ 5 "Elements of a row that are shown.")

(defconstant +rows-shown+ 3 "Rows of an array with two dimensions that are shown.")

(defun range-around (index count width)
  "=> first and last of WIDTH indexes below COUNT around INDEX, the nearest ones if it is out of range, or the first ones if it is NIL"
  (let* ((width (min width count))
         (start (max 0 (min (- (or index 0) (floor width 2)) (- count width)))))
    (values start (+ start width -1))))

(defun elements-text (array start end &optional row)
  "The elements START to END of ARRAY, or of its ROW, as one text."
  (format nil "~{~a~^ ~}" (loop for index from start to end
                                collect (line-text (if row (aref array row index) (aref array index)) 20))))

(defun vector-part (vector index)
  "The elements of VECTOR around INDEX, as text."
  (multiple-value-bind (start end) (range-around index (length vector) +elements-shown+)
    (format nil "elements ~d to ~d: ~a" start end (elements-text vector start end))))

(defun matrix-part (array index axis)
  "The rows of ARRAY around INDEX, an index of AXIS, as text."
  (multiple-value-bind (first-row last-row) (range-around (and (eql axis 0) index) (array-dimension array 0) +rows-shown+)
    (multiple-value-bind (start end) (range-around (and (eql axis 1) index) (array-dimension array 1) +elements-shown+)
      (format nil "rows ~d to ~d~@[, columns ~{~d to ~d~}~]:~{ (~a)~}" first-row last-row
              (and (< (1+ (- end start)) (array-dimension array 1)) (list start end))
              (loop for row from first-row to last-row collect (elements-text array start end row))))))

(defun array-text (array index axis)
  "The dimensions and element type of ARRAY, and its elements around INDEX, an index of AXIS, which may be NIL. On one line."
  (handler-case
      (with-bounded-printing (:length 3 :level 2)
        (let ((part (and (plusp (array-total-size array))
                         (case (array-rank array)
                           (1 (vector-part array index))
                           (2 (matrix-part array index axis))))))
          (on-one-line
           (format nil "#<~:[ARRAY ~{~d~^x~}~;VECTOR of ~{~d~}~]~@[ ~a~]~@[, ~a~]>" (vectorp array) (array-dimensions array)
                   (and (not (eq t (array-element-type array))) (array-element-type array))
                   part))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text array)))))
