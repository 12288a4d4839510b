;;;; Global variables that a session's forms have assigned.

(in-package #:swank-client/ledger)

(defconstant +assigned-limit+ 500 "Most variables that are kept.")

(defun assigned-places (form)
  "The places that FORM, a form at top level, assigns."
  (when (consp form)
    (case (first form)
      ((setq setf psetq psetf) (loop for place in (rest form) by #'cddr collect place))
      ((incf decf) (list (second form)))
      ((push pushnew) (list (third form)))
      (pop (list (second form)))
      (progn (mapcan #'assigned-places (copy-list (rest form)))))))

(defun note-assignments (ledger form)
  "Note the global variables that FORM, which has been evaluated at top level, has assigned. History variables do not count."
  (dolist (place (assigned-places form))
    (when (and (symbolp place) (boundp place) (not (eq (symbol-package place) (find-package "COMMON-LISP")))
               ;; not one that the evaluation binds
               (eq (symbol-value place) (sb-ext:symbol-global-value place)))
      (with-system-mutex ((ledger-lock ledger))
        (when (< (length (ledger-assigned ledger)) +assigned-limit+)
          (pushnew place (ledger-assigned ledger)))))))
