;;;; Prints a line for each system that the environment variable LIBRARIES names and that neither ASDF nor Quicklisp finds.

(require "asdf")

(let ((names (uiop:split-string (sb-ext:posix-getenv "LIBRARIES")))
      (quicklisp (merge-pathnames "quicklisp/setup.lisp" (user-homedir-pathname))))
  (flet ((missing () (remove-if (lambda (name) (asdf:find-system name nil)) names)))
    (when (and (missing) (probe-file quicklisp)) (load quicklisp))
    (format t "~&~{~a~%~}" (missing))))
