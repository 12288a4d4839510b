;;;; The state kept for each client of the image.

(in-package #:swank-client/session)

(defparameter *history-variables* '(* ** *** + ++ +++ / // /// -) "The history variables of a REPL.")

(defparameter *syntax-variables*
  '(*print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym* *print-length* *print-level* *print-lines*
    *print-miser-width* *print-pprint-dispatch* *print-pretty* *print-radix* *print-readably* *print-right-margin*
    *read-base* *read-default-float-format* *read-eval* *read-suppress*)
  "The variables that WITH-STANDARD-IO-SYNTAX binds, except package and readtable. A client's settings must not reach other clients.")

(defparameter *control-variables*
  '(*compile-print* *load-print* *macroexpand-hook* *gensym-counter*)
  "Further variables by which a client controls how its code runs.")

(defparameter *quiet-variables* '(*break-on-signals* *compile-verbose* *load-verbose*)
  "The same, but false in a new session: the user's breaks are for the user, and the others print a line for every file.")

(defparameter *session-variables* (append *history-variables* *syntax-variables* *control-variables* *quiet-variables*)
  "The variables that have separate values in each session.")

(defun fresh-values ()
  "Initial values of *SESSION-VARIABLES*: the global values of the syntax and control variables, and NIL for the others."
  (append (mapcar (constantly nil) *history-variables*)
          (mapcar #'sb-ext:symbol-global-value *syntax-variables*)
          (mapcar #'sb-ext:symbol-global-value *control-variables*)
          (mapcar (constantly nil) *quiet-variables*)))

(defun global-readtable ()
  "A copy of the image's global readtable."
  (copy-readtable (sb-ext:symbol-global-value '*readtable*)))

(defstruct (session (:copier nil) (:predicate nil))
  "The state that a REPL keeps between requests, for one client."
  connection
  ;; true if its code cannot end the image
  (protects-image nil)
  ;; true if its client is told what the threads of its code print
  (threads-told nil)
  ;; true if its client is told the forms that define something
  (forms-told nil)
  (package (user-package))
  ;; the readtable of the session's code, and the package in which the code has set it, or NIL
  (readtable (global-readtable))
  (readtable-home nil)
  ;; a list of the debugger hook that the code has set, or NIL
  (debugger-hook nil :type list)
  ;; values of *SESSION-VARIABLES*
  (values (fresh-values) :type list)
  (ledger (make-ledger))
  (evaluations (make-hash-table :synchronized t))
  ;; true after the client disconnected
  (departed nil))

(defmethod print-object ((session session) stream)
  (print-unreadable-object (session stream :type t :identity t)))

(defvar *sessions* (make-hash-table :test 'eq :weakness :key :synchronized t) "Sessions by connection.")

(defun connection-open-p (connection)
  "True until CONNECTION is closed."
  (member connection *connections*))

(defvar *arrival-hooks* '() "Functions without arguments, called when the session of a connected client begins.")

(defvar *live-changes* nil "The function that compares the image with a file or, for NIL, all files; NIL until the module `code` is loaded.")

(defvar *visit-hooks* '() "Functions of a thread in another client's debugger and a form, called when the form was evaluated there for a client.")

(defvar *departure-hooks* '() "Functions of a session, called when its client has disconnected or the session is reset.")

(defun new-session (connection)
  "A session for CONNECTION, whose client may have disconnected since its request."
  (let ((open (connection-open-p connection)))
    (when open (mapc #'funcall *arrival-hooks*))
    (make-session :connection connection :departed (not open))))

(defun session-of (connection)
  "The session of CONNECTION, created if there is none."
  (or (gethash connection *sessions*)
      (sb-ext:with-locked-hash-table (*sessions*)
        (or (gethash connection *sessions*)
            (setf (gethash connection *sessions*) (new-session connection))))))

(defun clients-p ()
  "True while a connected client has a session."
  (sb-ext:with-locked-hash-table (*sessions*)
    (loop for session being the hash-values of *sessions* thereis (not (session-departed session)))))

(defun current-session ()
  "The session of the client whose request this thread runs."
  (session-of *emacs-connection*))

(defmacro with-session-variables ((session) &body body)
  "Run BODY, an evaluation, with the values that SESSION has for *SESSION-VARIABLES*."
  `(progv *session-variables* (session-values ,session)
     ,@body))

(defmacro with-session-settings ((session) &body body)
  "Run BODY, other code or printing methods of the user, with the same values, but without breaks: nobody could see a stop."
  `(with-session-variables (,session)
     (let ((*break-on-signals* nil))
       ,@body)))

(defun session-setting (session variable)
  "The value that SESSION has for VARIABLE, one of *SESSION-VARIABLES*."
  (nth (position variable *session-variables*) (session-values session)))

(defun session-package-now (session)
  "The package of SESSION, or USER-PACKAGE if that was deleted."
  (let ((package (session-package session)))
    (if (package-name package) package (user-package))))

;;; Syntax

(defun readtable-of-package (package)
  "The readtable that the user has assigned to PACKAGE for Swank's clients, or NIL."
  (let ((readtable (or-nil (cdr (assoc (package-name package) swank:*readtable-alist* :test #'string=)))))
    (and (readtablep readtable) readtable)))

(defun code-readtable (session package)
  "The readtable with which code of SESSION is read in PACKAGE: the one that the code has set there, else the package's, else the session's."
  (or (and (not (eq package (session-readtable-home session))) (readtable-of-package package))
      (session-readtable session)))

(defmacro with-code-syntax ((session package) &body body)
  "Run BODY, which reads code of SESSION in PACKAGE, with the session's syntax: the only one with which tools read names and code."
  (let ((home (gensym "SESSION")))
    `(let* ((,home ,session)
            (*package* ,package)
            (*readtable* (code-readtable ,home *package*))
            (*read-base* (session-setting ,home '*read-base*))
            (*read-default-float-format* (session-setting ,home '*read-default-float-format*))
            (*read-eval* (session-setting ,home '*read-eval*)))
       ,@body)))

(defmacro with-file-syntax ((session) &body body)
  "Run BODY, which reads files for SESSION, with the readtable with which LOAD reads them: a package's is only for code of clients."
  `(let ((*readtable* (session-readtable ,session)))
     ,@body))

(defun find-designated-package (text &optional (home (session-package-now (current-session))))
  "The package that TEXT names, or NIL. TEXT is the exact name, or a designator: my-app, :my-app, \"MY-APP\".
Local nicknames of HOME, the session's package by default, count."
  (let ((*package* home))
    (flet ((live (name)
             (let ((package (or-nil (find-package name))))
               (and package (package-name package) package))))
      (or (live text)
          (live (parsed-package text))
          (live (string-trim "\"" (trimmed text)))))))

;;; The session whose code a thread runs.

(defvar *code-home* nil "The connection that this thread served when *CODE-SESSION* was bound.")

(defmacro with-code-of ((session) &body body)
  "Run BODY, which is code of SESSION."
  `(let ((*code-session* ,session)
         (*code-home* *emacs-connection*))
     ,@body))

(defun code-session ()
  "The session whose code this thread runs now, or NIL.
A Swank server that the code started serves other clients in threads that do not run the session's code."
  (let ((session *code-session*))
    (and session
         (not (session-departed session))
         (member *emacs-connection* (list nil *code-home* (session-connection session)))
         session)))
