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
  (remove-duplicates (append (system-files "swank-client") (system-files "swank-client/launch") (system-files "swank-client/portable")) :test #'equal :from-end t))

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

(defparameter *kinds*
  '((defun . function) (defmacro . function) (defgeneric . function)
    (defvar . variable) (defparameter . variable) (defconstant . variable)
    (defclass . type) (define-condition . type) (defstruct . structure))
  "What DOCUMENTATION calls the names that a macro defines.")

(defun check-docstring (form)
  "Report FORM if it defines a name of the current package that has no docstring."
  (let ((kind (and (consp form) (cdr (assoc (first form) *kinds*)))))
    (when kind
      (let* ((name (if (eq kind 'structure) (first (uiop:ensure-list (second form))) (second form)))
             (symbol (if (consp name) (second name) name)))
        (unless (or (documentation name kind) (not (eq (symbol-package symbol) *package*)))
          (report (package-name *package*) "the ~(~a ~a~) has no docstring" kind name))))))

(defun check-docstrings (file)
  "Report the definitions at the top level of FILE, which is loaded, that have no docstring."
  (with-open-file (in file)
    (loop with *package* = *package*
          for form = (read in nil in)
          until (eq form in)
          do (if (and (consp form) (eq (first form) 'in-package))
                 (setf *package* (find-package (second form)))
                 (check-docstring form)))))

;;; Packages

(defconstant +most-exports+ 40 "Symbols that a package may export. One with more has several subjects.")

(defun check-packages ()
  "Report packages of the library without documentation, and those that export too many symbols."
  (dolist (package (list-all-packages))
    (when (and (eql 0 (search "SWANK-CLIENT/" (package-name package))) (not (eq package *package*)))
      (unless (documentation package t) (report (package-name package) "the package has no documentation"))
      (let ((count (loop for nil being the external-symbols of package count t)))
        (when (> count +most-exports+)
          (report (package-name package) "it exports ~d symbols; at most ~d are allowed: split it by subject" count +most-exports+))))))

(destructuring-bind (asd folder) (last sb-ext:*posix-argv* 2)
  (let ((files (source-files (sb-ext:parse-native-namestring asd))))
    (dolist (file files)
      (compile-and-load file (sb-ext:parse-native-namestring folder nil *default-pathname-defaults* :as-directory t)))
    (mapc #'check-docstrings files))
  (check-packages)
  (sb-ext:exit :code (if (zerop *problems*) 0 1) :abort nil))
