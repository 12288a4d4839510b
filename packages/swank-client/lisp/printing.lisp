;;;; Text for people from any object, bounded in size and depth, that cannot fail.

(in-package #:@runtime@)

(defvar *value-limit* 20000 "Characters shown of one value.")
(defconstant +values-limit+ 50 "Values shown of one evaluation.")
(defconstant +values-room+ 1000000 "Characters of all its values together: more than that does not fit into one of Swank's messages in the worst case.")
(defvar *value-length* 200 "Elements shown of one list or vector.")
(defvar *value-level* 20 "Levels of nesting shown.")
(defconstant +integer-bits-limit+ 100000 "Larger integers take up to minutes to print in decimal, and no limit would show all their digits.")

(defun truncated (limit printer)
  "The text that PRINTER writes to a stream, cut after LIMIT characters."
  (swank::call/truncated-output-to-string limit printer "..."))

(defun at-most (limit setting)
  "LIMIT, or SETTING where code has set that lower."
  (if (typep setting '(integer 0)) (min setting limit) limit))

(defmacro with-bounded-printing ((&key (length '*value-length*) (level '*value-level*)) &body body)
  `(let ((*print-length* (at-most ,length *print-length*))
         (*print-level* (at-most ,level *print-level*))
         (*print-circle* nil)
         (*print-pretty* nil)
         (*print-readably* nil)
         (*print-escape* t)
         (sb-ext:*suppress-print-errors* 'serious-condition))
     ,@body))

;;; Printing in a stopped thread

(defmacro with-printer-of-its-own (&body body)
  "Run BODY, the debugger, so that it shares nothing with printing that it has interrupted: the table of what was printed before
does not survive that somebody else uses it in the middle of a change."
  `(let ((sb-impl::*circularity-hash-table* nil)
         (sb-impl::*circularity-counter* nil)
         (sb-kernel:*current-level-in-print* 0))
     ,@body))

;;; Methods that never return would keep everybody waiting

(defconstant +printing-seconds+ 2)

(defvar *printing-time* nil "Identifies the time that runs.")
(defvar *late-p* nil "True once it is over.")
(defvar *printing-p* nil "True where it may be cut short.")

(defun call-with-printing-time (function)
  (let* ((time (list nil))
         (*printing-time* time)
         (*late-p* nil)
         (timer (sb-ext:make-timer (lambda ()
                                     (when (eq *printing-time* time)
                                       (setf *late-p* t)
                                       (when *printing-p* (throw 'late nil))))
                                   :thread sb-thread:*current-thread*)))
    (sb-ext:schedule-timer timer +printing-seconds+)
    (unwind-protect (funcall function)
      (sb-ext:unschedule-timer timer))))

(defmacro with-printing-time (&body body)
  "Run BODY with a limit on the time that all the IN-TIME in it take together."
  `(if *printing-time*
       (progn ,@body)
       (call-with-printing-time (lambda () ,@body))))

(defmacro without-way-back (&body body)
  "Neither handlers nor restarts of the code that is stopped are seen by BODY: they would end the stop."
  `(let ((sb-kernel:*handler-clusters* sb-kernel::**initial-handler-clusters**)
         (sb-kernel:*restart-clusters* '()))
     ,@body))

(defun give-up-printing (condition hook)
  "In place of the debugger: it would stop in the middle of telling of another stop."
  (declare (ignore condition hook))
  (throw 'late nil))

(defmacro in-time (instead &body body)
  "The text that BODY makes, or INSTEAD when the time is over or BODY would go anywhere else."
  `(or (unless *late-p*
         (catch 'late
           (let ((*printing-p* t)
                 (*debugger-hook* nil)
                 (sb-ext:*invoke-debugger-hook* #'give-up-printing))
             (without-way-back
               (handler-bind ((warning #'muffle-warning)) ,@body)))))
       ,instead))

(defun class-text (object)
  (handler-case (with-standard-io-syntax
                  (let ((*print-readably* nil) (*package* (find-package "KEYWORD")))
                    (prin1-to-string (class-name (class-of object)))))
    (serious-condition () "OBJECT")))

(defun unprinted-text (object)
  (format nil "#<a ~a ~:[cannot be printed~;takes too long to print~]>" (class-text object) *late-p*))

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

(defun huge-number-p (object)
  (typecase object
    (integer (> (integer-length object) +integer-bits-limit+))
    (ratio (or (huge-number-p (numerator object)) (huge-number-p (denominator object))))))

(defun holds-huge-number-p (object)
  "True if one of the first parts of OBJECT, a list or vector, is a huge number."
  (let ((parts-left 500))
    (labels ((holds-p (part)
               (decf parts-left)
               (cond ((minusp parts-left) nil)
                     ((consp part) (or (holds-p (car part)) (holds-p (cdr part))))
                     ((simple-vector-p part) (some #'holds-p part))
                     (t (huge-number-p part)))))
      (holds-p object))))

(defmacro with-swift-numbers ((objects) &body body)
  "Run BODY, which prints OBJECTS. Huge numbers among them are printed in hexadecimal, which takes no time."
  (let ((huge-p (gensym "HUGE-P")))
    `(let* ((,huge-p (holds-huge-number-p ,objects))
            (*print-base* (if ,huge-p 16 *print-base*))
            (*print-radix* (or ,huge-p *print-radix*)))
       ,@body)))

(defun bounded-text (value limit)
  "At most LIMIT characters of what PRIN1 prints for VALUE."
  (with-swift-numbers (value)
    (truncated limit (lambda (stream) (prin1 value stream)))))

(defun huge-number-text (number)
  (let ((integer (numerator number)))
    (format nil "#<~(~a~) too long to print: ~d bits>" (if (eql integer number) 'integer 'ratio) (integer-length integer))))

(defun print-value (value limit)
  (cond ((huge-number-p value) (huge-number-text value))
        ((and (stringp value) (> (length value) limit))
         (format nil "~s... [~d of ~d characters shown]" (subseq value 0 limit) limit (length value)))
        (t (let ((text (bounded-text value limit)))
             (concatenate 'string text (elision value text limit))))))

(defun proper-length (list)
  "The length of LIST, or NIL if it is circular or dotted."
  (ignore-errors (list-length list)))

(defun elision (value text limit)
  "What is missing from TEXT, in words, or the empty string."
  (let ((length (typecase value
                  (cons (proper-length value))
                  (string nil)
                  (vector (length value)))))
    (cond ((> (length text) limit) (format nil " [cut at ~d characters]" limit))
          ((and length (> length *print-length*)) (format nil " [~d of ~d elements shown]" *print-length* length))
          (t ""))))

(defun value-text (value limit)
  "VALUE as PRIN1 would print it under the session's print settings, within limits."
  (handler-case
      (with-bounded-printing ()
        (typecase value
          ((or fixnum symbol character) (prin1-to-string value))
          (t (print-value value limit))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text value)))))

(defun printed-values (values limit)
  "A plist of the first of VALUES as text, at most LIMIT characters of each and not too many of all, and how many there are."
  (let* ((shown (min (length values) +values-limit+))
         (each (min limit (floor +values-room+ (max 1 shown)))))
    (list :values (loop for value in values
                        repeat shown
                        collect (value-text value each))
          :count (length values))))

(defun line-text (value limit)
  "VALUE on one line of at most LIMIT characters, for lists of many values."
  (handler-case
      (with-bounded-printing (:length 10 :level 4)
        (on-one-line (if (huge-number-p value) (huge-number-text value) (bounded-text value limit))))
    (serious-condition () (format nil "#<error printing a ~a>" (class-text value)))))

(defun line-text-in-time (value limit)
  "The same, of what may be printed by methods that never return."
  (if (typep value '(or fixnum symbol character))
      (line-text value limit)
      (in-time (unprinted-text value) (line-text value limit))))

(defun reported-objects (condition)
  "What the report of CONDITION is likely to print."
  (ignore-errors
   (typecase condition
     (simple-condition (simple-condition-format-arguments condition))
     (type-error (list (type-error-datum condition)))
     (arithmetic-error (arithmetic-error-operands condition)))))

(defun report-text (condition &optional (limit *value-limit*))
  "What CONDITION says, or that its report fails."
  (handler-case
      (with-bounded-printing (:length 64 :level 6)
        (with-swift-numbers ((reported-objects condition))
          (let ((*print-escape* nil))
            (string-trim '(#\Space #\Newline #\Tab)
                         (truncated limit (lambda (stream) (princ condition stream)))))))
    (serious-condition (failure)
      (format nil "#<error printing a ~a: ~a>" (class-text condition) (class-text failure)))))
