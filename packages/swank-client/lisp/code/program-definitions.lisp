;;;; All definitions of the program in the image, found by their symbols, so that it does not matter how they got there.

(in-package #:swank-client/code)

(defun program-package-p (package)
  "True if PACKAGE belongs to the program, not to SBCL, Swank, ASDF or this library."
  (not (or (implementation-package-p package)
           (eql 0 (search "ASDF" (package-name package)))
           (eql 0 (search "UIOP" (package-name package)))
           (member (package-name package) '("COMMON-LISP" "KEYWORD") :test #'string=))))

(defun package-definitions (package)
  "The definitions of the names that belong to PACKAGE."
  (let ((found '()))
    (do-symbols (symbol package found)
      (when (and (eq package (symbol-package symbol))
                 (or (means-something-p symbol) (fboundp (list 'setf symbol)) (compiler-macro-function symbol)))
        (setf found (nconc (or-nil (all-definitions symbol nil)) found))))))

(defun methods-elsewhere (definitions)
  "The methods that specialize on the classes among DEFINITIONS and whose names belong to Lisp, such as PRINT-OBJECT."
  (loop for definition in definitions
        for class = (and (member (definition-kind definition) '(:class :structure :condition))
                         (find-class (definition-name definition) nil))
        append (loop for method in (and class (or-nil (sb-mop:specializer-direct-methods class)))
                     for name = (or-nil (sb-mop:generic-function-name (sb-mop:method-generic-function method)))
                     for symbol = (if (consp name) (second name) name)
                     when (and name (symbolp symbol) (symbol-package symbol) (not (program-package-p (symbol-package symbol))))
                       collect (make-definition :kind :method :name name :method method
                                                :record (or-nil (sb-introspect:find-definition-source method))))))

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
  "The package to whose code DEFINITION belongs, or NIL: that of its name or, for a method on a name of Lisp, of a class."
  (let* ((name (definition-name definition))
         (method (definition-method definition))
         (symbols (cons (if (consp name) (second name) name)
                        (and method (loop for specializer in (sb-mop:method-specializers method)
                                          when (typep specializer 'class) collect (class-name specializer))))))
    (loop for symbol in symbols
          for package = (and (symbolp symbol) (symbol-package symbol))
          when (and package (program-package-p package)) return package)))

;;; Evaluated text

(defun own-form (definition)
  "The text of the form that made DEFINITION, which was evaluated from text; NIL if that form is another definition, as for an accessor."
  (let* ((text (form-of-plist (definition-plist definition) (form-number-of definition)))
         (inner (find-if (lambda (span) (eq t (defines-p definition text (first span) (second span))))
                         (list-spans text 0 (length text))))
         (operator (definition-head text 0 (length text))))
    (cond (inner (subseq text (first inner) (second inner)))
          ((or (null operator) (member (head-kind operator) '(nil :setf))) text))))
