;;;; Ties this process to its parent, and loads Swank without depending on the user's home folder. This file is loaded first, so that the loading of the others is covered too.

(defpackage #:swank-client/process
  (:documentation "Ties the process of a launched image to its parent.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-loader #:load-sources #:loader-symbol)
  (:import-from #:swank-client/sbcl-system #:close-descriptor #:die-with-parent #:terminal-stream)
  (:export #:+socket+ #:close-inherited #:die-with-parent #:load-swank))

(in-package #:swank-client/process)

(defconstant +socket+ 3
  "The socket to the process that started this one, the only inherited descriptor besides the standard ones.")

(defun open-descriptors ()
  "The numbers of this process's descriptors."
  (loop for path in (or (directory "/proc/self/fd/*.*" :resolve-symlinks nil)
                        (directory "/dev/fd/*.*" :resolve-symlinks nil))
        for name = (string-right-trim "/" (sb-ext:native-namestring path))
        for number = (parse-integer name :start (1+ (position #\/ name :from-end t)) :junk-allowed t)
        when number collect number))

(defun terminal-descriptor ()
  "The descriptor that SBCL opened for the terminal, or NIL."
  (let ((stream (terminal-stream)))
    (and (typep stream 'sb-sys:fd-stream) (sb-sys:fd-stream-fd stream))))

(defun close-inherited ()
  "Close inherited descriptors, which would keep locks, pipes or connections of other programs open."
  (dolist (number (open-descriptors))
    (unless (or (<= number +socket+) (eql number (terminal-descriptor)))
      (close-descriptor number))))

;;; Loads Swank into an image that we launched, without depending on the user's home folder.

(defun keep-fasls-in (folder)
  "Make the loader keep compiled files in FOLDER.
Debian's loader asks ASDF for the folder, so setting *FASL-DIRECTORY* alone is not enough."
  (setf (symbol-value (loader-symbol "*FASL-DIRECTORY*")) folder
        (fdefinition (loader-symbol "BINARY-PATHNAME"))
        (lambda (source folder)
          (merge-pathnames (make-pathname :name (pathname-name source) :type "fasl") folder))))

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
             (funcall (loader-symbol "INIT") :setup nil :quiet t))
            (t (load-sources folder))))))
