;;;; Images that we launched.

(defpackage #:swank-client/launch
  (:documentation "Runs an image that serves its parent process.")
  (:use #:common-lisp #:swank-client/sbcl-system #:swank-client/swank-servers)
  (:import-from #:swank-client/any-names #:call-if-loaded)
  (:import-from #:swank-client/sbcl-calls #:keep-called-by-name)
  (:import-from #:swank-client/swank-requests #:*log-output* #:*swank-io-package*)
  (:import-from #:swank-client/swank-connections #:*connection-closed-hook* #:sync-indentation-except #:sync-indentation-to-emacs)
  (:import-from #:swank-client/sbcl-swank #:definition-source-for-emacs #:emacs-buffer-source-location)
  (:import-from #:swank-client/process #:+socket+ #:close-inherited)
  (:export #:default-init-files #:load-init-file #:load-init-files #:load-runtime #:prepare-swank #:save-core #:serve #:share))
