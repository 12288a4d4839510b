;;;; Tells the user's Emacs what agents do, and agents what the user answers.

(defpackage #:swank-client/emacs
  (:documentation "Tells the user's Emacs what agents do, and agents what the user answers.")
  (:use #:common-lisp #:swank-client/swank-connections #:swank-client/connection #:swank-client/session)
  (:import-from #:swank-client/any-names #:runtime-symbol-p)
  (:import-from #:swank-client/any-lisp #:nil-on)
  (:import-from #:swank-client/sbcl-system #:tcp-port-of)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:import-from #:swank-client/swank-requests #:send)
  (:import-from #:swank-client/swank-debugger #:*sldb-restarts*)
  (:import-from #:swank-client/sbcl-swank #:*mailboxes* #:mailbox.queue #:mailbox.thread)
  (:import-from #:swank-client/evaluations #:*evaluation* #:evaluation-id #:evaluation-thread)
  (:import-from #:swank-client/evaluate #:*ask-to-exit* #:end-evaluations)
  (:export #:ask-user #:introduce #:note-answer #:note-question #:note-refusal #:settle-question #:user-reachable-p))
