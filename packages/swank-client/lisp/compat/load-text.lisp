;;; Loads a runtime module unless it is already loaded. The form is read in a package that uses no other, so every symbol names its package.
;;; It holds the world lock, which is the compiler's: another client that installs the module waits, and then finds it loaded.
;;; UNDER-DEFAULT-SETTINGS is the function in default-settings.lisp.
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
            (cl:funcall under-default-settings
                        (cl:lambda ()
                          ;; one unit, because functions are used before they are defined
                          (cl:with-compilation-unit ()
                            (cl:load (cl:make-string-input-stream source)))))))
        (cl:list :ok))
    (cl:error (condition)
      (cl:list :failed (cl:princ-to-string condition)))))
