;;;; What SBCL and this library have recorded of definitions, and all definitions of the program.

(in-package #:swank-client/recorded)

;;; The text of a definition that SBCL or this library has recorded in the image.

(defconstant +definition-text-limit+ 40000 "Characters shown of one definition.")

(defun form-of-plist (plist number)
  "The text of form NUMBER in the text that PLIST, a source plist, records; and its position in that text."
  (let* ((text (getf plist :emacs-string))
         (form (nth (or number 0) (top-level-forms text))))
    (if form
        (values (subseq text (top-level-form-start form) (top-level-form-end form)) (top-level-form-start form))
        (values text 0))))

(defun declaration-p (form)
  "True if FORM is a DECLARE expression."
  (typep form '(cons (eql declare))))

(defun body-of-lambda (lambda-expression name)
  "The lambda list and the body of LAMBDA-EXPRESSION, without the block that DEFUN of NAME puts around the body."
  (destructuring-bind (lambda-list . body) (rest lambda-expression)
    (let* ((block-name (if (consp name) (second name) name))
           (block (first (last body)))
           (before (butlast body)))
      (list* lambda-list
             (if (and (typep block '(cons (eql block) cons)) (eq block-name (second block))
                      (every (lambda (form) (or (stringp form) (declaration-p form))) before))
                 (append (remove-if #'own-declaration-p before) (cddr block))
                 body)))))

(defun own-declaration-p (form)
  "True if FORM is a declaration that SBCL adds to recorded forms."
  (and (declaration-p form)
       (every (lambda (specifier) (equal "SB-C" (home-name (first specifier)))) (rest form))))

(defun short-code-p (form)
  "True if FORM consists of at most 2000 conses, symbols, numbers, characters and short strings, so that its text is short."
  (let ((left 2000))
    (labels ((short-p (part)
               (loop while (consp part)
                     do (unless (and (plusp (decf left)) (short-p (car part))) (return-from short-p nil))
                        (setf part (cdr part)))
               (typecase part
                 (string (< (length part) 1000))
                 ((or symbol fixnum character float) t))))
      (short-p form))))

(defun pretty-text (form package &optional dispatch)
  "FORM as code in PACKAGE writes it, on several lines, printed with the table DISPATCH, by default the standard one."
  (with-name-syntax (package)
    (let ((*print-pprint-dispatch* (or dispatch *print-pprint-dispatch*))
          (*print-pretty* t) (*print-right-margin* 100) (*print-case* :downcase)
          (*print-length* 2000) (*print-level* 50) (*print-gensym* nil)
          (sb-ext:*suppress-print-errors* 'serious-condition))
      ;; a stream that cuts the text takes as long as printing
      (if (short-code-p form)
          (prin1-to-string form)
          (truncated +definition-text-limit+ (lambda (stream) (prin1 form stream)))))))

(defun lambda-form-of (definition)
  "The lambda expression that SBCL has recorded for DEFINITION, a function, or NIL."
  (let ((form (and (eq (definition-kind definition) :function)
                   (or-nil (function-lambda-expression (fdefinition (definition-name definition)))))))
    (and (typep form '(cons (eql lambda) (cons list))) form)))

(defun lambda-text (definition)
  "The text of DEFINITION, a function, as SBCL has recorded its form, or NIL."
  (let ((name (definition-name definition))
        (lambda-expression (lambda-form-of definition)))
    (when lambda-expression
      (or-nil (pretty-text `(defun ,name ,@(body-of-lambda lambda-expression name))
                           (home-package (if (consp name) (second name) name)))))))

;;; Compares the forms of a file with those that SBCL has recorded.

;;; Packages of forms

(defun in-package-name (text form)
  "The package that FORM of TEXT names if it is IN-PACKAGE."
  (let ((start (top-level-form-start form)))
    (multiple-value-bind (operator name)
        (when (and (char= #\( (char text start))
                   (search "in-package" text :start2 start :end2 (min (top-level-form-end form) (+ start 30)) :test #'char-equal))
          (definition-head text start (top-level-form-end form)))
      (and operator name (string= "IN-PACKAGE" (operator-name operator)) (designated-name name)))))

(defun designated-name (text)
  "The name of a package in TEXT, a designator without evaluation."
  (let ((text (trimmed text)))
    (if (char= #\" (char text 0)) (string-trim "\"" text) (parsed-package (string-left-trim ":" text)))))

(defun file-packages (file)
  "The names of the packages that forms of FILE change to."
  (let ((analysis (file-analysis file)))
    (if (eq :unread (analysis-packages analysis))
        (setf (analysis-packages analysis)
              (loop for form in (file-forms file)
                    for name = (or-nil (in-package-name (file-text file) form))
                    when name collect name))
        (analysis-packages analysis))))

(defun package-at (text forms number &optional initial)
  "The package in which form NUMBER of FORMS in TEXT is read: INITIAL before the first IN-PACKAGE; NIL if it does not exist."
  (loop with name = nil
        for form in forms
        repeat (or number 0)
        do (setf name (or (or-nil (in-package-name text form)) name))
        finally (return (if name (or-nil (find-package name)) initial))))

;;; Recorded forms

(defun without-order (function-parts)
  "FUNCTION-PARTS, a lambda list and a body, as (LAMBDA-LIST DECLARATIONS FORMS). Documentation is left out, because SBCL records it elsewhere."
  (destructuring-bind (lambda-list . body) function-parts
    (loop for rest on body
          for form = (first rest)
          for documentation-p = (and (stringp form) (rest rest))
          while (or (declaration-p form) documentation-p)
          unless documentation-p append (rest form) into declarations
          finally (return (list lambda-list declarations rest)))))

(defun same-code-p (form recorded)
  "True if FORM, read without interning, is the code RECORDED."
  (cond ((consp form)
         (and (consp recorded) (same-code-p (car form) (car recorded)) (same-code-p (cdr form) (cdr recorded))))
        ((and form (symbolp form))
         (or (eq form recorded)
             (and (null (symbol-package form)) (null (prefix-of-unknown form)) (symbolp recorded) (string= form recorded))))
        ((comma-p form)
         (and (comma-p recorded)
              (same-code-p (comma-form form) (comma-form recorded))
              (equalp (make-comma nil form) (make-comma nil recorded))))
        ((simple-vector-p form)
         (and (simple-vector-p recorded) (= (length form) (length recorded)) (every #'same-code-p form recorded)))
        ((arrayp form) (and (arrayp recorded) (string= (prin1-to-string form) (prin1-to-string recorded))))
        (t (equal form recorded))))

(defun read-as-data (text file)
  "The form in TEXT, a part of FILE, read in the current package; NIL if reading it needs another readtable, or runs code."
  (unless (mentions-readtable-p (file-analysis file))
    (nil-on reader-error (first (read-without-interning text (data-readtable))))))

(defun compared-form (definition file span number)
  "How the form at SPAN, (START END), of FILE, in its top-level form NUMBER, compares with the one that SBCL has recorded for DEFINITION:
:SAME, :DIFFERENT, or NIL if there is none or the form cannot be read as data."
  (let ((recorded (lambda-form-of definition))
        (name (definition-name definition)))
    (when recorded
      (let* ((*package* (or (package-at (file-text file) (file-forms file) number)
                            (home-package (if (consp name) (second name) name))))
             (form (read-as-data (subseq (file-text file) (first span) (second span)) file)))
        (when (and (typep form '(cons (eql defun) (cons t cons))) (same-code-p (second form) name))
          (if (same-code-p (without-order (cddr form)) (without-order (body-of-lambda recorded name))) :same :different))))))

;;; All definitions of the program in the image, found by their symbols, so that it does not matter how they got there.

(defun package-definitions (package)
  "The definitions of the names that belong to PACKAGE."
  (let ((found '()))
    (do-symbols (symbol package found)
      (when (and (eq package (symbol-package symbol))
                 (or (means-something-p symbol) (names-only-source-p symbol)))
        (setf found (nconc (or-nil (all-definitions symbol nil)) found))))))

(defun methods-on-classes (definitions)
  "The methods that specialize on the classes among DEFINITIONS and whose names belong to Lisp, such as PRINT-OBJECT."
  (loop for definition in definitions
        for class = (and (member (definition-kind definition) '(:class :structure :condition))
                         (find-class (definition-name definition) nil))
        append (loop for method in (and class (or-nil (sb-mop:specializer-direct-methods class)))
                     for name = (or-nil (sb-mop:generic-function-name (sb-mop:method-generic-function method)))
                     for symbol = (if (consp name) (second name) name)
                     when (and name (symbolp symbol) (symbol-package symbol) (not (program-package-p (symbol-package symbol))))
                       collect (method-of-name name method))))

(defun method-of-name (name method)
  "The definition of METHOD of the generic function NAME."
  (make-definition :kind :method :name name :method method :record (or-nil (sb-introspect:find-definition-source method))))

(defun lisps-methods-added ()
  "The methods of Lisp's generic functions that were not compiled with SBCL itself."
  (loop for package in (live-packages)
        when (or (eq package (find-package "COMMON-LISP")) (implementation-package-p package))
          append (let ((found '()))
                   (do-symbols (symbol package found)
                     (when (eq package (symbol-package symbol))
                       (dolist (name (list symbol (list 'setf symbol)))
                         (dolist (method (or-nil (methods-of name)))
                           (unless (or-nil (lisps-method-code-p method)) (push (method-of-name name method) found)))))))))

(defun program-file-p (file)
  "True if FILE names no package, or one of the program. The files of this library count as Lisp's, even if they are newer than an image."
  (or (null (file-packages file))
      (some (lambda (name)
              (let ((package (or-nil (find-package name))))
                (if package (program-package-p package) (not (eql 0 (search "SWANK-CLIENT/" name))))))
            (file-packages file))))

(defun swanks-method-p (definition)
  "True if the method of DEFINITION is for a class of SBCL or Swank, or its name is Swank's."
  (flet ((own-p (symbol)
           (let ((package (and (symbolp symbol) (symbol-package symbol))))
             (and package (implementation-package-p package)))))
    (let ((name (definition-name definition)))
      (or (own-p (if (consp name) (second name) name))
          (some (lambda (specializer) (and (typep specializer 'class) (own-p (class-name specializer))))
                (sb-mop:method-specializers (definition-method definition)))))))

(defun of-program-file-p (definition files)
  "True if DEFINITION, of a method, is from one of FILES, a table by native name, or from another file of the program."
  (let ((name (definition-file-name definition)))
    (and name
         (or (gethash name files)
             (let ((file (and (not (swanks-method-p definition)) (or-nil (file-now name)))))
               (and file (file-packages file) (program-file-p file)))))))

(defun methods-elsewhere (definitions)
  "The program's methods whose names belong to Lisp: those on classes among DEFINITIONS, and those that its forms have added for objects or
classes of Lisp."
  (let ((files (make-hash-table :test 'equal)))
    (dolist (definition definitions)
      (let ((name (definition-file-name definition)))
        (when name (setf (gethash name files) t))))
    (delete-duplicates
     (append (methods-on-classes definitions)
             (remove-if-not (lambda (definition)
                              (if (definition-plist definition)
                                  (definition-home definition)
                                  (of-program-file-p definition files)))
                            (lisps-methods-added)))
     :key #'definition-method :from-end t)))

(defun definitions-of-program ()
  "All definitions of the program."
  (let ((all (loop for package in (live-packages)
                   when (program-package-p package) nconc (or-nil (package-definitions package)))))
    (append all (methods-elsewhere all))))

(defun definition-plist (definition)
  "The source plist of DEFINITION if that was evaluated from text, or NIL."
  (let* ((record (definition-record definition))
         (plist (and record (sb-introspect:definition-source-plist record))))
    (and (stringp (getf plist :emacs-string)) plist)))

(defun definition-file-name (definition)
  "The native name of the file that DEFINITION was loaded from, or NIL."
  (let* ((record (definition-record definition))
         (pathname (and record (null (definition-plist definition)) (sb-introspect:definition-source-pathname record))))
    (and pathname (not (typep pathname 'logical-pathname)) (sb-ext:native-namestring pathname))))

(defun definition-home (definition)
  "The package to whose code DEFINITION belongs, or NIL: that of its name or, for a method on a name of Lisp, of a class or symbol for which it
is, or else the one in which its form was read."
  (let* ((name (definition-name definition))
         (method (definition-method definition))
         (symbols (cons (if (consp name) (second name) name)
                        (and method (mapcar #'specializer-symbol (sb-mop:method-specializers method))))))
    (or (loop for symbol in symbols
              for package = (and (symbolp symbol) (symbol-package symbol))
              when (and package (program-package-p package)) return package)
        (and method (recording-faults (package-of-text definition))))))

(defun specializer-symbol (specializer)
  "The name of SPECIALIZER, a class, or its object if that is a symbol; or NIL."
  (if (typep specializer 'class)
      (class-name specializer)
      (let ((object (sb-mop:eql-specializer-object specializer)))
        (and (symbolp object) object))))

(defun package-of-text (definition)
  "The package of the program in which the form of DEFINITION was evaluated, or the first of its file; or NIL."
  (let* ((plist (definition-plist definition))
         (file (and (null plist) (file-now (definition-file-name definition))))
         (names (if plist
                    (list (designated-name (or (getf plist :package) (getf plist :emacs-package))))
                    (file-packages file))))
    (loop for name in names
          for package = (find-package name)
          when (and package (program-package-p package)) return package)))

;;; Evaluated text

(defparameter *transparent-operators* '("PROGN" "EVAL-WHEN" "LOCALLY")
  "Operators of top-level forms whose inner definitions do not depend on what is around them.")

(defparameter *plain-operators* '("PROG1" "PROG2" "MULTIPLE-VALUE-PROG1" "MULTIPLE-VALUE-LIST" "TIME" "IF" "WHEN" "UNLESS" "AND" "OR" "THE"
                                  "IGNORE-ERRORS" "UNWIND-PROTECT")
  "Operators besides those and functions that bind nothing around the forms in them.")

(defun transparent-operator-p (operator)
  "True if OPERATOR, a text or NIL, is one of *TRANSPARENT-OPERATORS*."
  (let ((name (and operator (operator-name operator))))
    (and name (member name *transparent-operators* :test #'string=) t)))

(defun plain-operator-p (operator)
  "True if OPERATOR, a text or NIL, is an operator of Lisp that binds nothing around the forms in it."
  (let* ((name (and operator (operator-name operator)))
         (symbol (and name (accessible-symbol name "COMMON-LISP"))))
    (and symbol
         (or (member name *plain-operators* :test #'string=)
             (transparent-operator-p operator)
             (and (fboundp symbol) (not (macro-function symbol)) (not (special-operator-p symbol))))
         t)))

(defun quoted-span-p (text span)
  "True if the list at SPAN of TEXT is quoted, in whatever way, or its value is inserted into such a list."
  (and (plusp (first span)) (find (char text (1- (first span))) "'`,@") t))

(defun enclosing-span (text span start end)
  "The span of the form between START and END of TEXT, or in it, on which the meaning of the definition at SPAN may depend, as on a LET that
binds its variables; NIL if there is none."
  (flet ((operator (other) (definition-head text (first other) (second other))))
    (let* ((around (remove-if-not (lambda (other) (and (< (first other) (first span)) (<= (second span) (second other))))
                                  (list-spans text start end)))
           (outer (member-if-not #'transparent-operator-p around :key #'operator)))
      (when (and outer
                 (or (notevery #'plain-operator-p (mapcar #'operator outer))
                     (some (lambda (other) (quoted-span-p text other)) (append outer (list span)))))
        (subseq (first outer) 0 2)))))

(defun own-span (definition text)
  "The span of the list in TEXT that makes DEFINITION, or NIL."
  (find-if (lambda (span) (eq t (defines-p definition text (first span) (second span))))
           (list-spans text 0 (length text))))

(defun own-form (definition)
  "The text of the form that made DEFINITION, which was evaluated from text; NIL if that form is another definition, as for an accessor."
  (let* ((text (form-of-plist (definition-plist definition) (form-number-of definition)))
         (inner (own-span definition text))
         (operator (definition-head text 0 (length text))))
    (cond (inner (subseq text (first inner) (second inner)))
          ((or (null operator) (member (head-kind operator) '(nil :setf))) text))))

(defun own-text (definition)
  "=> the text of the form around the one that made DEFINITION, on which its meaning may depend, and true; or what OWN-FORM returns"
  (let* ((text (form-of-plist (definition-plist definition) (form-number-of definition)))
         (inner (own-span definition text))
         (around (and inner (enclosing-span text inner 0 (length text)))))
    (if around
        (values (subseq text (first around) (second around)) t)
        (own-form definition))))

(defun evaluated-package (definition)
  "The package in which the text of DEFINITION was evaluated, or NIL if it is not known."
  (let* ((plist (definition-plist definition))
         (name (or (getf plist :package) (getf plist :emacs-package)))
         (text (getf plist :emacs-string)))
    (and (stringp name)
         (package-at text (top-level-forms text) (form-number-of definition)
                     (or-nil (find-package (parsed-package (string-trim "\"" name))))))))

;;; Evaluated text in files: that from which an editor has sent it, and those to which it was saved.

(defun file-line-ends (text file)
  "TEXT with the line ends of FILE."
  (let* ((first (position #\Newline (file-text file)))
         (plain (remove #\Return text)))
    (if (and first (plusp first) (char= #\Return (char (file-text file) (1- first))))
        (with-output-to-string (out)
          (loop for char across plain
                do (when (char= char #\Newline) (write-char #\Return out))
                   (write-char char out)))
        plain)))

(defun placed-texts (definition)
  "The texts of DEFINITION, which was evaluated, that a file may have, the best first: that of its own form unless its meaning depends on the form
around it, and that of the top-level form."
  (let ((whole (form-of-plist (definition-plist definition) (form-number-of definition)))
        (own (own-text definition)))
    (if (and own (string/= own whole)) (list own whole) (list whole))))

(defun form-positions (text file)
  "((POSITION . NUMBER) ...) of the lists in FILE, none of them in comments, that have TEXT, and the numbers of their top-level forms."
  (loop for form in (file-forms file)
        for number from 0
        for position = (search text (file-text file) :start2 (top-level-form-start form) :end2 (top-level-form-end form))
        when (and position (find position (apply #'list-spans (file-text file) (span form)) :key #'first))
          collect (cons position number)))

(defun text-place (text file package hint)
  "=> the position in FILE of the form with TEXT that is read in PACKAGE or, if that is not known, is at HINT; and the number of its top-level
form. NIL if there is none."
  (let* ((places (form-positions text file))
         (certain (remove-if-not (lambda (place)
                                   (or (eql hint (car place))
                                       (and package
                                            (eq package (package-at (file-text file) (file-forms file) (cdr place)
                                                                    (file-initial-package file))))))
                                 places))
         (position (and certain (nearest (mapcar #'car certain) hint))))
    (when position (values position (cdr (assoc position certain))))))

(defun text-in-file-p (text file package)
  "True if FILE has a form with TEXT that is read in PACKAGE or, if that is NIL, in any package."
  (let ((text (file-line-ends text file)))
    (and (search text (file-text file))
         (if package (text-place text file package nil) (form-positions text file))
         t)))

(defun evaluated-place (definition)
  "=> the file that has the text of DEFINITION, which was evaluated, and that an editor sent it from or to which it was saved; the position and
text of its form there, and the number of the top-level form. NIL if there is none."
  (let* ((plist (definition-plist definition))
         (editor-file (getf plist :emacs-filename))
         (offset (nth-value 1 (form-of-plist plist (form-number-of definition))))
         (package (evaluated-package definition)))
    (dolist (name (append (and (stringp editor-file) (list editor-file)) (saved-files (getf plist :emacs-buffer))))
      (let ((file (file-now name))
            (hint (and (equal name editor-file) (+ offset (1- (getf plist :emacs-position 1))))))
        (dolist (text (and file (placed-texts definition)))
          (multiple-value-bind (position number) (text-place (file-line-ends text file) file package hint)
            (when position (return-from evaluated-place (values file position text number)))))))))

(defun path-now (definition)
  "=> the native name of the file that has DEFINITION, and the number of the top-level form there; NIL if no file is known to have it."
  (if (definition-plist definition)
      (multiple-value-bind (file position text number) (evaluated-place definition)
        (declare (ignore position text))
        (when file (values (namestring (file-truename file)) number)))
      (values (record-path definition) (form-number-of definition))))
