;;;; The definitions of a session: lists them, and removes those that are certainly the session's.

(in-package #:swank-client/image)

;;; Lists the definitions of this client's session.

(defun confirm-all-definitions (ledger)
  "Enter the latest definitions, including those of running evaluations and of functions that define something when called."
  (confirm-definitions ledger)
  (sb-thread:with-mutex ((ledger-lock ledger))
    (setf (ledger-pending ledger)
          (delete-if (lambda (candidate) (confirmed-p ledger candidate)) (ledger-pending ledger)))))

(defun found-method (name)
  "The method with the NAME (NAME QUALIFIER... (SPECIALIZER...)), or NIL."
  (find name (methods-of (first name)) :test #'equal :key (lambda (method) (method-name (first name) method))))

(defun present-origin (entry)
  "=> the origin of the current definition in the place of ENTRY, and whether there is one"
  (if (eq (entry-kind entry) :method)
      (let ((method (found-method (entry-name entry))))
        (values (and method (source-origin (sb-introspect:find-definition-source method)))
                (and method t)))
      (let ((found (current-definition (entry-kind entry) (entry-name entry))))
        (values (second found) (and found t)))))

(defun entry-symbol (entry)
  "The symbol by which code refers to the definition of ENTRY, or NIL."
  (let ((name (entry-name entry)))
    (case (entry-kind entry)
      (:package nil)
      (:method (function-name-symbol (first name)))
      (t (function-name-symbol name)))))

(defun function-name-symbol (name)
  "The symbol in NAME, which may be (SETF SYMBOL)."
  (if (consp name) (second name) name))

(defun removed-p (entry)
  "True if the name of ENTRY has been uninterned, or if it is a variable that has lost its value. Lisp still has such definitions."
  (let ((symbol (entry-symbol entry)))
    (or (and symbol (null (symbol-package symbol)))
        (and (entry-valued entry) (not (boundp symbol))))))

(defun entry-state (entry)
  ":CURRENT, :CHANGED if another client or file redefined it, or :GONE."
  (multiple-value-bind (origin found) (present-origin entry)
    (cond ((or (not found) (removed-p entry)) :gone)
          ((eq origin (entry-origin entry)) :current)
          (t :changed))))

;;; Text

(defun qualified-name-text (name)
  "NAME as text; each symbol in it has its package."
  (with-name-syntax ((find-package "COMMON-LISP"))
    (line-text-in-time name 300)))

(defun entry-text (entry)
  "The name of ENTRY's definition, as text."
  (let ((name (entry-name entry)))
    (case (entry-kind entry)
      (:package name)
      (:method (format nil "~{~a~^ ~}" (mapcar #'qualified-name-text name)))
      (t (qualified-name-text name)))))

(defun entry-definition (entry)
  "The current definition in the place of ENTRY, or NIL."
  (let ((name (entry-name entry)))
    (case (entry-kind entry)
      (:method (let ((method (found-method name))) (and method (method-of-name (first name) method))))
      (t (let ((source (definition-source (entry-kind entry) name)))
           (and source (make-definition :kind (entry-kind entry) :name name :record source)))))))

(defun written-p (entry files)
  "True if the definition of ENTRY was saved to a file, or if one of FILES has its text."
  (or (saved-files (entry-origin entry))
      (let* ((definition (entry-definition entry))
             (plist (and definition (definition-plist definition)))
             (text (and plist (form-of-plist plist (form-number-of definition)))))
        (and text (some (lambda (file) (text-in-file-p text file (and (not (eq :package (entry-kind entry))) (evaluated-package definition))))
                        files)))))

(defun load-texts (ledger)
  "((KIND NAME TIMES) ...) of the files and systems in LEDGER, oldest first."
  (loop for (kind name times) in (reverse (ledger-loads ledger))
        collect (list kind (if (pathnamep name) (sb-ext:native-namestring name) name) times)))

(defun definitions ()
  "=> (((KIND NAME STATE REDEFINED SAVED) ...) ((KIND NAME TIMES) ...)), definitions and loaded files, both oldest first. SAVED is true if a
file has the text of the definition: one to which it was saved, or one that the session has loaded."
  (let* ((session (current-session))
         (ledger (session-ledger session)))
    (confirm-all-definitions ledger)
    (with-code-syntax (session (session-package-now session))
      (with-files ()
        (let ((files (and (ledger-entries ledger)
                          (loop for (kind name) in (ledger-loads ledger)
                                for file = (and (eq kind :file) (file-now name))
                                when file collect file))))
          (list (with-printing-time
                  (loop for entry in (reverse (ledger-entries ledger))
                        for state = (entry-state entry)
                        unless (eq state :gone)
                          collect (list (entry-kind entry) (entry-text entry) state (entry-redefined entry)
                                        (and (recording-faults (written-p entry files)) t))))
                (load-texts ledger)))))))

;;; Resets a session. Other clients may use the image, so only definitions that are certainly the session's are removed.

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
  (clear-compiler-info :variable :always-bound name)
  (makunbound name)
  (clear-compiler-info :variable :kind name)
  (clear-compiler-info :variable :type name)
  (clear-compiler-info :variable :where-from name)
  (clear-compiler-info :source-location :variable name)
  (setf (documentation name 'variable) nil))

(defun remove-definition (kind name &optional method)
  "Remove the definition of NAME that is a function, macro or variable, as KIND says, or METHOD of NAME. => NIL, or :LOCKED if a package lock
prevents it"
  (handler-case
      (progn
        (case kind
          (:variable (forget-variable name))
          (:method (remove-method (fdefinition name) method))
          (t (fmakunbound name)))
        nil)
    (error () :locked)))

(defun undefine-all (ledger)
  "Undefine the entries of LEDGER. => (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) kept)"
  (let ((undefined '()) (left '()))
    (dolist (entry (reverse (ledger-entries ledger)) (list (nreverse undefined) (nreverse left)))
      (unless (eq (entry-state entry) :gone)
        (let* ((text (entry-text entry))
               (reason (or (reason-to-keep ledger entry) (remove-definition (entry-kind entry) (entry-name entry)))))
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
  "Reset this session. => (((KIND NAME) ...) undefined, ((KIND NAME REASON) ...) kept, ((KIND NAME TIMES) ...) loaded,
the name of the new session's package)"
  (let* ((session (current-session))
         (ledger (session-ledger session)))
    (dolist (hook *departure-hooks*) (funcall hook session))
    (confirm-all-definitions ledger)
    (let ((report (with-code-syntax (session (session-package-now session))
                    (append (undefine-all ledger) (list (load-texts ledger))))))
      (reset-session session)
      (append report (list (package-name (session-package session)))))))
