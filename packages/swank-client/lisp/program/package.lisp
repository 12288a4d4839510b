;;;; Questions about the running program.

(defpackage #:swank-client/program
  (:documentation "Answers questions about the running program: its threads and what they wait for.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-threads #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/waits #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/connection #:end-this-thread #:interrupt-when-safe)
  (:import-from #:swank-client/debugger #:number-connections #:owner-plist #:served-connection)
  (:import-from #:swank-client/evaluate #:abort-restart #:call-in-evaluation #:end-thread #:enter-interrupt #:interrupt-unless-over
                #:stop-own-thread #:unwind-evaluation)
  (:export #:end-thread-by
           #:list-threads
           #:stop-thread))
