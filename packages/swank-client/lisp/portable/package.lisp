;;;; The runtime for Lisps other than SBCL: plain Common Lisp, and Swank. It has functions of the same names as SBCL's runtime, with the same arguments
;;;; and replies, as far as these Lisps can do it.

(defpackage #:swank-client/portable
  (:documentation "Evaluations, stops and questions about code in a Lisp other than SBCL. The client calls the exported functions.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-debuggers #:bare-call #:call-telling-warnings #:call-with-debugger-hook #:compiler-error-p #:compiler-message
                                             #:evaluate-in-frame #:implementation-package-p #:machinery-p)
  (:import-from #:swank-client/any-exits #:guard-exits #:unguard-exits)
  (:import-from #:swank-client/any-files #:+utf-8+ #:call-with-private-folder)
  (:import-from #:swank-client/any-lisp #:current-folder #:make-lock #:or-nil #:with-lock)
  (:import-from #:swank-client/any-names #:accessible-symbol #:user-package)
  (:import-from #:swank-client/swank-connections #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:close-connection%
                                                 #:connection.socket-io #:with-connection)
  (:import-from #:swank-client/swank-debugger #:*sldb-level* #:*sldb-quit-restart* #:*sldb-restarts* #:*swank-debugger-condition*
                                              #:invoke-slime-debugger)
  (:import-from #:swank-client/swank-messages #:form-of-packet #:read-message #:read-packet #:swank-reader-error)
  (:import-from #:swank-client/swank-requests #:*buffer-package* #:call/truncated-output-to-string #:send-to-emacs)
  (:export #:abort-evaluation #:abort-stop #:apropos-names #:at-stop #:attach #:begin-session #:compile-code #:continue-stop #:describe-name
           #:end-attempt #:eval-in-frame #:evaluate #:frame-locals #:frames #:interrupt #:invoke-offered-restart #:kill #:list-threads
           #:macroexpand-code #:reset #:restart-frame #:return-from-frame #:stop #:stop-identity))
