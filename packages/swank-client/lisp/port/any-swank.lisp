;;;; The symbols of Swank, apart from its backend for SBCL, that the library uses: a package for each subject. Names that differ between versions of
;;;; Swank are looked up once, when this file is loaded.

(defpackage #:swank-client/swank-requests
  (:documentation "Requests to Swank, and its messages.")
  (:use #:common-lisp)
  (:import-from #:swank #:*buffer-package* #:*log-output* #:*pending-continuations* #:*send-counter* #:*slime-interrupts-enabled*
                        #:*swank-io-package* #:call/truncated-output-to-string #:current-socket-io #:current-thread-id #:dispatch-event
                        #:encode-message #:eval-for-emacs #:invoke-or-queue-interrupt #:make-tag #:nth-thread #:ping-pong #:send
                        #:send-to-emacs #:wait-for-event #:wake-thread)
  (:export #:*buffer-package* #:*log-output* #:*pending-continuations* #:*send-counter* #:*slime-interrupts-enabled* #:*swank-io-package*
           #:call/truncated-output-to-string #:current-socket-io #:current-thread-id #:dispatch-event #:encode-message #:eval-for-emacs
           #:invoke-or-queue-interrupt #:make-tag #:nth-thread #:ping-pong #:send #:send-to-emacs #:wait-for-event #:wake-thread))

(defpackage #:swank-client/swank-messages
  (:documentation "How Swank reads messages.")
  (:use #:common-lisp)
  (:import-from #:swank/rpc #:read-form #:read-message #:read-packet #:swank-reader-error)
  (:export #:form-of-packet #:read-message #:read-packet #:swank-reader-error))

(in-package #:swank-client/swank-messages)

(defun form-of-packet (packet package)
  "The form in the text PACKET, read in PACKAGE."
  (values (read-form packet package)))

(defpackage #:swank-client/swank-debugger
  (:documentation "Swank's debugger.")
  (:use #:common-lisp)
  (:import-from #:swank #:*sldb-condition-printer* #:*sldb-initial-frames* #:*sldb-level* #:*sldb-quit-restart* #:*sldb-restarts*
                        #:*sldb-stepping-p* #:*swank-debugger-condition* #:debug-in-emacs #:invoke-default-debugger #:invoke-slime-debugger
                        #:swank-debugger-hook)
  (:export #:*sldb-condition-printer* #:*sldb-initial-frames* #:*sldb-level* #:*sldb-quit-restart* #:*sldb-restarts* #:*sldb-stepping-p*
           #:*swank-debugger-condition* #:debug-in-emacs #:invoke-default-debugger #:invoke-slime-debugger #:swank-debugger-hook))

(defpackage #:swank-client/swank-inspector
  (:documentation "Swank's inspector.")
  (:use #:common-lisp)
  (:import-from #:swank #:*inspector-history* #:*istate* #:content-range #:emacs-inspect/istate #:istate.actions #:istate.content
                        #:istate.object #:istate.parts #:make-istate #:prepare-part)
  (:export #:*inspector-history* #:*istate* #:content-range #:emacs-inspect/istate #:istate.actions #:istate.content #:istate.object
           #:istate.parts #:make-istate #:prepare-part))

(defpackage #:swank-client/swank-connections
  (:documentation "Swank's connections.")
  (:use #:common-lisp)
  (:import-from #:swank #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:*new-connection-hook* #:close-connection
                        #:close-connection% #:connection.socket-io #:connection.user-input #:connection.user-io #:connection.user-output
                        #:default-connection #:mconn.control-thread #:mconn.indentation-cache-thread #:mconn.reader-thread
                        #:multithreaded-connection #:safe-backtrace #:sync-indentation-to-emacs #:with-connection)
  (:export #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:*new-connection-hook* #:close-connection #:close-connection%
           #:connection-lock #:connection.socket-io #:connection.user-input #:connection.user-io #:connection.user-output
           #:default-connection #:further-guards #:mconn.control-thread #:mconn.indentation-cache-thread #:mconn.reader-thread
           #:multithreaded-connection #:repl-symbol #:safe-backtrace #:sync-indentation-except #:sync-indentation-to-emacs #:with-connection))

(in-package #:swank-client/swank-connections)

(defparameter *connection-lock-variable* (find-symbol "*CONNECTION-LOCK*" "SWANK")
  "The variable for the lock that guards the list of connections, from Swank 2.30 on. Before, one of Swank's threads owns the list.")

(defun connection-lock ()
  "The lock that guards the list of connections, or NIL."
  (let ((variable *connection-lock-variable*))
    (and variable (boundp variable) (symbol-value variable))))

(defun repl-symbol (name)
  "The symbol NAME of Swank's REPL, or NIL if the REPL is not loaded. It can be loaded at any time."
  (let ((package (find-package "SWANK-REPL")))
    (and package (find-symbol name package))))

(defun further-guards (connection)
  "((NAME . FUNCTION) ...) of the functions to encapsulate for CONNECTION besides those of every server: none in Swank."
  (declare (ignore connection))
  '())

;;; Indentation rules

(defun sync-indentation-except (connection &optional (synchronize #'sync-indentation-to-emacs))
  "Send the indentation rules of new macros to *EMACS-CONNECTION*, by calling SYNCHRONIZE, unless that is CONNECTION, of this library.
Each new package makes Swank compute these rules for 40 ms and send 40 kB of them, which only editors need"
  (unless (eq *emacs-connection* connection) (funcall synchronize)))

(defpackage #:swank-client/swank-servers
  (:documentation "Swank's servers.")
  (:use #:common-lisp)
  (:import-from #:swank #:*event-history* #:*event-history-index* #:*pre-reply-hook* #:accept-connection #:add-hook #:create-socket #:init
                        #:init-log-output #:local-port #:make-connection #:serve-requests)
  (:export #:*event-history* #:*event-history-index* #:*pre-reply-hook* #:accept-connection #:add-hook #:add-server #:create-socket #:init
           #:init-log-output #:keep-from-children #:local-port #:make-connection #:serve-requests #:start-sentinel))

(in-package #:swank-client/swank-servers)

(defun keep-from-children (descriptor)
  "Close DESCRIPTOR in programs that the image runs. Otherwise they would keep the connection open after the image ends."
  #+sbcl (sb-posix:fcntl descriptor sb-posix:f-setfd 1)
  #-sbcl descriptor)

;;; Up to Swank 2.28 a thread of Swank, the sentinel, owns the lists of connections and servers.

(defun start-sentinel ()
  "Start the sentinel in a Swank that has one."
  (let ((function (find-symbol "START-SENTINEL" "SWANK")))
    (when function (funcall function))))

(defun add-server (socket port thread)
  "Register with SWANK:STOP-SERVER the server in THREAD, which listens on SOCKET, at PORT."
  (let ((function (find-symbol "ADD-SERVER" "SWANK")))
    (if (and function (fboundp function))
        (funcall function socket port thread)
        (funcall (find-symbol "SEND-TO-SENTINEL" "SWANK") (list :add-server socket port thread)))))
