;;;; SBCL's internal objects for the commas in backquoted code. compat/sbcl.lisp exports the names.

(in-package #:swank-client/sbcl)

(defun comma-p (object)
  "True if OBJECT stands for a comma in backquoted code."
  (sb-impl::comma-p object))

(defun comma-form (comma)
  "The form after COMMA."
  (sb-impl::comma-expr comma))

(defun make-comma (form comma)
  "A comma of the kind of COMMA before FORM."
  (sb-impl::unquote form (sb-impl::comma-kind comma)))
