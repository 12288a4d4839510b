;;;; Text for people from values and conditions.

(in-package #:swank-client/printing)

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

(defun proper-length (list)
  "The length of LIST, or NIL if it is circular or dotted."
  (ignore-errors (list-length list)))

(defun element-count (value)
  "The number of elements of VALUE, if it is a list or vector that prints them."
  (typecase value
    (cons (proper-length value))
    (string nil)
    (vector (length value))))

(defun cut (value text limit)
  "NIL, or what keeps TEXT, which prints VALUE within LIMIT, from showing all: (REASONS SHOWN TOTAL).
SHOWN and TOTAL count characters or elements. NIL if they are not known, or if only parts of VALUE are cut."
  (let* ((reasons (cuts text limit))
         (count (and (member :length reasons) (element-count value))))
    (cond ((null reasons) nil)
          ((member :characters reasons) (list reasons limit nil))
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
  (ignore-errors
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
