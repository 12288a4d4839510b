;;;; Swank's own loader, before and after Swank is loaded. Needs only standard Lisp.

(defpackage #:swank-client/any-loader
  (:documentation "Swank's own loader.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:export #:load-sources #:loader-symbol))

(in-package #:swank-client/any-loader)

(defun loader-symbol (name)
  "The symbol NAME of Swank's loader."
  (accessible-symbol name "SWANK-LOADER"))

(defun load-sources (folder)
  "Load Swank from its sources in FOLDER without compiling files."
  (mapc #'load (funcall (loader-symbol "SRC-FILES") (symbol-value (loader-symbol "*SWANK-FILES*")) folder))
  (funcall (accessible-symbol "BEFORE-INIT" "SWANK")
           (funcall (loader-symbol "SLIME-VERSION-STRING"))
           (list (funcall (loader-symbol "CONTRIB-DIR") folder))))
