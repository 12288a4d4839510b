;;;; Names of symbols as people write them, parsed without the reader: reading interns symbols, and can run code.

(in-package #:swank-client/text)

(defun blank-p (char)
  "True if CHAR is white space."
  (member char '(#\Space #\Newline #\Tab #\Return #\Page)))

(defun normalized (name escaped)
  "NAME in the Unicode form in which the reader interns it, and ESCAPED for that. Characters with a 1 in ESCAPED stay as they are."
  (if (or (every (lambda (char) (< (char-code char) 128)) name) (not (normalizing-p)))
      (values name escaped)
      (let ((parts '()) (bits '()) (start 0))
        (loop until (= start (length name))
              do (let* ((bit (bit escaped start))
                        (end (or (position bit escaped :start start :test #'/=) (length name)))
                        (part (subseq name start end))
                        (read (if (= bit 1) part (normalized-text part))))
                   (push read parts)
                   (push (make-array (length read) :element-type 'bit :initial-element bit) bits)
                   (setf start end)))
        (values (apply #'concatenate 'string (nreverse parts)) (apply #'concatenate 'bit-vector (nreverse bits))))))

(defun cased (name escaped case)
  "NAME as the reader interns it under the readtable case CASE. ESCAPED, as long as NAME, has a 1 for each character that keeps its case."
  (let ((case (if (eq case :invert)
                  (let ((letters (loop for char across name
                                       for bit across escaped
                                       when (and (zerop bit) (both-case-p char)) collect char)))
                    (cond ((every #'upper-case-p letters) :downcase)
                          ((every #'lower-case-p letters) :upcase)
                          (t :preserve)))
                  case)))
    (map 'string (lambda (char bit)
                   (if (= bit 1) char (ecase case (:upcase (char-upcase char)) (:downcase (char-downcase char)) (:preserve char))))
         name escaped)))

(defun scan-token (text case)
  "Parse TEXT as the reader does a token under the readtable case CASE. => NAME, PLAIN, PREFIX, COLON-FIRST-P
NAME is what follows the first colons, PLAIN the same as written, PREFIX what is before them, or NIL without colons."
  (let ((chars (make-array (length text) :element-type 'character :fill-pointer 0))
        (escaped (make-array (length text) :element-type 'bit :fill-pointer 0))
        (quoted nil) (single nil) (start nil) (end nil))
    (flet ((add (char bit)
             (vector-push char chars)
             (vector-push bit escaped)))
      (loop for char across text
            do (cond (single (setf single nil) (add char 1))
                     ((char= char #\\) (setf single t))
                     ((char= char #\|) (setf quoted (not quoted)))
                     (quoted (add char 1))
                     (t (when (and (char= char #\:) (or (null start) (eql end (length chars))))
                          (unless start (setf start (length chars)))
                          (setf end (1+ (length chars))))
                        (add char 0)))))
    (flet ((part (from to)
             (multiple-value-bind (name escaped) (normalized (subseq chars from to) (subseq escaped from to))
               (cased name escaped case))))
      (values (part (or end 0) (length chars))
              (coerce (subseq chars (or end 0)) 'simple-string)
              (and start (part 0 start))))))

(defun trimmed (text)
  "TEXT without surrounding white space, and without quotes in front."
  (string-left-trim "#'" (string-trim '(#\Space #\Tab #\Newline #\Return #\Page) text)))

(defun setf-text-p (text)
  "True if TEXT is (SETF NAME)."
  (and (> (length text) 6) (string-equal "(setf" text :end2 5) (blank-p (char text 5))))

(defun unwrapped (text)
  "The symbol in a function's name as people write it: NAME, 'name, #'name, (setf name)."
  (let* ((text (trimmed text))
         (end (1- (length text))))
    (if (and (> end 6) (string-equal "(setf" text :end2 5) (blank-p (char text 5)) (char= (char text end) #\)))
        (trimmed (subseq text 6 end))
        text)))

(defun parsed-name (text &optional (case :upcase))
  "=> name, package or NIL, name in its own case. CASE is that of the readtable with which TEXT is read."
  (multiple-value-bind (name plain prefix) (scan-token (unwrapped text) case)
    (values name
            (if (equal prefix "") "KEYWORD" prefix)
            plain)))

(defun one-of-names-p (names name)
  "True if NAMES, (PARSED . WRITTEN) of a text from a file of any readtable case, can be NAME, a symbol's. Only a readtable that keeps case makes
a name with small letters of one without bars."
  (or (string= name (car names))
      (and (some #'lower-case-p name) (string= name (cdr names)))))

(defun name-cases ()
  "The readtable cases in which a client may write a name: that of the current readtable, and the standard one, in which names are often
printed."
  (remove-duplicates (list (readtable-case *readtable*) :upcase) :from-end t))

(defparameter *cased-readtables*
  (loop for case in '(:upcase :downcase :preserve :invert)
        collect case
        collect (let ((readtable (copy-readtable nil))) (setf (readtable-case readtable) case) readtable))
  "Standard readtables by their cases.")

(defmacro with-name-syntax ((package) &body body)
  "Run BODY, which prints names as code in PACKAGE writes them, in standard syntax but for the case of the current readtable."
  (let ((case (gensym "CASE")) (home (gensym "HOME")))
    `(let ((,case (readtable-case *readtable*)) (,home ,package))
       (with-standard-io-syntax
         (let ((*readtable* (getf *cased-readtables* ,case))
               (*package* ,home)
               (*print-readably* nil))
           ,@body)))))

(defun parsed-package (text)
  "The name in a package designator: MY-APP, :my-app, #:my-app."
  (values (parsed-name (string-left-trim ":" (trimmed text)))))
