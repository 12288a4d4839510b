;;;; What the library uses of Slynk, SLY's server, in place of any-swank.lisp: Slynk's symbols, and what Slynk does not have as Swank has it.

(defpackage #:swank-client/swank-requests
  (:documentation "Requests to Slynk, and its messages.")
  (:use #:common-lisp)
  (:import-from #:slynk #:*buffer-package* #:*log-output* #:*pending-continuations* #:*send-counter* #:*slynk-io-package*
                        #:*sly-interrupts-enabled* #:call/truncated-output-to-string #:current-socket-io #:current-thread-id
                        #:dispatch-event #:encode-message #:eval-for-emacs #:invoke-or-queue-interrupt #:make-tag #:nth-thread
                        #:ping-pong #:send #:send-to-emacs #:wait-for-event #:wake-thread)
  (:export #:*buffer-package* #:*log-output* #:*pending-continuations* #:*send-counter* #:*slynk-io-package* #:*sly-interrupts-enabled*
           #:call/truncated-output-to-string #:current-socket-io #:current-thread-id #:dispatch-event #:encode-message #:eval-for-emacs
           #:invoke-or-queue-interrupt #:make-tag #:nth-thread #:ping-pong #:send #:send-to-emacs #:wait-for-event #:wake-thread))

(defpackage #:swank-client/swank-debugger
  (:documentation "Slynk's debugger.")
  (:use #:common-lisp)
  (:import-from #:slynk #:*sly-db-condition-printer* #:*sly-db-initial-frames* #:*sly-db-level* #:*sly-db-quit-restart*
                        #:*sly-db-restarts* #:*sly-db-stepping-p* #:*slynk-debugger-condition* #:debug-in-emacs
                        #:invoke-default-debugger #:invoke-sly-debugger #:slynk-debugger-hook)
  (:export #:*sly-db-condition-printer* #:*sly-db-initial-frames* #:*sly-db-level* #:*sly-db-quit-restart* #:*sly-db-restarts*
           #:*sly-db-stepping-p* #:*slynk-debugger-condition* #:debug-in-emacs #:invoke-default-debugger #:invoke-sly-debugger
           #:slynk-debugger-hook))

(defpackage #:swank-client/swank-inspector
  (:documentation "Slynk's inspector, as Swank has it.")
  (:use #:common-lisp)
  (:import-from #:slynk #:content-range #:istate.actions #:istate.content #:istate.object #:istate.parts #:make-istate)
  (:export #:*inspector-history* #:*istate* #:content-range #:emacs-inspect/istate #:istate.actions #:istate.content #:istate.object
           #:istate.parts #:make-istate #:prepare-part))

(in-package #:swank-client/swank-inspector)

(defvar *istate* nil "The state of the inspector in use.")

(defvar *inspector-history* (vector) "What Swank numbers in the texts of parts. Slynk's inspectors have each their own.")

(defun call-with-inspector (state function)
  "Call FUNCTION while STATE is that of Slynk's inspector. The inspector is in no connection's list, in which clients find those that they name."
  (let ((inspector (allocate-instance (find-class 'slynk::inspector)))
        (history (make-array 1 :adjustable t :fill-pointer 1 :initial-element state)))
    (shared-initialize inspector t :name "swank-client")
    (setf (slot-value inspector 'slynk::history) history)
    (progv '(slynk::*current-inspector* slynk::*target-inspector*) (list inspector inspector)
      (funcall function))))

(defun emacs-inspect/istate (state)
  "The content of the page of STATE's object."
  (call-with-inspector state (lambda () (slynk-backend:emacs-inspect (istate.object state)))))

(defun prepare-part (part state)
  "The pieces of PART, of the content of STATE."
  (call-with-inspector state (lambda () (slynk::prepare-part part state))))

(defpackage #:swank-client/swank-connections
  (:documentation "Slynk's connections, as Swank has them.")
  (:use #:common-lisp)
  (:import-from #:slynk #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:*new-connection-hook* #:close-connection
                        #:close-connection% #:default-connection #:mconn.control-thread #:mconn.indentation-cache-thread
                        #:mconn.reader-thread #:multithreaded-connection #:safe-backtrace #:sync-indentation-to-emacs #:with-connection)
  (:export #:*connection-closed-hook* #:*connections* #:*emacs-connection* #:*new-connection-hook* #:close-connection #:close-connection%
           #:connection-lock #:connection.socket-io #:connection.user-input #:connection.user-io #:connection.user-output
           #:default-connection #:further-guards #:mconn.control-thread #:mconn.indentation-cache-thread #:mconn.reader-thread
           #:multithreaded-connection #:repl-symbol #:safe-backtrace #:sync-indentation-except #:sync-indentation-to-emacs #:with-connection))

(in-package #:swank-client/swank-connections)

(defun connection-lock ()
  "NIL: a thread of Slynk, the sentinel, owns the list of connections."
  nil)

(defun connection.socket-io (connection)
  "The stream of CONNECTION's socket."
  (slynk::connection-socket-io connection))

(defun repl-symbol (name)
  "NIL: Slynk's REPLs are channels, and a request cannot name the thread of one; when one closes, Slynk restores the output that it got."
  (declare (ignore name))
  nil)

;;; The streams of a connection. Slynk's belong to listeners, one for each REPL.

(defun own-streams ()
  "A table of the output streams of this library's connections, for all its versions."
  (or (get :swank-client :slynk-streams)
      (setf (get :swank-client :slynk-streams) (make-hash-table :test 'eq :weakness :key :synchronized t))))

(defun connection.user-output (connection)
  "The stream to which CONNECTION's client gets output: that of its first REPL, or NIL."
  (or (gethash connection (own-streams))
      (let ((listener (slynk::default-listener connection)))
        (and listener (slynk::listener-out listener)))))

(defun (setf connection.user-output) (stream connection)
  "Note that CONNECTION is one of this library, whose output is STREAM."
  (setf (gethash connection (own-streams)) stream))

(defun (setf connection.user-input) (stream connection)
  "Nothing: Slynk reads from no connection that has no REPL."
  (declare (ignore connection))
  stream)

(defun (setf connection.user-io) (stream connection)
  "Nothing, likewise."
  (declare (ignore connection))
  stream)

;;; Messages

(defun further-guards (connection)
  "((NAME . FUNCTION) ...) of the functions to encapsulate for CONNECTION besides those of every server. Slynk's reader of messages reads no comment and
no |, and takes SWANK for SLYNK in every name; in the thread that reads from CONNECTION, it reads as Lisp does. Slynk's threads of new connections wait for
each other."
  (list (cons 'slynk-rpc::read-form
              (lambda (read-form string package)
                (if (eq sb-thread:*current-thread* (mconn.reader-thread connection))
                    (let ((slynk-rpc:*translating-swank-to-slynk* nil))
                      (funcall read-form string package))
                    (funcall read-form string package))))
        ;; Slynk starts the thread that reads before it notes the one that gets what is read, and without that all messages are lost
        (cons 'slynk::read-loop
              (lambda (read-loop read)
                (loop until (mconn.control-thread read) do (sleep 1/1000))
                (funcall read-loop read)))))

;;; Indentation rules

(defun sync-indentation-except (connection &optional (synchronize #'sync-indentation-to-emacs))
  "Send the indentation rules of new macros to *EMACS-CONNECTION*, by calling SYNCHRONIZE, unless that is CONNECTION, of this library."
  (unless (eq *emacs-connection* connection) (funcall synchronize)))

(defpackage #:swank-client/swank-servers
  (:documentation "Slynk's servers.")
  (:use #:common-lisp)
  (:export #:keep-from-children))

(in-package #:swank-client/swank-servers)

(defun keep-from-children (descriptor)
  "Close DESCRIPTOR in programs that the image runs. Otherwise they would keep the connection open after the image ends."
  (sb-posix:fcntl descriptor sb-posix:f-setfd 1))
