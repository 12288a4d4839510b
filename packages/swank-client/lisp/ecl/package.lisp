;;;; Images of ECL that we launched. The package has the name and the functions of that for SBCL.

(defpackage #:swank-client/launch
  (:documentation "Runs an image that serves its parent process.")
  (:use #:common-lisp #:swank-client/ecl-system)
  (:import-from #:swank-client/any-lisp #:make-lock #:with-lock)
  (:import-from #:swank-client/any-names #:version-symbols)
  (:import-from #:swank-client/swank-connections #:*connection-closed-hook*)
  (:import-from #:swank-client/swank-servers #:accept-connection #:add-hook #:add-server #:create-socket #:init #:init-log-output #:local-port
                                             #:make-connection #:serve-requests #:start-sentinel)
  (:export #:default-init-files #:load-init-file #:load-init-files #:serve #:share))
