;;;; Ending with the process that started this one. Loaded first, so that loading the rest ends with it too.

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
