;;;; Loads Swank into an ECL that we launched, from its sources: ECL takes half a second for them, and a minute to compile them. Nothing depends on
;;;; the user's home folder.

(defpackage #:swank-client/process
  (:documentation "Loads Swank into an image that we launched.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-loader #:load-sources)
  (:export #:load-swank))

(in-package #:swank-client/process)

(defun load-swank (swank-folder)
  "Load Swank from its sources in SWANK-FOLDER."
  (let ((folder (pathname (concatenate 'string (string-right-trim "/" swank-folder) "/")))
        (*load-verbose* nil)
        (*compile-verbose* nil)
        (*compile-print* nil))
    ;; the compiler's messages about Swank would hide later messages of the image
    (handler-bind ((warning #'muffle-warning))
      (load (merge-pathnames "swank-loader.lisp" folder))
      (load-sources folder))))
