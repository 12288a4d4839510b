;;;; Loading Swank into an image of our own, whatever state the home folder of its user is in.

(in-package "SWANK-CLIENT.LAUNCH")

(defun loader-symbol (name)
  (find-symbol name "SWANK-LOADER"))

(defun keep-fasls-in (folder)
  ;; Debian's loader asks ASDF where fasls go, so setting *fasl-directory* alone is not enough
  (setf (symbol-value (loader-symbol "*FASL-DIRECTORY*")) folder
        (fdefinition (loader-symbol "BINARY-PATHNAME"))
        (lambda (source folder)
          (merge-pathnames (make-pathname :name (pathname-name source) :type "fasl") folder))))

(defun load-swank-sources (folder)
  (mapc #'load (funcall (loader-symbol "SRC-FILES") (symbol-value (loader-symbol "*SWANK-FILES*")) folder))
  (funcall (find-symbol "BEFORE-INIT" "SWANK")
           (funcall (loader-symbol "SLIME-VERSION-STRING"))
           (list (funcall (loader-symbol "CONTRIB-DIR") folder))))

(defun load-swank (swank-folder fasl-folder)
  "Load Swank, compiled into FASL-FOLDER, or as source when there is no folder to write to."
  (let ((folder (sb-ext:parse-native-namestring swank-folder nil *default-pathname-defaults* :as-directory t))
        (*load-verbose* nil)
        (*compile-verbose* nil)
        (*compile-print* nil))
    ;; what the compiler says about Swank would only hide what the image has to say later
    (handler-bind (((or warning sb-ext:compiler-note) #'muffle-warning))
      (load (merge-pathnames "swank-loader.lisp" folder))
      (cond (fasl-folder
             (keep-fasls-in (sb-ext:parse-native-namestring
                             fasl-folder nil *default-pathname-defaults* :as-directory t))
             (funcall (loader-symbol "INIT") :setup nil :quiet t))
            (t (load-swank-sources folder))))))
