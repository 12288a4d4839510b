;;;; Folders for temporary files that other users of the machine cannot write to, as each Lisp makes them.

(defpackage #:swank-client/any-files
  (:documentation "Private folders for temporary files.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/any-names #:call-if-loaded)
  (:export #:+utf-8+ #:call-with-private-folder))

(in-package #:swank-client/any-files)

(defparameter +utf-8+ #+clisp charset:utf-8 #-clisp :utf-8
  "The external format UTF-8.")

(defun environment-variable (name)
  "The value of NAME in the environment, or NIL."
  (some (lambda (package) (or-nil (call-if-loaded package "GETENV" name))) '("EXT" "CCL" "SYS" "LW")))

(defun temporary-folder ()
  "The name of the folder for temporary files, with a slash at its end."
  (let ((name (environment-variable "TMPDIR")))
    (if (and name (string/= name "")) (concatenate 'string (string-right-trim "/" name) "/") "/tmp/")))

(defun random-name ()
  "A name that nobody can guess. The usual random state of some Lisps is the same in each image."
  (format nil "swank-client-~(~36r~)" (random (expt 2 128) (make-random-state t))))

(defun make-private-folder ()
  "The pathname of a new folder that, as far as this Lisp can say so, only this user can read."
  (let ((name (concatenate 'string (temporary-folder) (random-name))))
    (pathname
     (or #+ecl (and (si:mkdir name #o700) (concatenate 'string name "/"))
         #+clisp (call-if-loaded "POSIX" "MKDTEMP" (concatenate 'string name "-XXXXXX"))
         #+abcl (concatenate 'string
                             (java:jcall "toString"
                                         (java:jstatic "createTempDirectory" "java.nio.file.Files"
                                                       (java:jstatic "get" "java.nio.file.Paths" (temporary-folder)
                                                                     (java:jnew-array "java.lang.String" 0))
                                                       "swank-client-"
                                                       (java:jnew-array "java.nio.file.attribute.FileAttribute" 0)))
                             "/")
         ;; others may be able to read it, but not to write to it
         (let ((folder (concatenate 'string name "/")))
           (if (nth-value 1 (ensure-directories-exist folder)) folder (error "The folder ~a exists." folder)))))))

(defun delete-private-folder (folder)
  "Delete FOLDER and its files."
  (dolist (file (directory (merge-pathnames "*.*" folder))) (or-nil (delete-file file)))
  (or-nil #+ecl (si:rmdir folder)
          #+clisp (ext:delete-directory folder)
          #+abcl (delete-file folder)
          #+ccl (call-if-loaded "CCL" "DELETE-EMPTY-DIRECTORY" folder)
          #+allegro (call-if-loaded "EXCL" "DELETE-DIRECTORY" folder)
          #+lispworks (call-if-loaded "LW" "DELETE-DIRECTORY" folder)))

(defun call-with-private-folder (function)
  "Call FUNCTION with the pathname of a new folder, and delete that and its files afterwards."
  (let ((folder (make-private-folder)))
    (unwind-protect (funcall function folder)
      (delete-private-folder folder))))
