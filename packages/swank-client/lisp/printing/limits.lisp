;;;; Prints any object for people, bounded in size, depth and time, and never fails.

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
         (sb-kernel:*current-level-in-print* 0))
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
  `(let ((sb-kernel:*handler-clusters* **initial-handler-clusters**))
     ,@body))

(defmacro without-outer-handlers (&body body)
  "Run BODY without the handlers and restarts of the stopped code: they would end the stop."
  `(with-initial-handlers
     (let ((sb-kernel:*restart-clusters* '()))
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
