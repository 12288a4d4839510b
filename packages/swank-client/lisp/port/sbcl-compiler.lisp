;;;; SBCL's reader, printer and compiler: commas in backquoted code, the printer's state, what the compiler is at work on, and what compiled
;;;; code records about its source.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-compiler
  (:documentation "SBCL's reader, printer and compiler, and what compiled code records about its source.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:existing-symbols)
  (:functions #:sb-c #:compiler-error-context-context #:compiler-error-context-file-name #:compiler-error-context-original-form
                     #:compiler-error-context-original-source-path #:debug-info-source #:debug-source-namestring #:debug-source-plist
                     #:file-info-external-format #:find-error-context #:source-info-file-info)
  (:functions #:sb-impl #:comma-expr #:comma-kind #:comma-p #:unquote)
  (:functions #:sb-int #:encapsulated-condition)
  (:variables #:sb-c #:*compiler-error-bailout* #:*policy-max* #:*policy-min* #:*source-info* #:*source-plist*)
  (:variables #:sb-fasl #:*fasl-file-type*)
  (:variables #:sb-impl #:*circularity-counter* #:*circularity-hash-table*)
  (:variables #:sb-kernel #:*current-level-in-print*)
  (:types #:sb-c #:compiler-error #:fatal-compiler-error)
  (:types #:sb-int #:encapsulated-condition)
  (:export #:*circularity-counter* #:*circularity-hash-table* #:*current-level-in-print* #:*fasl-file-type* #:*policy-max* #:*policy-min*
           #:*source-plist* #:comma-form #:comma-p #:compiled-definition #:compiled-form #:compiled-format #:compiled-from-file
           #:compiler-error #:continue-concatenated-stream #:debug-info-source #:debug-source-namestring #:debug-source-plist
           #:encapsulated-condition #:fatal-compiler-error #:make-comma #:note-for-compile #:skip-compiling))

(in-package #:swank-client/sbcl-compiler)

(defun comma-form (comma)
  "The form after COMMA."
  (comma-expr comma))

(defun make-comma (form comma)
  "A comma of the kind of COMMA before FORM."
  (unquote form (comma-kind comma)))

(defun continue-concatenated-stream (stream streams)
  "Make STREAM, a concatenated stream that is at its end, read STREAMS. It has dropped the streams that it has read."
  (let ((slot (find-if (lambda (name) (member (symbol-name name) '("STREAMS" "LIST") :test #'string=))
                       (mapcar #'sb-mop:slot-definition-name (sb-mop:class-slots (class-of stream))))))
    (when slot (setf (slot-value stream slot) streams))))

;;; The compiler

(defparameter *warnings-p-variable* (first (existing-symbols '(("SB-C" "*WARNINGS-P*"))))
  "The variable that becomes the second value of COMPILE.")

(defparameter *failure-p-variable* (first (existing-symbols '(("SB-C" "*FAILURE-P*"))))
  "The variable that becomes the third value of COMPILE.")

(defun note-for-compile (failure-p)
  "Make a COMPILE or COMPILE-FILE that runs report a warning, and also a failure if FAILURE-P. => false if none runs"
  (flet ((note (variable)
           (when (and variable (boundp variable)) (setf (symbol-value variable) t))))
    (when failure-p (note *failure-p-variable*))
    (note *warnings-p-variable*)))

(defun compiled-from-file ()
  "The file whose code the compiler reports on now, as a string or pathname, or NIL if that code is no file's."
  (let* ((context (find-error-context nil))
         (file (and context (compiler-error-context-file-name context))))
    (and (typep file '(or string pathname)) file)))

(defun compiled-format ()
  "The external format of the file that is compiled or loaded now, or NIL if it is not known."
  (let ((source (and (boundp '*source-info*) *source-info*)))
    (and source (file-info-external-format (source-info-file-info source)))))

(defun compiled-form ()
  "The form that the compiler reports on now, or NIL. => the form, and the path to it from the forms of its file or call of the compiler"
  (let ((context (find-error-context nil)))
    (and context
         (values (compiler-error-context-original-form context)
                 (reverse (compiler-error-context-original-source-path context))))))

(defun skip-compiling (error)
  "Continue compiling after the form that ERROR, a condition of the compiler, is about, with a call of ERROR in its place, as the compiler does
after it has printed ERROR. Does not return, unless no compiler runs"
  (when (boundp '*compiler-error-bailout*)
    (funcall *compiler-error-bailout* error)))

(defun compiled-definition ()
  "The definition that the compiler reports on now, such as (DEFUN NAME), or NIL."
  (let ((context (find-error-context nil)))
    (and context (first (compiler-error-context-context context)))))
