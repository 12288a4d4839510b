;;; Calls LOADER, which loads the runtime module of MARKER, unless the module is already loaded. => true if it is loaded now; otherwise the
;;; property :PROBLEM of MARKER is the text of an error, or NIL.
;;; Another client that needs the module waits until it is loaded. The lock is not the compiler's, so that the user's compilations never
;;; wait for a whole module.
;;; The form is read in a package that uses no other, so every symbol names its package. UNDER-DEFAULT-SETTINGS is the function in
;;; default-settings.lisp.
(cl:lambda (marker loader under-default-settings)
  (cl:handler-case
      (sb-thread:with-mutex ((sb-thread:with-recursive-lock (sb-kernel::**world-lock**)
                               (cl:or (cl:get marker :lock)
                                      (cl:setf (cl:get marker :lock)
                                               (sb-thread:make-mutex :name "swank-client module")))))
        (cl:unless (cl:get marker :ready)
          (cl:setf (cl:get marker :problem) cl:nil)
          (cl:let ((cl:*break-on-signals* cl:nil)
                   (cl:*standard-output* (cl:make-broadcast-stream))
                   (cl:*error-output* (cl:make-broadcast-stream))
                   (cl:*trace-output* (cl:make-broadcast-stream))
                   (cl:*load-verbose* cl:nil)
                   (cl:*load-print* cl:nil)
                   (cl:*compile-print* cl:nil)
                   (cl:*compile-verbose* cl:nil))
            (cl:funcall under-default-settings loader)))
        (cl:get marker :ready))
    (cl:error (condition)
      (cl:setf (cl:get marker :problem) (cl:princ-to-string condition))
      cl:nil)))
