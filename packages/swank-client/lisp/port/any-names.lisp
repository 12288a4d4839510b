;;;; Names of code that may not be loaded, and the names of this library's own packages, of any version. Needs only standard Lisp.

(defpackage #:swank-client/any-names
  (:documentation "Names of code that may not be loaded, and of this library's own packages.")
  (:use #:common-lisp)
  (:export #:accessible-symbol #:call-if-loaded #:existing-symbols #:package-version #:runtime-package-p #:runtime-symbol-p
           #:symbol-if-loaded #:user-package #:value-if-bound #:value-if-loaded #:version-in-name #:version-symbols))

(in-package #:swank-client/any-names)

(defun user-package ()
  "The package COMMON-LISP-USER, in which a session begins; or COMMON-LISP, which code cannot delete, in an image without it.
WITH-STANDARD-IO-SYNTAX binds the former even if it was deleted."
  ;; compiled for this name, a call of FIND-PACKAGE would go on returning the deleted package
  (declare (notinline find-package))
  (let ((package (find-package "COMMON-LISP-USER")))
    (if (and package (package-name package)) package (symbol-package 'car))))

(declaim (inline accessible-symbol))

(defun accessible-symbol (name package)
  "=> the symbol NAME accessible in PACKAGE, and its status, or NIL if there is none. Interns nothing."
  (find-symbol name package))

(defun existing-symbols (names)
  "Those symbols of NAMES, ((PACKAGE NAME) ...), that exist in this SBCL."
  (loop for (package name) in names
        for symbol = (and (find-package package) (find-symbol name package))
        when symbol collect symbol))

(defun value-if-bound (symbol)
  "The value of the variable SYMBOL, or NIL if this SBCL has no such variable."
  (and symbol (boundp symbol) (symbol-value symbol)))

(defun symbol-if-loaded (package name)
  "The symbol NAME accessible in PACKAGE, or NIL if there is none."
  (and (find-package package) (find-symbol name package)))

(defun call-if-loaded (package name &rest arguments)
  "Call the function NAME of PACKAGE with ARGUMENTS if it exists."
  (let ((symbol (symbol-if-loaded package name)))
    (when (and symbol (fboundp symbol)) (apply symbol arguments))))

(defun value-if-loaded (package name)
  "The value of the variable NAME of PACKAGE, or NIL if there is no such variable."
  (value-if-bound (symbol-if-loaded package name)))

;;; The packages of this library. When a client loads it, their names end with its version.

(defun runtime-name-p (name)
  "True if NAME is that of a package of this library, of any version."
  (eql 0 (search "SWANK-CLIENT/" name)))

(defun runtime-package-p (package)
  "True if PACKAGE is one of this library's, of any version."
  (let ((name (package-name package)))
    (and name (or (runtime-name-p name) (string= name "SWANK-OBJECTS")))))

(defun version-in-name (name)
  "The version in NAME, of a package that a client has loaded, or NIL."
  (let ((start (length "SWANK-CLIENT/")))
    (and (runtime-name-p name)
         (let ((slash (position #\/ name :start start))) (and slash (subseq name (1+ slash)))))))

(defun package-version (package)
  "The version of this library to which PACKAGE belongs, or NIL."
  (let ((name (package-name package))) (and name (version-in-name name))))

(defun runtime-symbol-p (symbol)
  "True if SYMBOL belongs to this library, of any version."
  (and (symbol-package symbol) (runtime-package-p (symbol-package symbol))))

(defun version-symbols (package-name symbol-name)
  "The symbols named SYMBOL-NAME in PACKAGE-NAME, for every loaded version of this library.
When a client loads the library, package names end with the version."
  (loop with prefix = (concatenate 'string "SWANK-CLIENT/" package-name)
        with length = (length prefix)
        for package in (list-all-packages)
        for name = (package-name package)
        for symbol = (and (eql 0 (search prefix name))
                          (or (= (length name) length) (char= #\/ (char name length)))
                          (find-symbol symbol-name package))
        when symbol collect symbol))
