;;;; Loads Swank into an image that we launched, without depending on the user's home folder.

(in-package #:swank-client/process)

(defun load-swank (swank-folder fasl-folder)
  "Load Swank. Compiled files go to FASL-FOLDER; if that is NIL, nothing is compiled."
  (let ((folder (sb-ext:parse-native-namestring swank-folder nil *default-pathname-defaults* :as-directory t))
        (*load-verbose* nil)
        (*compile-verbose* nil)
        (*compile-print* nil))
    ;; the compiler's messages about Swank would hide later messages of the image
    (handler-bind (((or warning sb-ext:compiler-note) #'muffle-warning))
      (load (merge-pathnames "swank-loader.lisp" folder))
      (cond (fasl-folder
             (keep-fasls-in (sb-ext:parse-native-namestring
                             fasl-folder nil *default-pathname-defaults* :as-directory t))
             (initialize))
            (t (load-sources folder))))))
