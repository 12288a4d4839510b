;;;; Images that we launched.

(defpackage #:swank-client/launch
  (:documentation "Runs an image that serves its parent process.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/process)
  (:export #:default-init-files
           #:load-init-file
           #:load-init-files
           #:load-runtime
           #:prepare-swank
           #:save-core
           #:serve
           #:share))
