;;;; All definitions of the program in the image, found by their symbols, so that it does not matter how they got there.

(in-package #:swank-client/code)

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
        (and method (or-nil (package-of-text definition))))))

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

(defun own-form (definition)
  "The text of the form that made DEFINITION, which was evaluated from text; NIL if that form is another definition, as for an accessor."
  (let* ((text (form-of-plist (definition-plist definition) (form-number-of definition)))
         (inner (find-if (lambda (span) (eq t (defines-p definition text (first span) (second span))))
                         (list-spans text 0 (length text))))
         (operator (definition-head text 0 (length text))))
    (cond (inner (subseq text (first inner) (second inner)))
          ((or (null operator) (member (head-kind operator) '(nil :setf))) text))))
