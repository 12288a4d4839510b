;;; The first form of a compiled module. Loading it signals an error in an image that differs from the one that compiled it in anything that
;;; the compiler copies into the code: SBCL, the version of Swank, the slots of Swank's structures, and the expansion of its macros.
(cl:macrolet ((check-same (cl:&rest forms)
                `(cl:progn
                   ,@(cl:mapcar (cl:lambda (form)
                                  `(cl:unless (cl:equal ,form ',(cl:eval form))
                                     (cl:error "It was compiled for another Lisp.")))
                                forms))))
  (check-same
   (cl:lisp-implementation-version)
   (cl:ignore-errors (cl:file-write-date sb-ext:*runtime-pathname*))
   swank::*swank-wire-protocol-version*
   (cl:prin1-to-string (cl:macroexpand-1 '(swank::with-connection (connection) body)))
   (cl:mapcar (cl:lambda (name)
                (cl:let ((structure (sb-kernel:find-defstruct-description name cl:nil)))
                  (cl:and structure
                          (cl:mapcar (cl:lambda (slot)
                                       (cl:list (cl:symbol-name (sb-kernel:dsd-name slot)) (sb-kernel:dsd-index slot)))
                                     (sb-kernel:dd-slots structure)))))
              '(swank::connection swank::singlethreaded-connection swank::multithreaded-connection swank/sbcl::mailbox))))
