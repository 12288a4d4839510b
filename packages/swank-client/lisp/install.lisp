;;; Loads a runtime module, unless it is there by then. Sent as a form, read in a package that uses nothing: every symbol names its own.
;;; The world lock is the compiler's own: whoever else installs meanwhile waits, and then finds the module.
;;; UNDER-DEFAULT-SETTINGS is the function of default-settings.lisp.
(cl:lambda (source marker under-default-settings)
  (cl:handler-case
      (sb-thread:with-recursive-lock (sb-kernel::**world-lock**)
        (cl:unless (cl:get marker :ready)
          (cl:let ((cl:*standard-output* (cl:make-broadcast-stream))
                   (cl:*error-output* (cl:make-broadcast-stream))
                   (cl:*trace-output* (cl:make-broadcast-stream))
                   (cl:*load-verbose* cl:nil)
                   (cl:*load-print* cl:nil)
                   (cl:*compile-print* cl:nil)
                   (cl:*compile-verbose* cl:nil))
            (cl:handler-bind ((cl:warning (cl:function cl:muffle-warning))
                              (sb-ext:compiler-note (cl:function cl:muffle-warning)))
              (cl:funcall under-default-settings
                          (cl:lambda () (cl:load (cl:make-string-input-stream source)))))))
        (cl:list :ok))
    (cl:error (condition)
      (cl:list :failed (cl:princ-to-string condition)))))
