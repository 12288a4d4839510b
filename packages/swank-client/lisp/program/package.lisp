;;;; Questions about the running program.

(defpackage #:swank-client/program
  (:documentation "Answers questions about the running program: its threads and what they wait for.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-threads #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/waits #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/debugger #:number-connections #:owner-plist)
  (:import-from #:swank-client/evaluate #:interrupt-unless-over)
  (:export #:list-threads))
