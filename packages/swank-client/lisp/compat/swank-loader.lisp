;;;; The internal symbols of Swank's loader that the library uses. They exist only after the loader was loaded.

(defpackage #:swank-client/swank-loader
  (:documentation "Functions on Swank's loader, used to load Swank into an image that we launched.")
  (:use #:common-lisp)
  (:export #:initialize
           #:keep-fasls-in
           #:load-sources))

(in-package #:swank-client/swank-loader)

(defun loader-symbol (name)
  "The symbol NAME of Swank's loader."
  (find-symbol name "SWANK-LOADER"))

(defun keep-fasls-in (folder)
  "Make the loader keep compiled files in FOLDER.
Debian's loader asks ASDF for the folder, so setting *FASL-DIRECTORY* alone is not enough."
  (setf (symbol-value (loader-symbol "*FASL-DIRECTORY*")) folder
        (fdefinition (loader-symbol "BINARY-PATHNAME"))
        (lambda (source folder)
          (merge-pathnames (make-pathname :name (pathname-name source) :type "fasl") folder))))

(defun initialize ()
  "Load Swank, compiling files that are not compiled yet."
  (funcall (loader-symbol "INIT") :setup nil :quiet t))

(defun load-sources (folder)
  "Load Swank from its sources in FOLDER without compiling files."
  (mapc #'load (funcall (loader-symbol "SRC-FILES") (symbol-value (loader-symbol "*SWANK-FILES*")) folder))
  (funcall (find-symbol "BEFORE-INIT" "SWANK")
           (funcall (loader-symbol "SLIME-VERSION-STRING"))
           (list (funcall (loader-symbol "CONTRIB-DIR") folder))))
