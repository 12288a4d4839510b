;;;; All definitions of a name, and their forms in files.

(in-package #:swank-client/definitions)

;;; Names of definitions, as code writes them. They are compared as text, so that nothing is interned.

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

;;; Specializers

(defun eql-text (text)
  "The object's text in TEXT, (EQL OBJECT), without a quote; NIL for other texts."
  (when (char= #\( (char text 0))
    (destructuring-bind (&optional (operator "") (object "") &rest more) (element-texts text)
      (and (null more) (string-equal operator "EQL") (string-left-trim "'" object)))))

(defun specializer-text-p (text specializer)
  "True if TEXT can mean SPECIALIZER. Packages are not compared."
  (let ((object-text (eql-text text)))
    (if (typep specializer 'sb-mop:eql-specializer)
        (and object-text
             (let ((object (sb-mop:eql-specializer-object specializer)))
               (if (symbolp object)
                   (some (lambda (case) (string-equal (symbol-name object) (parsed-name object-text case))) (name-cases))
                   (string-equal (string-downcase (if (symbolp object) (symbol-name object) (line-text-in-time object 200))) object-text))))
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

;;; All definitions of a name.

(defparameter *kinds*
  '(:function :generic-function :macro :compiler-macro :variable :constant :symbol-macro :class :structure :condition :type
    :setf-expander :method-combination :package)
  "Kinds of definitions, in the order in which they are listed. Methods follow their generic function.")

(defstruct definition
  "A definition of NAME as KIND. RECORD is SBCL's record of its place, or NIL. METHOD is that of a method."
  kind name
  (record nil)
  (method nil))

(defun method-definitions (name)
  "The methods of NAME, in the order in which they were defined."
  (loop for method in (reverse (methods-of name))
        collect (make-definition :kind :method :name name :method method :record (or-nil (sb-introspect:find-definition-source method)))))

(defun found-p (source)
  "True if SOURCE, SBCL's record of a place, says anything."
  (or (sb-introspect:definition-source-pathname source) (sb-introspect:definition-source-plist source)))

(defun kind-definitions (name kind)
  "The definitions of NAME as KIND."
  (loop for source in (or-nil (sb-introspect:find-definition-sources-by-name name kind))
        collect (make-definition :kind kind :name name :record (and (found-p source) source))))

(defun built-in-operator (name)
  "The definition of NAME, an operator that SBCL records no place for, as a list; or NIL."
  (when (and (symbolp name) (fboundp name) (special-operator-p name))
    (list (make-definition :kind :special-operator :name name))))

(defun definitions-of (name)
  "All definitions of NAME, a symbol or (SETF SYMBOL)."
  (or (loop for kind in (if (symbolp name) *kinds* '(:function :generic-function :compiler-macro))
            append (kind-definitions name kind)
            when (eq kind :generic-function) append (method-definitions name))
      (built-in-operator name)))

(defun all-definitions (symbol setf-p)
  "All definitions of SYMBOL, or only those of (SETF SYMBOL) if SETF-P."
  (let ((setf-name (list 'setf symbol)))
    (append (unless setf-p (definitions-of symbol))
            (definitions-of setf-name)
            (when setf-p (kind-definitions symbol :setf-expander)))))

(defun name-text (name)
  "NAME, of a definition or a method, as code in the current package writes it."
  (with-name-syntax (*package*)
    (line-text-in-time name 300)))

(defun definition-text (definition)
  "The name of DEFINITION as code in the current package writes it."
  (let ((name (definition-name definition))
        (method (definition-method definition)))
    (name-text (if method (method-form name method) name))))

;;; Finds the form of a definition in its file. SBCL records the number of its top-level form; a file that has changed is searched for the
;;; operator and the name.

(defun form-number-of (definition)
  "The number of the top-level form that made DEFINITION, or NIL."
  (let* ((record (definition-record definition))
         (path (and record (sb-introspect:definition-source-form-path record))))
    (and (integerp (first path)) (first path))))

;;; Heads

(defun same-kind-p (made kind)
  "True if an operator that defines things of the kind MADE can define things of KIND; :MAYBE if it is no operator of Lisp."
  (cond ((null made) :maybe)
        ((eq made kind))
        ((eq kind :method) nil)
        (t (and (member made (source-kinds kind)) t))))

(defun lambda-list-specializers (text)
  "The specializers in TEXT, the lambda list of a method, as text."
  (loop for parameter in (element-texts text)
        until (char= #\& (char parameter 0))
        collect (if (char= #\( (char parameter 0)) (or (second (element-texts parameter)) "T") "T")))

(defun method-parts (elements)
  "=> the qualifiers and the lambda list in ELEMENTS, those of a DEFMETHOD after the name, as text"
  (let ((end (position #\( elements :key (lambda (element) (char element 0)))))
    (values (subseq elements 0 end) (and end (nth end elements)))))

(defun defines-method-p (text start end method)
  "True if the DEFMETHOD between START and END of TEXT has the qualifiers and specializers of METHOD."
  (multiple-value-bind (qualifiers lambda-list)
      (method-parts (loop for (from to) in (cddr (element-spans text start end 8)) collect (subseq text from to)))
    (and lambda-list
         (qualifiers-match-p qualifiers method)
         (specializers-match-p (lambda-list-specializers lambda-list) method))))

(defun names-test-p (head-name test)
  "True if HEAD-NAME, a text from a defining form, names TEST, a symbol or a text, as only tests are named: \"TEXT\" or (PARENT NAME)."
  (let ((name (if (char= #\( (char head-name 0)) (second (element-texts head-name)) head-name)))
    (and name
         (if (stringp test)
             (string= (string-trim "\"" name) test)
             (head-names-p name test)))))

(defun head-defines-p (definition head text start end)
  "True if the form with HEAD between START and END of TEXT looks like that of DEFINITION; :MAYBE if its operator is no operator of Lisp."
  (when (and head
             (not (head-uses-only-p head))
             (or (head-means-p head (definition-name definition))
                 (and (eq :test (definition-kind definition)) (names-test-p (head-text head) (definition-name definition)))))
    (let ((answer (same-kind-p (head-made-kind head) (definition-kind definition))))
      (if (and (eq answer t) (definition-method definition))
          (defines-method-p text start end (definition-method definition))
          answer))))

(defun defines-p (definition text start end)
  "HEAD-DEFINES-P for the form between START and END of TEXT."
  (head-defines-p definition (text-head text start end) text start end))

;;; Spans

(defun inner-definition (definition file number)
  "The (START END) of the list inside the top-level form NUMBER of FILE that looks like the form of DEFINITION, or NIL."
  (loop for (start end head) in (analysis-inner-heads (file-analysis file) number)
        when (eq t (head-defines-p definition head (file-text file) start end))
          return (list start end)))

(defun span (form)
  "(START END) of the top-level FORM."
  (list (top-level-form-start form) (top-level-form-end form)))

(defun nearest (numbers number)
  "The one of NUMBERS that is nearest to NUMBER; the first if NUMBER is NIL."
  (if number
      (first (sort (copy-list numbers) #'< :key (lambda (other) (abs (- other number)))))
      (first numbers)))

(defun named-span (definition file number)
  "=> (START END) in FILE of the form that looks like that of DEFINITION and is nearest to the top-level form NUMBER, its number; or NIL"
  (let* ((forms (file-forms file))
         (answers (loop for form in forms
                        for head across (analysis-heads (file-analysis file))
                        for other from 0
                        for answer = (apply #'head-defines-p definition head (file-text file) (span form))
                        when answer collect (cons other answer))))
    (flet ((numbers (answer)
             (loop for (other . other-answer) in answers
                   when (eq answer other-answer) collect other)))
      (let ((found (or (nearest (numbers t) number) (nearest (numbers :maybe) number))))
        (if found
            (values (span (nth found forms)) found)
            (loop for other from 0 below (length forms)
                  for inner = (inner-definition definition file other)
                  when inner return (values inner other)))))))

(defun numbered-span (definition file number)
  "(START END) in FILE, which is as it was loaded, of the form of DEFINITION in the top-level form NUMBER."
  (let ((form (nth number (file-forms file))))
    (when form
      (or (inner-definition definition file number) (span form)))))

(defun wrong-number-p (definition file number)
  "True if form NUMBER of FILE cannot have made DEFINITION: code that is evaluated while a file is loaded gets the number of its first form."
  (let ((form (nth number (file-forms file))))
    (or (null form)
        (and (not (apply #'head-defines-p definition (aref (analysis-heads (file-analysis file)) number) (file-text file) (span form)))
             (named-span definition file number)))))

(defun definition-span (definition file as-loaded)
  "=> (START END) in FILE of the form of DEFINITION, or NIL; and the number of its top-level form. AS-LOADED: the file has not changed."
  (let ((number (form-number-of definition)))
    (if (and number as-loaded (not (wrong-number-p definition file number)))
        (values (numbered-span definition file number) number)
        (named-span definition file number))))

;;; Lengths

(defun octets (text format)
  "The number of bytes of TEXT in the external FORMAT."
  (length (sb-ext:string-to-octets text :external-format format)))

(defun recorded-length (source number)
  "The bytes of the top-level form NUMBER when the file was compiled, with the white space before it, by SOURCE, a record about code; or NIL."
  (let ((starts (and source (code-start-positions source))))
    (and starts (< (1+ number) (length starts))
         (- (aref starts (1+ number)) (aref starts number)))))

(defun same-length-p (source old-number file number)
  "True if form NUMBER of FILE is as long as the form OLD-NUMBER was when the file was compiled, by SOURCE."
  (let ((length (and old-number number (recorded-length source old-number)))
        (form (and number (nth number (file-forms file)))))
    (and length form
         (= length (octets (subseq (file-text file) (top-level-form-gap form) (top-level-form-end form)) :utf-8)))))

(defun class-definition (class)
  "The definition of CLASS."
  (let ((name (class-name class)) (kind (class-kind class)))
    (or (first (kind-definitions name (if (eq kind :built-in-class) :class kind)))
        (make-definition :kind :class :name name))))

(defun record-path (definition)
  "The native name of the file of DEFINITION, or NIL."
  (let* ((record (definition-record definition))
         (pathname (and record (sb-introspect:definition-source-pathname record))))
    (and pathname (namestring pathname))))

(defun evaluation-of (definition)
  "The name of the evaluation or of the editor's buffer that DEFINITION came from, or NIL."
  (let ((record (definition-record definition)))
    (and record (getf (sb-introspect:definition-source-plist record) :emacs-buffer))))

(defun class-kind (class)
  "The kind of CLASS."
  (typecase class
    (structure-class :structure)
    (condition-class :condition)
    (built-in-class :built-in-class)
    (t :class)))
