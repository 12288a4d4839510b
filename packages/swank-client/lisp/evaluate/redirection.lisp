;;;; Restores the image's own output after the Emacs disconnects that it was redirected to.

(in-package #:swank-client/evaluate)

(defun restore-process-output (&optional closed)
  "Restore the process's streams if no REPL is left after CLOSED, so that the next REPL can receive the output.
Swank itself would redirect the output to the next connection, even one without a REPL, and never to a later REPL."
  (let ((owner (repl-symbol "*GLOBAL-STDIO-CONNECTION*"))
        (others (remove closed *connections*)))
    (when (and owner
               (boundp owner)
               (symbol-value owner)
               (not (member (symbol-value owner) others))
               (notany #'repl-p others))
      (funcall (repl-symbol "REVERT-GLOBAL-IO-REDIRECTION"))
      (setf (symbol-value owner) nil))))
