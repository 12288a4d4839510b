;;;; Names of definitions, as code writes them. They are compared as text, so that nothing is interned.

(in-package #:swank-client/code)

(defun element-texts (text)
  "The elements of the list that TEXT is, as text."
  (loop for (start end) in (element-spans text 0 (length text) most-positive-fixnum)
        collect (subseq text start end)))

(defun method-text-p (text)
  "True if TEXT is (METHOD NAME ...)."
  (let ((text (trimmed text)))
    (and (plusp (length text)) (char= #\( (char text 0))
         (string-equal "METHOD" (string-left-trim ":" (or (first (element-texts text)) ""))))))

(defmacro with-code-session ((package-text) &body body)
  "Run BODY, which answers a client's question, as code of its session in the package that PACKAGE-TEXT names, by default the session's.
User code that BODY calls has no input, and its output is discarded. => the value of BODY, or (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)"
  (let ((text (gensym "TEXT")) (package (gensym "PACKAGE")))
    `(let* ((,text ,package-text)
            (,package (if ,text (find-designated-package ,text) (session-package-now (current-session)))))
       (reset-guard-pages)
       (if (null ,package)
           (package-not-found (parsed-package ,text))
           (with-code-of ((current-session))
             (with-code-syntax ((current-session) ,package)
               (let* ((*standard-input* (make-concatenated-stream))
                      (*standard-output* (make-broadcast-stream))
                      (*error-output* *standard-output*)
                      (*trace-output* *standard-output*)
                      ;; those of a thread without them are the user's REPL
                      (*terminal-io* (make-two-way-stream *standard-input* *standard-output*))
                      (*query-io* *terminal-io*)
                      (*debug-io* *terminal-io*))
                 ,@body)))))))

(defun program-package-p (package)
  "True if PACKAGE belongs to the program, not to SBCL, Swank, ASDF or this library."
  (not (or (implementation-package-p package)
           (eql 0 (search "ASDF" (package-name package)))
           (eql 0 (search "UIOP" (package-name package)))
           (member (package-name package) '("COMMON-LISP" "KEYWORD") :test #'string=))))

;;; Time. A long pattern takes its length for each character of the text.

(defvar *search-end* nil "The internal real time at which a search ends, or NIL.")

(defun search-time-left-p ()
  "True unless the time of the search is over."
  (or (null *search-end*) (< (get-internal-real-time) *search-end*)))

(defun end-late-search (position)
  "Leave the search at POSITION of a text if its time is over: throw NIL to LATE-SEARCH."
  (unless (or (logtest position 255) (search-time-left-p)) (throw 'late-search nil)))

(defmacro within-search-time ((seconds) &body body)
  "Run BODY with SECONDS for all its searches."
  `(let ((*search-end* (+ (get-internal-real-time) (* ,seconds internal-time-units-per-second))))
     ,@body))

;;; Specializers

(defun eql-text (text)
  "The object's text in TEXT, (EQL OBJECT), without a quote; NIL for other texts."
  (when (char= #\( (char text 0))
    (destructuring-bind (&optional (operator "") (object "") &rest more) (element-texts text)
      (and (null more) (string-equal operator "EQL") (string-left-trim "'" object)))))

(defun printed-object (object)
  "OBJECT as code in its own package writes it, in lower case."
  (string-downcase (if (symbolp object) (symbol-name object) (line-text-in-time object 200))))

(defun specializer-text-p (text specializer)
  "True if TEXT can mean SPECIALIZER. Packages are not compared."
  (let ((object-text (eql-text text)))
    (if (typep specializer 'sb-mop:eql-specializer)
        (and object-text
             (let ((object (sb-mop:eql-specializer-object specializer)))
               (if (symbolp object)
                   (some (lambda (case) (string-equal (symbol-name object) (parsed-name object-text case))) (name-cases))
                   (string-equal (printed-object object) object-text))))
        (and (null object-text)
             (symbolp (class-name specializer))
             (may-name-p text (class-name specializer))))))

(defun specializers-match-p (texts method)
  "True if TEXTS, the specializers as written, can mean those of METHOD. Missing ones at the end are T."
  (let ((specializers (sb-mop:method-specializers method)))
    (and (<= (length texts) (length specializers))
         (loop for specializer in specializers
               for rest = texts then (rest rest)
               always (specializer-text-p (or (first rest) "T") specializer)))))

(defun qualifiers-match-p (texts method)
  "True if TEXTS, the qualifiers as written, can mean those of METHOD."
  (let ((qualifiers (method-qualifiers method)))
    (and (= (length texts) (length qualifiers))
         (every (lambda (text qualifier)
                  (if (symbolp qualifier)
                      (may-name-p text qualifier)
                      (string= (princ-to-string qualifier) (trimmed text))))
                texts qualifiers))))
