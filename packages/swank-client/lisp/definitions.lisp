;;;; What this client's session has defined.

(in-package #:@module@)

(defun settle-all (ledger)
  "Enter what was defined lately, by evaluations that still run too, and by calls of functions that define something."
  (settle ledger)
  (sb-thread:with-mutex ((ledger-lock ledger))
    (setf (ledger-unproven ledger)
          (delete-if (lambda (candidate) (believable-p ledger candidate)) (ledger-unproven ledger)))))

(defun found-method (name)
  (find name (methods-of (first name)) :test #'equal :key (lambda (method) (method-name (first name) method))))

(defun present-origin (entry)
  "Where that comes from which is there now in the place of ENTRY, and whether anything is."
  (if (eq (entry-kind entry) :method)
      (let ((method (found-method (entry-name entry))))
        (values (and method (source-origin (sb-introspect:find-definition-source method)))
                (and method t)))
      (let ((found (current-definition (entry-kind entry) (entry-name entry))))
        (values (second found) (and found t)))))

(defun entry-state (entry)
  ":CURRENT | :CHANGED, by somebody else | :GONE"
  (multiple-value-bind (origin found) (present-origin entry)
    (cond ((not found) :gone)
          ((eq origin (entry-origin entry)) :current)
          (t :changed))))

;;; In words

(defun name-text (name)
  "NAME with its package, or that of each of its parts."
  (with-standard-io-syntax
    (let ((*package* (find-package "COMMON-LISP")))
      (line-text-in-time name 300))))

(defun entry-text (entry)
  (let ((name (entry-name entry)))
    (case (entry-kind entry)
      (:package name)
      (:method (format nil "~{~a~^ ~}" (mapcar #'name-text name)))
      (t (name-text name)))))

(defun load-text (name)
  (if (pathnamep name) (sb-ext:native-namestring name) name))

(defun definitions ()
  "=> (((KIND NAME STATE REDEFINED) ...) (LOADED ...)), both in order."
  (let ((ledger (session-ledger (current-session))))
    (settle-all ledger)
    (list (with-printing-time
            (loop for entry in (reverse (ledger-entries ledger))
                  for state = (entry-state entry)
                  unless (eq state :gone)
                    collect (list (entry-kind entry) (entry-text entry) state (entry-redefined entry))))
          (mapcar #'load-text (reverse (ledger-loads ledger))))))
