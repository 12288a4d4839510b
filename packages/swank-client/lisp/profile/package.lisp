;;;; What takes the time, and what allocates the memory, of a piece of code or of the whole program.

(defpackage #:swank-client/profile
  (:documentation "Profiles code and the running program.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-sprof #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now #:nanoseconds-run)
  (:import-from #:swank-client/evaluate #:report-progress #:user-name)
  (:import-from #:swank-client/trace #:arm-points #:armed #:call-as-run #:call-measured-code #:compiled-code #:disarm-points #:find-points #:kept-run
                #:make-armed #:missed-texts #:point #:point-method #:point-name #:point-recording #:point-session #:point-text
                #:refused-point #:refused-reply #:remember-run #:run #:run-end #:run-session #:value-texts #:wait-seconds #:wanted-thread-p)
  (:export #:prepare-profile
           #:profile-code
           #:profile-progress
           #:profile-seconds))
