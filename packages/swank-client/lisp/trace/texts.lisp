;;;; Short texts of arguments and values. They are made in threads of the program, while its functions run, so they call no printing method,
;;;; take no lock and look at few parts of an object.

(in-package #:swank-client/trace)

(defconstant +text-limit+ 120 "Most characters of the text of a call or of its values.")

(defconstant +part-limit+ 60 "Most characters of one argument or value.")

(defconstant +elements-limit+ 6 "Elements shown of a list or vector.")

(defconstant +levels-limit+ 3 "Levels of nesting shown.")

(defun write-class (object stream &optional (detail nil))
  "Write the name of the class of OBJECT to STREAM, with DETAIL."
  (let ((name (class-name (class-of object))))
    (format stream "#<~a~@[ ~a~]>" (if (symbolp name) (symbol-name name) "object") detail)))

(defun write-elements (write list stream)
  "Call WRITE with the first elements of LIST, which may be circular or dotted, and write what is between them to STREAM."
  (loop for rest = list then (cdr rest)
        for count from 0
        until (null rest)
        do (unless (zerop count) (write-char #\Space stream))
           (cond ((not (consp rest)) (write-string ". " stream) (funcall write rest) (return))
                 ((>= count +elements-limit+) (write-string "..." stream) (return))
                 (t (funcall write (car rest))))))

(defun write-quoted (string stream)
  "Write the beginning of STRING in quotes to STREAM."
  (let ((shown (min (length string) +part-limit+)))
    (write-char #\" stream)
    (loop for index below shown
          for char = (char string index)
          do (case char
               ((#\" #\\) (write-char #\\ stream) (write-char char stream))
               (#\Newline (write-string "\\n" stream))
               (t (write-char char stream))))
    (when (< shown (length string)) (write-string "..." stream))
    (write-char #\" stream)))

(defun write-vector (vector level stream)
  "Write the first elements of VECTOR to STREAM."
  (write-string "#(" stream)
  (write-elements (lambda (element) (write-short element (1- level) stream))
                  (loop for index below (min (length vector) (1+ +elements-limit+)) collect (aref vector index))
                  stream)
  (write-char #\) stream))

(defun write-short (object level stream)
  "Write OBJECT to STREAM, with LEVEL levels of its parts."
  (typecase object
    ((or fixnum symbol character single-float double-float) (prin1 object stream))
    (integer (if (< (integer-length object) 200) (prin1 object stream) (write-class object stream)))
    (ratio (write-short (numerator object) level stream)
     (write-char #\/ stream)
     (write-short (denominator object) level stream))
    ((complex float) (prin1 object stream))
    (string (write-quoted object stream))
    (cons (cond ((zerop level) (write-char #\# stream))
                (t (write-char #\( stream)
                   (write-elements (lambda (element) (write-short element (1- level) stream)) object stream)
                   (write-char #\) stream))))
    (vector (if (zerop level) (write-class object stream) (write-vector object level stream)))
    (hash-table (write-class object stream (hash-table-count object)))
    (pathname (write-class object stream (ignore-errors (sb-ext:native-namestring object))))
    (function (write-class object stream))
    (t (write-class object stream))))

(defun cut-text (text limit)
  "TEXT, or its beginning if it has more than LIMIT characters."
  (if (> (length text) limit) (concatenate 'string (subseq text 0 limit) "...") text))

(defmacro with-plain-printing ((stream) &body body)
  "The text that BODY writes to STREAM, in the current package."
  `(let ((*print-pretty* nil) (*print-circle* nil) (*print-readably* nil) (*print-escape* t) (*print-base* 10) (*print-radix* nil)
         (*print-case* :upcase) (*print-gensym* t) (*print-array* t))
     (with-output-to-string (,stream) ,@body)))

(defun short-text (object)
  "A short text of OBJECT. Never signals: that would stop the program where it makes the traced call."
  (let ((*break-on-signals* nil))
    (handler-case (cut-text (with-plain-printing (stream) (write-short object +levels-limit+ stream)) +part-limit+)
      (error () "#<cannot be shown>"))))

(defun text-of-call (name arguments)
  "A short text of a call of the function with the text NAME with ARGUMENTS."
  (cut-text (format nil "(~a~{ ~a~})" name (loop for argument in arguments repeat 20 collect (short-text argument))) +text-limit+))

(defun values-text (values)
  "A short text of VALUES."
  (if values
      (cut-text (format nil "~{~a~^, ~}" (loop for value in values repeat 10 collect (short-text value))) +text-limit+)
      "no value"))
