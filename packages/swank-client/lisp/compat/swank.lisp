;;;; The internal symbols of Swank that the library uses. No other file names them. Names that differ between versions of Swank are looked up
;;;; once, when this file is loaded.

(defpackage #:swank-client/swank
  (:documentation "Internal functions and variables of Swank that the library uses.")
  (:use #:common-lisp)
  ;; connections
  (:import-from #:swank #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:*new-connection-hook* #:close-connection #:close-connection%
                #:connection.socket-io #:connection.user-input #:connection.user-io #:connection.user-output #:default-connection
                #:mconn.control-thread #:mconn.indentation-cache-thread #:mconn.reader-thread #:multithreaded-connection #:with-connection)
  ;; requests and messages
  (:import-from #:swank #:*buffer-package* #:*log-output* #:*pending-continuations* #:*send-counter* #:*slime-interrupts-enabled*
                #:*swank-io-package* #:call/truncated-output-to-string #:current-socket-io #:current-thread-id #:dispatch-event
                #:encode-message #:eval-for-emacs #:invoke-or-queue-interrupt #:make-tag #:nth-thread #:ping-pong #:send #:send-to-emacs
                #:wait-for-event #:wake-thread)
  ;; the debugger
  (:import-from #:swank #:*sldb-condition-printer* #:*sldb-initial-frames* #:*sldb-level* #:*sldb-quit-restart* #:*sldb-restarts*
                #:*sldb-stepping-p* #:*swank-debugger-condition* #:debug-in-emacs #:invoke-default-debugger #:invoke-slime-debugger
                #:swank-debugger-hook)
  ;; the inspector
  (:import-from #:swank #:*inspector-history* #:*istate* #:content-range #:emacs-inspect/istate #:make-istate)
  ;; servers
  (:import-from #:swank #:*event-history* #:*event-history-index* #:*pre-reply-hook* #:accept-connection #:add-hook #:create-socket
                #:init #:init-log-output #:local-port #:make-connection #:serve-requests #:sync-indentation-to-emacs)
  ;; Swank's backend for SBCL
  (:import-from #:swank/sbcl #:*mailboxes* #:*sldb-stack-top* #:definition-source-for-emacs #:emacs-buffer-source-location
                #:mailbox.mutex #:mailbox.queue #:mailbox.thread #:nth-frame)
  (:export #:*buffer-package*
           #:*connection-closed-hook*
           #:*connections*
           #:*emacs-connection*
           #:*event-history*
           #:*event-history-index*
           #:*inspector-history*
           #:*istate*
           #:*log-output*
           #:*mailboxes*
           #:*new-connection-hook*
           #:*pending-continuations*
           #:*pre-reply-hook*
           #:*send-counter*
           #:*sldb-condition-printer*
           #:*sldb-initial-frames*
           #:*sldb-level*
           #:*sldb-quit-restart*
           #:*sldb-restarts*
           #:*sldb-stack-top*
           #:*sldb-stepping-p*
           #:*slime-interrupts-enabled*
           #:*swank-debugger-condition*
           #:*swank-io-package*
           #:accept-connection
           #:add-hook
           #:add-server
           #:call/truncated-output-to-string
           #:close-connection
           #:close-connection%
           #:connection-lock
           #:connection.socket-io
           #:connection.user-input
           #:connection.user-io
           #:connection.user-output
           #:content-range
           #:create-socket
           #:current-socket-io
           #:current-thread-id
           #:debug-in-emacs
           #:default-connection
           #:definition-source-for-emacs
           #:dispatch-event
           #:emacs-buffer-source-location
           #:emacs-inspect/istate
           #:encode-message
           #:eval-for-emacs
           #:init
           #:init-log-output
           #:invoke-default-debugger
           #:invoke-or-queue-interrupt
           #:invoke-slime-debugger
           #:local-port
           #:mailbox-lock
           #:mailbox.mutex
           #:mailbox.queue
           #:mailbox.thread
           #:make-connection
           #:make-istate
           #:make-tag
           #:mconn.control-thread
           #:mconn.indentation-cache-thread
           #:mconn.reader-thread
           #:multithreaded-connection
           #:nth-frame
           #:nth-thread
           #:ping-pong
           #:repl-symbol
           #:send
           #:send-to-emacs
           #:serve-requests
           #:start-sentinel
           #:swank-debugger-hook
           #:sync-indentation-except
           #:sync-indentation-to-emacs
           #:wait-for-event
           #:wake-thread
           #:with-connection))

(in-package #:swank-client/swank)

(defparameter *connection-lock-variable* (find-symbol "*CONNECTION-LOCK*" "SWANK")
  "The variable for the lock that guards the list of connections, from Swank 2.30 on. Before, one of Swank's threads owns the list.")

(defun connection-lock ()
  "The lock that guards the list of connections, or NIL."
  (let ((variable *connection-lock-variable*))
    (and variable (boundp variable) (symbol-value variable))))

(defparameter *mailbox-lock-variable* (find-symbol "*MAILBOX-LOCK*" "SWANK/SBCL")
  "The variable for the lock that guards the list of mailboxes.")

(defun mailbox-lock ()
  "The lock that guards the list of mailboxes, or NIL."
  (let ((variable *mailbox-lock-variable*))
    (and variable (boundp variable) (symbol-value variable))))

(defun repl-symbol (name)
  "The symbol NAME of Swank's REPL, or NIL if the REPL is not loaded. It can be loaded at any time."
  (let ((package (find-package "SWANK-REPL")))
    (and package (find-symbol name package))))

;;; Indentation rules

(defun sync-indentation-except (connection &optional (synchronize #'sync-indentation-to-emacs))
  "Send the indentation rules of new macros to *EMACS-CONNECTION*, by calling SYNCHRONIZE, unless that is CONNECTION, of this library.
Each new package makes Swank compute these rules for 40 ms and send 40 kB of them, which only editors need"
  (unless (eq *emacs-connection* connection) (funcall synchronize)))

;;; Servers. Up to Swank 2.28 a thread of Swank, the sentinel, owns the lists of connections and servers.

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
