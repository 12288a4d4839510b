;;;; Names of files, for people.

(in-package #:swank-client/printing)

(defun directory-of-image ()
  "The folder to which the image's relative file names refer. The process's own folder may have been deleted."
  (merge-pathnames *default-pathname-defaults* (concatenate 'string (ignore-errors (sb-posix:getcwd)) "/")))

(defun file-pathname (file)
  "FILE, a pathname or native namestring, as a pathname."
  (if (stringp file) (sb-ext:parse-native-namestring file) file))

(defun absolute-file-name (file)
  "The native namestring of FILE, a pathname or native namestring, with its folder."
  (sb-ext:native-namestring (merge-pathnames (file-pathname file) (directory-of-image))))

(defun short-file-name (file)
  "FILE, a pathname or native namestring, relative to the image's directory, or else its last folder and name."
  (let* ((file (file-pathname file))
         (relative (pathname (enough-namestring file (directory-of-image))))
         (folders (rest (pathname-directory file))))
    (sb-ext:native-namestring
     (if (and (eq :absolute (first (pathname-directory relative))) (rest folders))
         (make-pathname :host (pathname-host file) :name (pathname-name file) :type (pathname-type file)
                        :directory (list :relative (first (last folders))))
         relative))))
