;;;; Whose the image's own output is, once the Emacs has gone that it was redirected to.

(in-package #:@runtime@)

(defun repl-symbol (name)
  "The symbol NAME of Swank's REPL, if that is loaded."
  (let ((package (find-package "SWANK-REPL")))
    (and package (find-symbol name package))))

(defun has-repl-p (connection)
  "Clients of ours have but synonyms for the process's own streams."
  (typep (swank::connection.user-output connection) '(and stream (not synonym-stream))))

(defun give-back-output (&optional closed)
  "Swank redirects what was redirected to the connection CLOSED to the next one, REPL or not, and to no other REPL from then on.
With no REPL left the streams are the process's own again, so that the next one can have them."
  (let ((owner (repl-symbol "*GLOBAL-STDIO-CONNECTION*"))
        (others (remove closed swank::*connections*)))
    (when (and owner
               (boundp owner)
               (symbol-value owner)
               (not (member (symbol-value owner) others))
               (notany #'has-repl-p others))
      (funcall (repl-symbol "REVERT-GLOBAL-IO-REDIRECTION"))
      (setf (symbol-value owner) nil))))
