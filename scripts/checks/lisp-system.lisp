;;;; Compiles and loads the Lisp systems of swank-client file by file, like C-c C-k, and prints a line for each warning, for each
;;;; definition without a docstring, and for each package that exports too much. The arguments are swank-client.asd and the output folder. Swank must be loaded before.

(require "asdf")

(defpackage #:swank-client/check
  (:use #:common-lisp))

(in-package #:swank-client/check)

(defvar *problems* 0 "The number of problems that were printed.")

(defun report (place control &rest arguments)
  "Print a problem at PLACE, on one line."
  (incf *problems*)
  (format t "~&~a: ~a~%" place (substitute #\Space #\Newline (apply #'format nil control arguments))))

;;; Warnings

(defun system-files (name)
  "Return the files of the system NAME and of the library's systems that it depends on, in load order."
  (let ((system (asdf:find-system name)))
    (append (loop for other in (asdf:system-depends-on system)
                  when (and (stringp other) (eql 0 (search "swank-client/" other))) append (system-files other))
            (mapcar #'asdf:component-pathname (asdf:component-children system)))))

(defun source-files (asd)
  "Return the files of all systems in ASD except the tests, in load order."
  (asdf:load-asd asd)
  (remove-duplicates (append (system-files "swank-client") (system-files "swank-client/launch")) :test #'equal :from-end t))

(defun note-warning (file condition)
  "Report CONDITION, except a redefinition of a macro that compiling its file has already defined."
  (unless (typep condition 'sb-kernel:uninteresting-redefinition)
    (report (file-namestring file) "~a: ~a" (type-of condition) condition)))

(defun compile-and-load (file folder)
  "Compile FILE into FOLDER and load it."
  (let ((fasl (make-pathname :name (substitute #\- #\/ (namestring file)) :type "fasl" :defaults folder))
        (*error-output* (make-broadcast-stream))
        (*standard-output* (make-broadcast-stream)))
    (handler-bind ((error (lambda (condition) (format sb-sys:*stdout* "~&~a: ~a~%" file condition)))
                   (warning (lambda (condition)
                              (let ((*standard-output* sb-sys:*stdout*)) (note-warning file condition)))))
      (load (compile-file file :output-file fasl)))))

;;; Docstrings

(defun own-packages ()
  "Return the packages of the library."
  (remove-if-not (lambda (package) (eql 0 (search "SWANK-CLIENT/" (package-name package))))
                 (remove *package* (list-all-packages))))

(defun slot-reader-p (symbol)
  "True if SYMBOL is the reader of a slot of a class or condition of its package."
  (do-symbols (name (symbol-package symbol))
    (let ((class (find-class name nil)))
      (when (and class
                 (not (typep class 'structure-class))
                 (some (lambda (slot) (member symbol (sb-mop:slot-definition-readers slot))) (sb-mop:class-direct-slots class)))
        (return t)))))

(defun accessor-p (symbol)
  "True if DEFSTRUCT, DEFCLASS or DEFINE-CONDITION defined SYMBOL as an accessor or a predicate."
  (or (sb-int:info :function :source-transform symbol)
      (slot-reader-p symbol)))

(defun structure-function-p (symbol)
  "True if SYMBOL is a constructor or a copier of a structure of its package."
  (some (lambda (prefix)
          (let ((name (symbol-name symbol)))
            (and (eql 0 (search prefix name))
                 (let ((type (find-symbol (subseq name (length prefix)) (symbol-package symbol))))
                   (typep (and type (find-class type nil)) 'structure-class)))))
        '("MAKE-" "COPY-")))

;;; SBCL makes no class for these.
(defun vector-structure-function-p (symbol)
  "True if SYMBOL is an accessor or a constructor of a structure of its package that is a vector."
  (do-symbols (name (symbol-package symbol))
    (let ((structure (sb-int:info :typed-structure :info name)))
      (when (and structure
                 (or (find symbol (sb-kernel:dd-slots structure) :key #'sb-kernel:dsd-accessor-name)
                     (assoc symbol (sb-kernel:dd-constructors structure))))
        (return t)))))

(defun undocumented-kinds (symbol)
  "Return the kinds of definitions of SYMBOL that have no docstring."
  (flet ((lacks-p (kind) (null (documentation symbol kind))))
    (remove nil
            (list (and (fboundp symbol) (lacks-p 'function) (not (accessor-p symbol)) (not (structure-function-p symbol))
                       (not (vector-structure-function-p symbol))
                       (if (macro-function symbol) "macro" "function"))
                  (and (boundp symbol) (lacks-p 'variable) "variable")
                  (and (find-class symbol nil) (lacks-p 'type) "class")))))

(defun check-docstrings ()
  "Report definitions without docstrings."
  (dolist (package (own-packages))
    (unless (documentation package t) (report (package-name package) "the package has no documentation"))
    (do-symbols (symbol package)
      (when (eq (symbol-package symbol) package)
        (dolist (kind (undocumented-kinds symbol))
          (report (package-name package) "the ~a ~(~a~) has no docstring" kind symbol))))))

;;; Packages

(defconstant +most-exports+ 40 "Symbols that a package may export. One with more has several subjects.")

(defun check-exports ()
  "Report packages that export too many symbols."
  (dolist (package (own-packages))
    (let ((count (loop for nil being the external-symbols of package count t)))
      (when (> count +most-exports+)
        (report (package-name package) "it exports ~d symbols; at most ~d are allowed: split it by subject" count +most-exports+)))))

(destructuring-bind (asd folder) (last sb-ext:*posix-argv* 2)
  (dolist (file (source-files (sb-ext:parse-native-namestring asd)))
    (compile-and-load file (sb-ext:parse-native-namestring folder nil *default-pathname-defaults* :as-directory t)))
  (check-docstrings)
  (check-exports)
  (sb-ext:exit :code (if (zerop *problems*) 0 1) :abort nil))
