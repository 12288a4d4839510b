;;;; Loads FiveAM with ASDF or Quicklisp; exits with status 1 if neither finds it.

(require "asdf")

(let ((quicklisp (merge-pathnames "quicklisp/setup.lisp" (user-homedir-pathname))))
  (when (and (null (asdf:find-system "fiveam" nil)) (probe-file quicklisp))
    (load quicklisp)))

(unless (asdf:find-system "fiveam" nil)
  #+sbcl (sb-ext:exit :code 1 :abort t)
  #-sbcl (error "ASDF finds no FiveAM."))

(let ((*standard-output* (make-broadcast-stream)))
  (asdf:load-system "fiveam"))
