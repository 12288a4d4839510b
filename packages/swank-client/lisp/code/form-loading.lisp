;;;; Compiles and loads one top-level form of a file, with the positions, the package and the file variables that it has in the whole file.

(in-package #:swank-client/code)

(defparameter *context-operators* '("IN-PACKAGE" "IN-READTABLE" "DECLAIM")
  "Operators of top-level forms that set what later forms are read and compiled with, when these are compiled.")

(defvar *known-operators* (make-hash-table :test 'eq) "What OPERATOR-SYNTAX-P is for operators, during one request.")

(defconstant +examined-conses+ 100000 "Conses of a form that are examined. Of a longer or circular one, it is not known what it changes.")

(defvar *conses-left* 0 "Conses of the form that may still be examined.")

(defconstant +calls-followed+ 4 "Calls that are followed from a form to what may change a readtable.")

(defun read-in (text package)
  "The form TEXT of PACKAGE, read as data, or NIL if that is not possible."
  (let ((*package* package))
    (or-nil (first (read-without-interning text (data-readtable))))))

(defun texts-of-operator (name)
  "((TEXT . PACKAGE) ...) of the definitions of the operator NAME, as far as they are known."
  (loop for definition in (or-nil (definitions-of name))
        for plist = (definition-plist definition)
        for file = (and (null plist) (definition-file-name definition) (file-now (definition-file-name definition)))
        for span = (and file (or-nil (definition-span definition file nil)))
        for text = (cond (plist (or-nil (own-form definition)))
                         (span (subseq (file-text file) (first span) (second span))))
        when (and text (member (definition-kind definition) '(:function :generic-function :method :macro)))
          collect (cons text (or (symbol-package name) *package*))))

(defun operator-syntax-p (name depth)
  "True if the operator NAME, a symbol, may change a readtable. DEPTH calls are followed."
  (multiple-value-bind (answer known) (gethash name *known-operators*)
    (cond (known answer)
          (t (setf (gethash name *known-operators*) nil) ; it may call itself
             (setf (gethash name *known-operators*)
                   (loop for (text . package) in (texts-of-operator name)
                         thereis (or (mentions-syntax-p text)
                                     (form-syntax-p (read-in text package) (1- depth)))))))))

(defun form-syntax-p (form depth)
  "True if FORM, read as data, or what it calls may change a readtable. DEPTH calls are followed."
  (flet ((program-operator-p (symbol)
           (and symbol (symbolp symbol) (fboundp symbol) (symbol-package symbol) (program-package-p (symbol-package symbol)))))
    (when (and (consp form) (plusp depth) (program-operator-p (car form)))
      (when (or (operator-syntax-p (car form) depth)
                (and (macro-function (car form)) (form-syntax-p (or-nil (macroexpand-1 form)) (1- depth))))
        (return-from form-syntax-p t)))
    (loop while (consp form)
          thereis (or (minusp (decf *conses-left*)) (form-syntax-p (pop form) depth))
          finally (return (and form (symbolp form) (mentions-syntax-p (symbol-name form)))))))

(defun syntax-change (text package)
  "When the form TEXT in PACKAGE may change the syntax of the forms after it: :COMPILED, also when a compiler reads them; :LOADED, only when it is
run; or NIL if it does not."
  (let* ((operator (or (definition-head text 0 (length text)) "NIL"))
         (name (operator-name operator))
         (kind (head-kind operator))
         (symbol (and package (or-nil (head-symbol operator package)))))
    (cond ((member name '("IN-PACKAGE" "DECLAIM") :test #'string=) nil)
          ((and kind (not (eq kind :setf))) nil)
          ((not (or (mentions-syntax-p text)
                    (and package
                         (let ((*conses-left* +examined-conses+))
                           (form-syntax-p (read-in text package) +calls-followed+)))))
           nil)
          ((string= name "EVAL-WHEN") (if (search "compile" text :test #'char-equal) :compiled :loaded))
          ;; what a macro of the program expands into, a compiler may evaluate
          ((and symbol (macro-function symbol) (not (eq (symbol-package symbol) (find-package "COMMON-LISP")))) :compiled)
          (t :loaded))))

(defun reader-form-p (text package)
  "True if TEXT, a form that is no definition of Lisp, may change the syntax of the forms after it in PACKAGE."
  (and (syntax-change text package) t))

(defun file-syntax-changes (file)
  "A vector of the values of SYNTAX-CHANGE of the forms of FILE, or :COMPILED for those that set a package or a policy."
  (or (file-syntax file)
      (setf (file-syntax file)
            (map 'vector
                 (lambda (text-and-name)
                   (destructuring-bind (text . name) text-and-name
                     (let ((operator (definition-head text 0 (length text)))
                           (package (if name (or-nil (find-package name)) (file-initial-package file))))
                       (cond ((null operator) nil)
                             ((member (operator-name operator) *context-operators* :test #'string=) :compiled)
                             (t (or-nil (syntax-change text package)))))))
                 (texts-with-packages (file-text file) (file-forms file))))))

(defun syntax-unknown-p (file wanted)
  "True if a form of FILE before the one with number WANTED changes the syntax only when the file is loaded whole."
  (and (find :loaded (file-syntax-changes file) :end (min (or wanted 0) (length (file-forms file)))) t))

(defun blank-form (text form)
  "Blank everything in FORM of TEXT, a list, except its parentheses, so that the positions and numbers of other forms stay."
  (loop for position from (1+ (top-level-form-start form)) below (1- (top-level-form-end form))
        unless (member (char text position) '(#\Newline #\Return)) do (setf (char text position) #\Space)))

(defun masked-text (file wanted)
  "The text of FILE up to the form after number WANTED, in which all forms are blank except that and those before it that set its context."
  (loop with text = (copy-seq (file-text file))
        for form in (file-forms file)
        for number from 0 to (1+ wanted)
        unless (or (= number wanted)
                   (char/= #\( (char text (top-level-form-start form)))
                   (and (< number wanted) (eq :compiled (aref (file-syntax-changes file) number))))
          do (blank-form text form)
        initially (fill text #\Space :end (first-line-end text))
        maximize (top-level-form-end form) into end
        finally (return (subseq text 0 end))))

;;; Compiling and loading

(defun naming-readtable (truename)
  "A readtable that makes COMPILE-FILE compile its forms as those of the file TRUENAME, and then is replaced by the current one."
  (let* ((own *readtable*)
         (readtable (copy-readtable own)))
    (multiple-value-bind (read-list non-terminating) (get-macro-character #\( own)
      (when read-list
        (set-macro-character #\(
                             (lambda (stream char)
                               (setf *compile-file-truename* truename
                                     *compile-file-pathname* truename
                                     *readtable* own)
                               (funcall read-list stream char))
                             non-terminating readtable)))
    readtable))

(defun unix-time (universal-time)
  "UNIVERSAL-TIME in seconds since 1970."
  (- universal-time (encode-universal-time 0 0 0 1 1 1970 0)))

(defun write-octets (octets name)
  "Write OCTETS to the new file with the native NAME."
  (with-open-file (stream (sb-ext:parse-native-namestring name) :direction :output :if-exists :error :element-type '(unsigned-byte 8))
    (write-sequence octets stream)))

(defun write-draft (file number draft)
  "Write to the new file DRAFT the text of FILE in which all but the form NUMBER are blank, with the date of FILE."
  (let ((name (sb-ext:native-namestring draft))
        (time (unix-time (file-date file))))
    (write-octets (encoded (masked-text file number) (file-format file)) name)
    (sb-posix:utime name time time)))

(defun compile-draft (file draft fasl)
  "Compile DRAFT, which stands for FILE, to FASL."
  (let ((*readtable* (naming-readtable (file-truename file)))
        ;; notes have what the compiler prints
        (*error-output* (make-broadcast-stream)))
    (with-compilation-unit (:source-namestring (sb-ext:native-namestring (file-truename file)))
      (compile-file draft :output-file fasl :verbose nil :print nil :external-format (file-format file)))))

(defun placed-note (note file number)
  "NOTE, about the form NUMBER of FILE, with its place."
  (let ((path (noted-file note)))
    (cond ((and path (not (equal "draft" (pathname-name (pathname path))))) note)
          (t (setf (noted-file note) (file-truename file))
             (unless (or (noted-path note) (noted-position note)) (setf (noted-path note) (list number)))
             note))))

(defun call-noting-form (file number function)
  "Call FUNCTION, which compiles or loads form NUMBER of FILE. => the notes except compiler notes, and the number of those not kept"
  (multiple-value-bind (notes omitted)
      (handler-bind ((warning #'muffle-warning)
                     (sb-ext:compiler-note #'muffle-warning))
        (call-collecting-notes function))
    (values (loop for note in notes
                  unless (eq :note (noted-severity note)) collect (placed-note note file number))
            omitted)))

(note-frame-role 'load-compiled-as :loads)

(defun call-with-compiled-form (file number function)
  "Compile the form NUMBER of FILE, and call FUNCTION with the notes and, unless there was an error, a function that loads it."
  (call-with-folder
   (lambda (folder)
     (let ((draft (file-in folder "draft.lisp"))
           (fasl (file-in folder "draft.fasl")))
       (write-draft file number draft)
       (let ((notes (with-initial-handlers ; the evaluation's would report the draft
                      (call-noting-form file number (lambda () (compile-draft file draft fasl))))))
         (funcall function notes
                  (and (probe-file fasl)
                       (notany (lambda (note) (member (noted-severity note) '(:error :read-error))) notes)
                       (lambda () (call-own #'load-compiled-as (list fasl (file-truename file)))))))))))
