;;;; Finds the form of a definition in its file. SBCL records the number of its top-level form; a file that has changed is searched for the
;;;; operator and the name.

(in-package #:swank-client/code)

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
