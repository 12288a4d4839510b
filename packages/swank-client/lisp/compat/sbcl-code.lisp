;;;; What SBCL records about the files that code was compiled from. These are internals of SBCL.

(defpackage #:swank-client/sbcl-code
  (:documentation "What SBCL records about the files that code was compiled from.")
  (:use #:common-lisp #:swank-client/sbcl)
  (:export #:character-read
           #:code-created
           #:code-file
           #:code-start-positions
           #:function-code
           #:function-code-name
           #:function-code-source
           #:function-references-p
           #:function-uses-p
           #:lisp-functions-called
           #:lisps-method-code-p
           #:load-compiled-as
           #:map-code-sources
           #:method-code
           #:method-code-name
           #:method-code-source
           #:method-combination-name
           #:names-only-source-p
           #:structure-functions
           #:structure-slots))

(in-package #:swank-client/sbcl-code)

(defun code-file (source)
  "The native name of the file of SOURCE, a record about code, or NIL."
  (debug-source-namestring source))

(defun code-created (source)
  "The universal time at which the file of SOURCE had been written when it was compiled, or NIL."
  (sb-c::debug-source-created source))

(defun code-start-positions (source)
  "A vector of the bytes at which the top-level forms of the file of SOURCE began when it was compiled, or NIL."
  (sb-c::debug-source-start-positions source))

(defun code-source (code)
  "The record about the file of CODE, a code object, or NIL."
  (let ((info (sb-kernel:%code-debug-info code)))
    (and (typep info 'sb-c::compiled-debug-info) (debug-info-source info))))

(defun function-code (function)
  "The code object of FUNCTION, which other functions may share."
  (sb-kernel:fun-code-header (sb-kernel:%fun-fun function)))

(defun function-code-source (function)
  "The record about the file of FUNCTION, or NIL."
  (code-source (function-code function)))

(defun method-code (method)
  "The function that runs METHOD."
  (or (%method-function-fast-function (sb-mop:method-function method)) (sb-mop:method-function method)))

(defun method-code-source (method)
  "The record about the file of METHOD, or NIL."
  (function-code-source (method-code method)))

(defun function-code-name (function)
  "The compiler's name of FUNCTION."
  (sb-kernel:%fun-name function))

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
  (or (not (eq :unknown (sb-int:info :variable :kind symbol)))
      (sb-int:info :setf :expander symbol)
      (and (hash-table-p *method-combinations*) (gethash symbol *method-combinations*) t)))

(defun method-code-name (method)
  "The compiler's name of the function that runs METHOD."
  (function-code-name (method-code method)))

(defun function-references-p (function)
  "True if SBCL has recorded cross references of FUNCTION."
  (and (sb-kernel:%simple-fun-xrefs (sb-kernel:%fun-fun function)) t))

(defun function-uses-p (function names)
  "True if a cross reference of FUNCTION that SBCL has recorded is to one of NAMES."
  (let ((references (sb-kernel:%simple-fun-xrefs (sb-kernel:%fun-fun function))))
    (when references
      (sb-c:map-packed-xref-data (lambda (kind name number)
                                   (declare (ignore kind number))
                                   (when (member name names :test #'equal) (return-from function-uses-p t)))
                                 references))))

(defparameter *calls-without-names-p* (and (find-symbol "LINKAGE-ADDR->NAME" "SB-VM") t)
  "True if code does not refer to the functions of Lisp itself that it calls, as in SBCL from 2.5.")

(defun replaced-function-p (name)
  "True if the compiler replaces calls of NAME, a function of Lisp itself, by other code."
  (let ((info (sb-int:info :function :info name)))
    (or (sb-int:info :function :source-transform name)
        (and info (or (sb-c::fun-info-templates info) (sb-c::fun-info-ir2-convert info))))))

(defun lisp-functions-called (function)
  "The names of functions of Lisp itself that FUNCTION calls, if its code does not refer to them: those in its cross references."
  (let ((references (and *calls-without-names-p* (sb-kernel:%simple-fun-xrefs (sb-kernel:%fun-fun function))))
        (names '()))
    (when references
      (sb-c:map-packed-xref-data (lambda (kind name number)
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
  (loop for index below (sb-kernel:code-n-entries code)
        for function = (sb-kernel:%code-entry-point code index)
        for name = (sb-kernel:%fun-name function)
        thereis (and (sb-int:legal-fun-name-p name)
                     (fboundp name)
                     (eq function (ignore-errors (sb-kernel:%fun-fun (fdefinition name)))))))

(defun code-names (code)
  "The names of the functions in CODE, a code object."
  (loop for index below (sb-kernel:code-n-entries code)
        collect (sb-kernel:%fun-name (sb-kernel:%code-entry-point code index))))

(defun map-code-sources (function)
  "Call FUNCTION with each record about a file with which code in the image was compiled, whether a definition uses that code, and the names of
the functions in it.
Code that was replaced stays in memory until garbage is collected."
  (let ((dated '()))
    ;; without garbage collections
    (sb-vm:map-code-objects
     (lambda (code)
       (let ((source (code-source code)))
         ;; SBCL's own code, most of the image, has no date
         (when (and source (code-file source) (code-created source)) (push code dated)))))
    (dolist (code dated)
      (funcall function (code-source code) (current-code-p code) (code-names code)))))

(defun character-read (condition)
  "The position in its file, in characters, at which reading the form began that CONDITION, a reader's error, is about; or NIL."
  (let ((stream (stream-error-stream condition)))
    (and (typep stream 'sb-impl::form-tracking-stream)
         (sb-impl::form-tracking-stream-form-start-char-pos stream))))

(defun load-compiled-as (fasl truename)
  "Load the file FASL as if it were TRUENAME. LOAD would bind the variables of its own file, and count as a load of the whole file."
  (with-open-file (stream fasl :element-type '(unsigned-byte 8))
    (let ((*package* *package*)
          (*readtable* *readtable*)
          (*load-pathname* truename)
          (*load-truename* truename)
          (sb-c::*policy* sb-c::*policy*))
      (sb-fasl::load-as-fasl stream nil nil))))

(defun method-combination-name (generic-function)
  "The name of the method combination of GENERIC-FUNCTION."
  (sb-pcl::method-combination-type-name (sb-mop:generic-function-method-combination generic-function)))

(defun structure-functions (name)
  "The names of the functions that the structure NAME defines: constructors, accessors, the predicate and the copier."
  (let ((description (sb-kernel:find-defstruct-description name)))
    (remove nil (append (list (sb-kernel::dd-predicate-name description) (sb-kernel::dd-copier-name description))
                        (loop for constructor in (sb-kernel:dd-constructors description)
                              collect (if (consp constructor) (first constructor) constructor))
                        (mapcar #'sb-kernel:dsd-accessor-name (sb-kernel:dd-slots description))))))

(defun structure-slots (name)
  "((SLOT ACCESSOR TYPE DEFAULT READ-ONLY) ...) of the structure NAME, the inherited slots first."
  (loop for slot in (sb-kernel:dd-slots (sb-kernel:find-defstruct-description name))
        collect (list (sb-kernel:dsd-name slot) (sb-kernel:dsd-accessor-name slot) (sb-kernel:dsd-type slot)
                      (sb-kernel::dsd-default slot) (sb-kernel:dsd-read-only slot))))
