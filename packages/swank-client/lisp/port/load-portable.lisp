;;; Loads the portable runtime of MARKER from TEXTS, unless it is loaded. => true if it is loaded now; otherwise the property :PROBLEM of MARKER is the
;;; text of an error. The form is read in a package that uses no other, so every symbol names its package.
(cl:lambda (marker texts)
  (cl:let ((cl:*package* (cl:find-package "COMMON-LISP-USER"))
           (cl:*readtable* (cl:copy-readtable cl:nil))
           (cl:*break-on-signals* cl:nil)
           (cl:*standard-output* (cl:make-broadcast-stream))
           (cl:*error-output* (cl:make-broadcast-stream))
           (cl:*load-verbose* cl:nil)
           (cl:*load-print* cl:nil)
           (cl:*compile-print* cl:nil)
           (cl:*compile-verbose* cl:nil))
    (cl:handler-case
        (cl:progn
          (cl:setf (cl:get marker :problem) cl:nil)
          (cl:unless (cl:get marker :ready)
            (cl:dolist (text texts)
              (cl:with-input-from-string (stream text) (cl:load stream))))
          (cl:get marker :ready))
      (cl:error (condition)
        (cl:setf (cl:get marker :problem) (cl:princ-to-string condition))
        cl:nil))))
