;;;; What takes the time, and what allocates the memory, of a piece of code or of the whole program.

(defpackage #:swank-client/profile
  (:documentation "Profiles code and the running program.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/sbcl-sprof #:swank-client/swank #:swank-client/threads #:swank-client/printing
        #:swank-client/sessions #:swank-client/stops)
  (:import-from #:swank-client/sbcl-clock #:nanoseconds-now #:nanoseconds-run)
  (:import-from #:swank-client/evaluate #:report-progress #:user-name)
  (:import-from #:swank-client/trace #:call-as-run #:call-measured-code #:compiled-code #:kept-run #:remember-run #:run #:run-end
                #:run-session #:value-texts #:wait-seconds)
  (:export #:prepare-profile
           #:profile-code
           #:profile-progress
           #:profile-seconds))
