;;;; Ties this process to its parent: it ends with the parent, and closes inherited descriptors. This file is loaded first, so that the
;;;; loading of the others is covered too.

(defpackage #:swank-client/process
  (:documentation "Ties the process of a launched image to its parent.")
  (:use #:common-lisp #:swank-client/sbcl #:swank-client/swank-loader)
  (:export #:+socket+
           #:close-inherited
           #:die-with-parent
           #:load-swank
           #:parent-pid))

(in-package #:swank-client/process)

(defun parent-pid ()
  "The process id of this process's current parent."
  (sb-alien:alien-funcall (sb-alien:extern-alien "getppid" (function sb-alien:int))))

(defun die-with-parent ()
  "Make the kernel end this process when its parent ends, on systems that can."
  ;; the kernel does this even if a garbage collection waits for a thread, so that no Lisp code runs
  #+linux
  (sb-alien:alien-funcall
   (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 9))

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
      (sb-unix:unix-close number))))
