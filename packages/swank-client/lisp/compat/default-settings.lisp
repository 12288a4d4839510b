;;; Calls BODY under SBCL's default settings, whatever the image's user has set. Otherwise the stepper could enter our code, unsafe code
;;; would miss wrong arguments, and another number base would read other numbers. WITH-STANDARD-IO-SYNTAX binds the package COMMON-LISP-USER even
;;; if that was deleted.
;;; This is a form that is read in several packages, so every symbol names its package.
(cl:lambda (body)
  (cl:with-standard-io-syntax
    (cl:let ((cl:*package* (cl:symbol-package 'cl:car))
             (cl:*readtable* (cl:copy-readtable cl:nil))
             (cl:*print-readably* cl:nil)
             (cl:*break-on-signals* cl:nil)
             (cl:*macroexpand-hook* #'cl:funcall)
             (sb-ext:*evaluator-mode* :compile)
             (sb-ext:*derive-function-types* cl:nil)
             (sb-c::*policy* sb-c::**baseline-policy**)
             (sb-c::*macro-policy* cl:nil)
             (sb-c::*policy-min* cl:nil)
             (sb-c::*policy-max* cl:nil))
      (cl:funcall body))))
