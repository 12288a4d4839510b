;;;; Prints values and conditions for people, within limits. Printing methods of the user may fail.

(in-package #:swank-client/portable)

(defconstant +values-limit+ 50 "Values that are shown.")

(defconstant +values-room+ 1000000 "Characters of all shown values together.")

(defun truncated (limit function)
  "What FUNCTION prints to its stream, cut after LIMIT characters. => the text, and true if it is cut"
  (let ((text (call/truncated-output-to-string (1+ limit) function "")))
    (if (> (length text) limit)
        (values (subseq text 0 limit) t)
        (values text nil))))

(defmacro with-bounded-printing ((&key (length 200) (level 20)) &body body)
  "Run BODY, which prints objects for people, with at most LENGTH elements of a list and LEVEL levels."
  `(let ((*print-length* (bounded *print-length* ,length))
         (*print-level* (bounded *print-level* ,level))
         (*print-readably* nil)
         (*print-circle* nil))
     ,@body))

(defun bounded (setting limit)
  "The smaller of SETTING, a number or NIL for no limit, and LIMIT."
  (if setting (min setting limit) limit))

(defun error-text (value)
  "What stands for VALUE, which cannot be printed."
  (format nil "#<error printing a ~a>" (or (or-nil (class-name (class-of value))) "value")))

(defun value-text (value limit length level)
  "VALUE as PRIN1 prints it. => the text, and (REASONS SHOWN TOTAL) if it does not show all"
  (handler-case
      (with-bounded-printing (:length length :level level)
        (multiple-value-bind (text cut-p) (truncated limit (lambda (stream) (prin1 value stream)))
          (values text (and cut-p (list '(:characters) limit nil)))))
    (serious-condition () (error-text value))))

(defun data-text (value limit)
  "VALUE in standard syntax, as a program reads it. => the values of VALUE-TEXT"
  (with-standard-io-syntax
    (let ((*package* (user-package))
          (*print-readably* nil)
          (*print-pretty* nil))
      (multiple-value-bind (text cut-p) (truncated limit (lambda (stream) (prin1 value stream)))
        (values text (and cut-p (list '(:characters) limit nil)))))))

(defun texts-of-values (values limit printer)
  "A plist of the first of VALUES as PRINTER prints them, within LIMIT characters each, of those that do not show all, and of their number."
  (loop with shown = (min (length values) +values-limit+)
        with each = (min limit (floor +values-room+ (max 1 shown)))
        for value in values
        for position below shown
        for (text cut) = (multiple-value-list (funcall printer value each))
        collect text into texts
        when cut collect (cons position cut) into cuts
        finally (return (list :values texts :cut cuts :count (length values)))))

(defun on-one-line (text)
  "TEXT with its white space, line feeds included, as single blanks."
  (with-output-to-string (stream)
    (loop with gap = nil
          for char across (string-trim '(#\Space #\Newline #\Return #\Tab) text)
          do (if (member char '(#\Space #\Newline #\Return #\Tab))
                 (setf gap t)
                 (progn (when gap (write-char #\Space stream))
                        (setf gap nil)
                        (write-char char stream))))))

(defun line-text (value limit)
  "VALUE on one line of at most LIMIT characters."
  (handler-case
      (with-bounded-printing (:length 10 :level 4)
        (on-one-line (values (truncated limit (lambda (stream) (prin1 value stream))))))
    (serious-condition () (error-text value))))

;;; Conditions. Some Lisps print one without its report.

(defun plain-report (condition)
  "The report of CONDITION as this Lisp prints it, without line ends after it, or NIL if it prints the object instead."
  (let* ((printed (or-nil (with-bounded-printing () (values (truncated 4000 (lambda (stream) (princ condition stream)))))))
         (text (and printed (string-right-trim '(#\Newline) printed))))
    (and text
         (string/= text "")
         (not (eql 0 (search "#<" text)))
         text)))

(defun own-report (condition)
  "What CONDITION says, in words of the library, or NIL for a class of which nothing is known."
  (with-bounded-printing ()
    (typecase condition
      (arithmetic-error
       (format nil "arithmetic error ~a signalled~@[~%Operation was ~s.~]" (class-name (class-of condition))
               (let ((operation (or-nil (arithmetic-error-operation condition))))
                 (and operation (cons operation (or-nil (arithmetic-error-operands condition)))))))
      (unbound-variable (format nil "The variable ~s is unbound." (cell-error-name condition)))
      (undefined-function (format nil "The function ~s is undefined." (cell-error-name condition)))
      (cell-error (format nil "~s is unbound." (cell-error-name condition)))
      (type-error (format nil "The value ~s is not of type ~s." (type-error-datum condition) (type-error-expected-type condition)))
      (package-error (format nil "Error with package ~s." (package-error-package condition)))
      (file-error (format nil "Error with file ~s." (file-error-pathname condition)))
      (end-of-file "Unexpected end of file.")
      (stream-error "Error with a stream."))))

(defun message-text (condition)
  "The report of CONDITION."
  (or (plain-report condition)
      (or-nil (own-report condition))
      (format nil "A condition of type ~a, which has no report." (class-text (class-of condition)))))

(defun class-text (class)
  "The name of CLASS with its package, unless that is COMMON-LISP."
  (let ((*package* (find-package "COMMON-LISP")) (name (class-name class)))
    (if (member name '(interrupted exit-refused)) (symbol-name name) (princ-to-string (or-nil (prin1-to-string name))))))

(defun precedence-list (class)
  "The class precedence list of CLASS, or CLASS alone where it is not known."
  (or (or-nil (swank-mop:finalize-inheritance class) (swank-mop:class-precedence-list class))
      (or-nil (swank-mop:class-precedence-list class))
      (list class)))

(defparameter *vague-classes* '(simple-error simple-warning simple-condition error warning serious-condition condition
                                  standard-object structure-object t)
  "Standard classes that say little about a condition, beside a class such as PACKAGE-ERROR.")

(defun shown-class (condition)
  "The class of CONDITION to show: a class of the Lisp's own is shown as the standard class above it that says most."
  (let* ((class (class-of condition))
         (package (symbol-package (class-name class)))
         (standard (find-package "COMMON-LISP"))
         (standards (remove standard (precedence-list class)
                            :key (lambda (each) (symbol-package (class-name each))) :test-not #'eq)))
    (if (and package (implementation-package-p package))
        (or (find-if-not (lambda (each) (member (class-name each) *vague-classes*)) standards)
            (first standards)
            class)
        class)))

(defun supertype-texts (condition)
  "The names of the classes above that of CONDITION, most specific first, without those of every object."
  (loop for class in (rest (precedence-list (class-of condition)))
        for name = (class-text class)
        unless (member name '("T" "STANDARD-OBJECT" "STRUCTURE-OBJECT") :test #'string=) collect name))

(defun slot-texts (condition)
  "((NAME VALUE) ...) of the slots of CONDITION that have values."
  (or-nil
    (loop for slot in (swank-mop:class-slots (class-of condition))
          for name = (swank-mop:slot-definition-name slot)
          when (slot-boundp condition name)
            collect (list (line-text name 100) (line-text (slot-value condition name) 500)))))
