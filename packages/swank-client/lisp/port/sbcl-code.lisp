;;;; What SBCL records about the files that code was compiled from. Loads ASDF, too, whose symbols the next file names.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (unless (find-package "ASDF") (swank-client/sbcl-system:require-part "asdf")))

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-code
  (:documentation "What SBCL records about the files that code was compiled from.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:import-from #:swank-client/sbcl-functions #:all-code #:functions-in #:method-code)
  (:import-from #:swank-client/sbcl-system #:require-part)
  (:import-from #:sb-alien #:slot)
  (:functions #:sb-c #:debug-info-source #:debug-source-created #:debug-source-namestring #:debug-source-plist
                     #:debug-source-start-positions #:fun-info-ir2-convert #:fun-info-templates #:map-packed-xref-data)
  (:functions #:sb-fasl #:load-as-fasl)
  (:functions #:sb-impl #:form-tracking-stream-form-start-char-pos)
  (:functions #:sb-int #:info #:legal-fun-name-p)
  (:functions #:sb-kernel #:%code-debug-info #:%fun-fun #:%fun-name #:%simple-fun-xrefs
                          #:dd-constructors #:dd-copier-name #:dd-predicate-name #:dd-slots #:dsd-accessor-name #:dsd-default #:dsd-name
                          #:dsd-read-only #:dsd-type #:find-defstruct-description #:fun-code-header)
  (:functions #:sb-pcl #:method-combination-type-name)
  (:variables #:sb-c #:*policy*)
  (:types #:sb-c #:compiled-debug-info)
  (:types #:sb-impl #:form-tracking-stream)
  (:export #:character-read #:code-created #:code-file #:code-start-positions #:function-code #:function-code-name #:function-code-source
           #:function-references-p #:function-uses-p #:lisp-functions-called #:lisps-method-code-p #:load-compiled-as #:map-code-sources
           #:method-code #:method-code-name #:method-code-source #:method-combination-name #:names-only-source-p #:structure-functions
           #:structure-slots))

(in-package #:swank-client/sbcl-code)

(defun code-file (source)
  "The native name of the file of SOURCE, a record about code, or NIL."
  (debug-source-namestring source))

(defun code-created (source)
  "The universal time at which the file of SOURCE had been written when it was compiled, or NIL."
  (debug-source-created source))

(defun code-start-positions (source)
  "A vector of the bytes at which the top-level forms of the file of SOURCE began when it was compiled, or NIL."
  (debug-source-start-positions source))

(defun source-of-code (code)
  "The record about the file of CODE, a code object, or NIL."
  (let ((record (%code-debug-info code)))
    (and (typep record 'compiled-debug-info) (debug-info-source record))))

(defun function-code (function)
  "The code object of FUNCTION, which other functions may share."
  (fun-code-header (%fun-fun function)))

(defun function-code-source (function)
  "The record about the file of FUNCTION, or NIL."
  (source-of-code (function-code function)))

(defun method-code-source (method)
  "The record about the file of METHOD, or NIL."
  (function-code-source (method-code method)))

(defun function-code-name (function)
  "The compiler's name of FUNCTION."
  (%fun-name function))

(defun lisps-method-code-p (method)
  "True if METHOD was compiled with SBCL itself, whose code has no date, or has no code of its own."
  (let ((source (method-code-source method)))
    (or (null source)
        (and (null (code-created source)) (null (debug-source-plist source))))))

(defparameter *method-combinations* (value-if-loaded "SB-PCL" "**METHOD-COMBINATIONS**")
  "SBCL's table of method combinations by name.")

(defun names-only-source-p (symbol)
  "True if SYMBOL is defined as something that gives it no function, value or type: a symbol macro, a variable without a value, a setf
expander or a method combination."
  (or (not (eq :unknown (info :variable :kind symbol)))
      (info :setf :expander symbol)
      (and (hash-table-p *method-combinations*) (gethash symbol *method-combinations*) t)))

(defun method-code-name (method)
  "The compiler's name of the function that runs METHOD."
  (function-code-name (method-code method)))

(defun function-references-p (function)
  "True if SBCL has recorded cross references of FUNCTION."
  (and (%simple-fun-xrefs (%fun-fun function)) t))

(defun function-uses-p (function names)
  "True if a cross reference of FUNCTION that SBCL has recorded is to one of NAMES."
  (let ((references (%simple-fun-xrefs (%fun-fun function))))
    (when references
      (map-packed-xref-data (lambda (kind name number)
                                   (declare (ignore kind number))
                                   (when (member name names :test #'equal) (return-from function-uses-p t)))
                                 references))))

(defparameter *calls-without-names-p* (and (find-symbol "LINKAGE-ADDR->NAME" "SB-VM") t)
  "True if code does not refer to the functions of Lisp itself that it calls, as in SBCL from 2.5.")

(defun replaced-function-p (name)
  "True if the compiler replaces calls of NAME, a function of Lisp itself, by other code."
  (let ((known (info :function :info name)))
    (or (info :function :source-transform name)
        (and known (or (fun-info-templates known) (fun-info-ir2-convert known))))))

(defun lisp-functions-called (function)
  "The names of functions of Lisp itself that FUNCTION calls, if its code does not refer to them: those in its cross references."
  (let ((references (and *calls-without-names-p* (%simple-fun-xrefs (%fun-fun function))))
        (names '()))
    (when references
      (map-packed-xref-data (lambda (kind name number)
                                   (declare (ignore number))
                                   (when (and (eq kind :calls)
                                              (symbolp name)
                                              (eq (symbol-package name) (find-package "COMMON-LISP"))
                                              (not (replaced-function-p name)))
                                     (pushnew name names)))
                                 references))
    names))

(defun current-code-p (code)
  "True if a function of CODE, a code object, is the definition of its name."
  (loop for function in (functions-in code)
        for name = (%fun-name function)
        thereis (and (legal-fun-name-p name)
                     (fboundp name)
                     (eq function (nil-on type-error (%fun-fun (fdefinition name)))))))

(defun map-code-sources (function)
  "Call FUNCTION with each record about a file with which code in the image was compiled, whether a definition uses that code, and the names of
the functions in it.
Code that was replaced stays in memory until garbage is collected."
  (dolist (code (all-code))
    (let ((source (source-of-code code)))
      ;; SBCL's own code, most of the image, has no date
      (when (and source (code-file source) (code-created source))
        (funcall function source (current-code-p code) (mapcar #'%fun-name (functions-in code)))))))

(defun character-read (condition)
  "The position in its file, in characters, at which reading the form began that CONDITION, a reader's error, is about; or NIL."
  (let ((stream (stream-error-stream condition)))
    (and (typep stream 'form-tracking-stream)
         (form-tracking-stream-form-start-char-pos stream))))

(defun load-compiled-as (fasl truename)
  "Load the file FASL as if it were TRUENAME. LOAD would bind the variables of its own file, and count as a load of the whole file."
  (with-open-file (stream fasl :element-type '(unsigned-byte 8))
    (let ((*package* *package*)
          (*readtable* *readtable*)
          (*load-pathname* truename)
          (*load-truename* truename)
          (*policy* *policy*))
      (load-as-fasl stream nil nil))))

(defun method-combination-name (generic-function)
  "The name of the method combination of GENERIC-FUNCTION."
  (method-combination-type-name (sb-mop:generic-function-method-combination generic-function)))

(defun structure-functions (name)
  "The names of the functions that the structure NAME defines: constructors, accessors, the predicate and the copier."
  (let ((description (find-defstruct-description name)))
    (remove nil (append (list (dd-predicate-name description) (dd-copier-name description))
                        (loop for constructor in (dd-constructors description)
                              collect (if (consp constructor) (first constructor) constructor))
                        (mapcar #'dsd-accessor-name (dd-slots description))))))

(defun structure-slots (name)
  "((SLOT ACCESSOR TYPE DEFAULT READ-ONLY) ...) of the structure NAME, the inherited slots first."
  (loop for slot in (dd-slots (find-defstruct-description name))
        collect (list (dsd-name slot) (dsd-accessor-name slot) (dsd-type slot)
                      (dsd-default slot) (dsd-read-only slot))))
