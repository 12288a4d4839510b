;;; Calls BODY under the settings that SBCL starts with, whatever the image's user has set: code of ours that is compiled for stepping
;;; would be stepped into, unsafe code does not notice wrong arguments, and another number base reads other numbers.
;;; A form, read wherever it is needed: every symbol names its package.
(cl:lambda (body)
  (cl:with-standard-io-syntax
    (cl:let ((cl:*readtable* (cl:copy-readtable cl:nil))
             (cl:*print-readably* cl:nil)
             (cl:*break-on-signals* cl:nil)
             (sb-ext:*evaluator-mode* :compile)
             (sb-c::*policy* sb-c::**baseline-policy**)
             (sb-c::*macro-policy* cl:nil)
             (sb-c::*policy-min* cl:nil)
             (sb-c::*policy-max* cl:nil))
      (cl:funcall body))))
