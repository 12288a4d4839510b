;;;; The image's part of every connection of this library.

(defpackage #:swank-client/connection
  (:documentation "Guards a connection, keeps it from disturbing others, and ends its requests.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank #:swank-client/threads)
  (:export #:*observer*
           #:attach
           #:end-request
           #:interruption
           #:make-printed
           #:prune-mailboxes
           #:prune-mailboxes-at-times
           #:repl-p
           #:runtime-stop))
