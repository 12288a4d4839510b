;;;; A session's return to its beginning, in an image that others use too: only what is certainly its own is taken away.

(in-package #:@module@)

(defun foreign-methods-p (ledger name)
  (notevery (lambda (method) (own-origin-p ledger (source-origin (sb-introspect:find-definition-source method))))
            (methods-of name)))

(defun reason-to-leave (ledger entry)
  "Why ENTRY is not undefined, or NIL."
  (let ((kind (entry-kind entry)))
    (cond ((eq (entry-state entry) :changed) :changed)
          ((not (member kind '(:function :generic-function :macro :variable))) :kind)
          ((entry-foreign entry) :existed)
          ((and (eq kind :generic-function) (foreign-methods-p ledger (entry-name entry))) :extended))))

(defun forget-variable (name)
  (sb-int:clear-info :variable :always-bound name)
  (makunbound name)
  (sb-int:clear-info :variable :kind name)
  (sb-int:clear-info :variable :type name)
  (sb-int:clear-info :variable :where-from name)
  (sb-int:clear-info :source-location :variable name)
  (setf (documentation name 'variable) nil))

(defun undefine (entry)
  "NIL, or :LOCKED if the package of its name does not allow it."
  (handler-case
      (progn
        (if (eq (entry-kind entry) :variable)
            (forget-variable (entry-name entry))
            (fmakunbound (entry-name entry)))
        nil)
    (error () :locked)))

(defun undefine-all (ledger)
  "=> (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) left)"
  (let ((undefined '()) (left '()))
    (dolist (entry (reverse (ledger-entries ledger)) (list (nreverse undefined) (nreverse left)))
      (unless (eq (entry-state entry) :gone)
        (let* ((text (entry-text entry))
               (reason (or (reason-to-leave ledger entry) (undefine entry))))
          (if reason
              (push (list (entry-kind entry) text reason) left)
              (push (list (entry-kind entry) text) undefined)))))))

(defun start-afresh (session)
  (setf (session-package session) (find-package "COMMON-LISP-USER")
        (session-readtable session) (copy-readtable)
        (session-values session) (fresh-values)
        (session-ledger session) (make-ledger)))

(defun reset ()
  "=> (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) left, (LOADED ...))"
  (let* ((session (current-session))
         (ledger (session-ledger session)))
    (dolist (hook *departure-hooks*) (funcall hook session))
    (settle-all ledger)
    (prog1 (append (undefine-all ledger) (list (mapcar #'load-text (reverse (ledger-loads ledger)))))
      (start-afresh session))))
