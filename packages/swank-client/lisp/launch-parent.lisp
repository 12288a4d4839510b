;;;; What this process has from the one that started it: its life, and its descriptors. Loaded first, so that the rest is loaded
;;;; in such a process.

(defpackage "SWANK-CLIENT.LAUNCH"
  (:use "COMMON-LISP"))

(in-package "SWANK-CLIENT.LAUNCH")

(defun parent-pid ()
  (sb-alien:alien-funcall (sb-alien:extern-alien "getppid" (function sb-alien:int))))

(defun die-with-parent ()
  ;; the kernel does it even when a garbage collection cannot stop a thread, so that nothing in Lisp runs any more
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
  "The descriptor that SBCL has opened itself, or NIL."
  (and (typep sb-impl::*tty* 'sb-sys:fd-stream) (sb-sys:fd-stream-fd sb-impl::*tty*)))

(defun close-inherited ()
  "Close the descriptors of other programs: an open one would keep a lock, a pipe or a connection of theirs alive."
  (dolist (number (open-descriptors))
    (unless (or (<= number +socket+) (eql number (terminal-descriptor)))
      (sb-unix:unix-close number))))
