;;;; The functions that end a Lisp other than SBCL, and their replacement. A Lisp without a branch here is not guarded.

(defpackage #:swank-client/any-exits
  (:documentation "The functions that end a Lisp, and their replacement.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/any-names #:existing-symbols)
  (:export #:guard-exits #:unguard-exits))

(in-package #:swank-client/any-exits)

(defparameter *exits*
  (remove-if-not #'fboundp (remove-duplicates (existing-symbols '(("EXT" "QUIT") ("EXT" "EXIT") ("EXT" "BYE") ("CCL" "QUIT")))))
  "The names of the functions that end the image.")

(defvar *guarded* '() "((NAME ORIGINAL REPLACEMENT) ...) of the functions that are replaced now.")

(defmacro without-lock (&body body)
  "Run BODY, which defines functions of the Lisp."
  #+clisp `(ext:without-package-lock ("EXT") ,@body)
  #+ccl `(let ((ccl:*warn-if-redefine-kernel* nil)) ,@body)
  #-(or clisp ccl) `(progn ,@body))

(defun guard-exits (check)
  "Let the functions that end the image call CHECK with their name first, which may signal an error."
  (dolist (name *exits*)
    (unless (assoc name *guarded*)
      (let* ((name name) (original (fdefinition name))
             (replacement (lambda (&rest arguments)
                            (funcall check name)
                            (apply original arguments))))
        (without-lock (setf (fdefinition name) replacement))
        (push (list name original replacement) *guarded*)))))

(defun unguard-exits ()
  "Undo GUARD-EXITS, but leave alone what others have redefined since."
  (loop for (name original replacement) in *guarded*
        do (or-nil (when (eq replacement (fdefinition name)) (without-lock (setf (fdefinition name) original)))))
  (setf *guarded* '()))
