;;; Calls BODY under SBCL's default settings, whatever the image's user has set. Otherwise the stepper could enter our code, unsafe code
;;; would miss wrong arguments, and another number base would read other numbers. WITH-STANDARD-IO-SYNTAX binds the package COMMON-LISP-USER even
;;; if that was deleted.
;;; This is a form that is read in several packages, so every symbol names its package. What SBCL lacks need not be bound.
(cl:lambda (body)
  (cl:with-standard-io-syntax
    (cl:let ((cl:*package* (cl:symbol-package 'cl:car))
             (cl:*readtable* (cl:copy-readtable cl:nil))
             (cl:*print-readably* cl:nil)
             (cl:*break-on-signals* cl:nil)
             (cl:*macroexpand-hook* #'cl:funcall)
             (cl:*default-pathname-defaults* (cl:make-pathname))
             (sb-ext:*evaluator-mode* :compile)
             (sb-ext:*derive-function-types* cl:nil)
             (variables (cl:remove cl:nil (cl:mapcar (cl:lambda (name) (cl:find-symbol name "SB-C"))
                                                     '("*POLICY*" "*MACRO-POLICY*" "*POLICY-MIN*" "*POLICY-MAX*"))))
             (baseline (cl:find-symbol "**BASELINE-POLICY**" "SB-C")))
      (cl:progv variables
          (cl:mapcar (cl:lambda (variable)
                       (cl:when (cl:string= "*POLICY*" variable)
                         (cl:if baseline (cl:symbol-value baseline) (cl:symbol-value variable))))
                     variables)
        ;; those that our code asks for; loading a part of SBCL adds others, for good
        (cl:progv (cl:if (cl:member :sbcl cl:*features*) '() '(cl:*features*))
            (cl:list (cl:list* :sbcl
                               :sb-thread
                               (cl:append (cl:mapcar (cl:lambda (name) (cl:intern (cl:string-upcase name) "KEYWORD"))
                                                     (cl:list (cl:machine-type) (cl:software-type)))
                                          cl:*features*)))
          (cl:funcall body))))))
