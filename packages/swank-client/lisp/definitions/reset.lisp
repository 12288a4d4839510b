;;;; Resets a session. Other clients may use the image, so only definitions that are certainly the session's are removed.

(in-package #:swank-client/definitions)

(defun foreign-methods-p (ledger name)
  "True if the generic function NAME has methods that the session of LEDGER did not define."
  (notevery (lambda (method) (own-origin-p ledger (source-origin (sb-introspect:find-definition-source method))))
            (methods-of name)))

(defun reason-to-keep (ledger entry)
  "The reason for keeping the definition of ENTRY, or NIL."
  (let ((kind (entry-kind entry)))
    (cond ((eq (entry-state entry) :changed) :changed)
          ((not (member kind '(:function :generic-function :macro :variable))) :kind)
          ((entry-foreign entry) :existed)
          ((and (eq kind :generic-function) (foreign-methods-p ledger (entry-name entry))) :extended))))

(defun forget-variable (name)
  "Undo the definition of the variable NAME."
  (sb-int:clear-info :variable :always-bound name)
  (makunbound name)
  (sb-int:clear-info :variable :kind name)
  (sb-int:clear-info :variable :type name)
  (sb-int:clear-info :variable :where-from name)
  (sb-int:clear-info :source-location :variable name)
  (setf (documentation name 'variable) nil))

(defun undefine (entry)
  "Undefine ENTRY. => NIL, or :LOCKED if a package lock prevents it"
  (handler-case
      (progn
        (if (eq (entry-kind entry) :variable)
            (forget-variable (entry-name entry))
            (fmakunbound (entry-name entry)))
        nil)
    (error () :locked)))

(defun undefine-all (ledger)
  "Undefine the entries of LEDGER. => (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) kept)"
  (let ((undefined '()) (left '()))
    (dolist (entry (reverse (ledger-entries ledger)) (list (nreverse undefined) (nreverse left)))
      (unless (eq (entry-state entry) :gone)
        (let* ((text (entry-text entry))
               (reason (or (reason-to-keep ledger entry) (undefine entry))))
          (if reason
              (push (list (entry-kind entry) text reason) left)
              (push (list (entry-kind entry) text) undefined)))))))

(defun reset-session (session)
  "Give SESSION the package, readtable, variables and ledger of a new one."
  (setf (session-package session) (user-package)
        (session-readtable session) (global-readtable)
        (session-readtable-home session) nil
        (session-debugger-hook session) nil
        (session-values session) (fresh-values)
        (session-ledger session) (make-ledger)))

(defun reset ()
  "Reset this session. => (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) kept, ((KIND NAME TIMES) ...) loaded)"
  (let* ((session (current-session))
         (ledger (session-ledger session)))
    (dolist (hook *departure-hooks*) (funcall hook session))
    (confirm-all-definitions ledger)
    (prog1 (with-code-syntax (session (session-package-now session))
             (append (undefine-all ledger) (list (load-texts ledger))))
      (reset-session session))))
