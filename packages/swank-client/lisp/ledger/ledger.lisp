;;;; Records the definitions that a session's forms make. An expansion of a defining macro adds a candidate; the candidate becomes an entry
;;;; when the definition exists and its source says that the form made it.
;;;; No binding outlasts the evaluation, and a form that defines nothing leaves nothing behind.

(in-package #:swank-client/ledger)

(defstruct (ledger (:copier nil) (:predicate nil))
  "What the forms of one session have defined and loaded."
  (lock (sb-thread:make-mutex :name "swank-client ledger"))
  ;; origins of this session's forms
  (origins (make-hash-table :test 'eq :weakness :key :synchronized t))
  ;; origins of texts that it has compiled and loaded: loading copies them
  (compiled-origins (make-hash-table :test 'equal :synchronized t))
  ;; all entries, latest first
  (entries '() :type list)
  ;; possible definitions since the last check; those that did not exist at that check
  (candidates '())
  (pending '() :type list)
  ;; ((:FILE TRUENAME TIMES) or (:SYSTEM NAME 1) ...), latest first
  (loads '() :type list)
  ;; global variables that its forms have assigned, latest first: see ledger/assignments.lisp
  (assigned '() :type list))

(defstruct (entry (:type vector) (:copier nil))
  "A definition that a form of the session has made."
  kind
  name
  origin
  ;; REDEFINED: it replaced a definition. FOREIGN: that was not this session's
  (redefined nil)
  (foreign nil)
  ;; a variable whose definition gives it a value
  (valued nil))

(defmethod print-object ((ledger ledger) stream)
  (print-unreadable-object (ledger stream :type t :identity t)))

(defconstant +pending-limit+ 100 "Most candidates that wait for their definition.")

(defun note-candidate (ledger kind name before &optional valued)
  "Note that a form is about to define NAME as KIND, with a value if VALUED. BEFORE is the current definition, or for methods the current
methods."
  (sb-ext:atomic-push (list kind name valued before) (ledger-candidates ledger)))

(defun note-replaced-definition (kind name)
  "Note the file of the definition of NAME that one as KIND is about to replace."
  (ignore-errors
   (loop for kind in (source-kinds kind)
         for source = (definition-source kind name)
         when source return (note-replaced kind name source))))

(defun note-defining-form (ledger form kind name)
  "Note that FORM is about to define NAME as KIND."
  (cond ((not (eq kind :method))
         (note-candidate ledger kind name (current-definition kind name) (and (cddr form) t))
         (note-replaced-definition kind name))
        (t (unless (fboundp name) (note-candidate ledger :generic-function name nil))
           (note-candidate ledger kind name (methods-of name)))))

;;; Loaded files

(defun note-load (ledger kind name)
  "Note that a session's code loads NAME, the truename of a :FILE or the name of a :SYSTEM."
  (with-system-mutex ((ledger-lock ledger))
    (let ((known (find name (ledger-loads ledger) :key #'second :test #'equal)))
      (cond ((null known) (push (list kind name 1) (ledger-loads ledger)))
            ;; a system that is loaded again loads only its changed files
            ((eq kind :file) (incf (third known)))))))

(defun forget-load (ledger name)
  "Forget that a session's code has loaded NAME."
  (with-system-mutex ((ledger-lock ledger))
    (setf (ledger-loads ledger) (remove name (ledger-loads ledger) :key #'second :test #'equal))))

;;; Confirming candidates

(defun own-origin-p (ledger origin)
  "True if ORIGIN is that of a form of LEDGER's session."
  (values (or (gethash origin (ledger-origins ledger))
              (gethash origin (ledger-compiled-origins ledger)))))

(defvar *compiled-texts* (list 0) "A list of the number of texts that clients have compiled and loaded.")

(defun make-compiled-origin (ledger)
  "A new origin for a text that the session of LEDGER compiles to load it: no other text in the image has an equal one."
  (let ((origin (format nil "compile-code ~d" (1+ (sb-ext:atomic-incf (car *compiled-texts*))))))
    (setf (gethash origin (ledger-compiled-origins ledger)) t)
    origin))

(defun find-entry (ledger kind name)
  "The entry that a definition of NAME as KIND replaces, or NIL."
  (find-if (lambda (entry) (and (member (entry-kind entry) (source-kinds kind)) (equal (entry-name entry) name)))
           (ledger-entries ledger)))

(defun enter (ledger kind name origin before &optional valued)
  "Enter a definition, of a variable with a value if VALUED. BEFORE is (KIND ORIGIN) of the definition that it replaced, or NIL."
  (let ((known (find-entry ledger kind name))
        (foreign (and before (not (own-origin-p ledger (second before))))))
    (cond ((null known)
           (push (make-entry :kind kind :name name :origin origin :redefined (and before t) :foreign foreign
                             :valued valued)
                 (ledger-entries ledger)))
          ((not (eq origin (second before)))
           (setf (entry-kind known) kind
                 (entry-origin known) origin
                 (entry-valued known) valued
                 (entry-redefined known) (and (or before (entry-redefined known)) t)
                 (entry-foreign known) (and before (or foreign (entry-foreign known))))))))

(defun replaced-method (name method)
  "(:METHOD ORIGIN) of METHOD, named NAME, which a form has replaced. Note its file."
  (let ((source (sb-introspect:find-definition-source method)))
    (note-replaced :method name source)
    (list :method (source-origin source))))

(defun confirm-methods (ledger name before)
  "Enter the methods of NAME that this session's forms made and that are not in BEFORE. True if there are any."
  (loop for method in (reverse (methods-of name))
        for origin = (and (not (member method before))
                          (source-origin (sb-introspect:find-definition-source method)))
        for method-name = (and (own-origin-p ledger origin) (method-name name method))
        for replaced = (and method-name (find method-name before :test #'equal
                                                                 :key (lambda (method) (method-name name method))))
        when method-name
          do (enter ledger :method method-name origin (and replaced (replaced-method method-name replaced)))
          and count t into found
        finally (return (plusp found))))

(defun confirm-definition (ledger candidate)
  "Enter the definition of CANDIDATE. False if it does not exist."
  (destructuring-bind (kind name valued before) candidate
    (if (eq kind :method)
        (confirm-methods ledger name before)
        (destructuring-bind (&optional now origin) (current-definition kind name)
          (when (own-origin-p ledger origin)
            (enter ledger now name origin before (and valued (eq now :variable)))
            t)))))

(defun take-candidates (ledger)
  "Remove and return the candidates of LEDGER, oldest first."
  (loop for taken = (ledger-candidates ledger)
        until (eq taken (sb-ext:compare-and-swap (ledger-candidates ledger) taken '()))
        finally (return (reverse taken))))

(defun confirmed-p (ledger candidate)
  "Enter the definition of CANDIDATE if it exists. => true if it exists"
  (ignore-errors (confirm-definition ledger candidate)))

(defun confirm-definitions (ledger)
  "Enter the definitions made since the last call."
  (when (ledger-candidates ledger)
    (sb-thread:with-mutex ((ledger-lock ledger))
      (dolist (candidate (take-candidates ledger))
        (unless (confirmed-p ledger candidate)
          ;; a definition inside a function is made when the function is called
          (pushnew candidate (ledger-pending ledger) :test #'equal :key #'butlast)))
      (let ((rest (nthcdr (1- +pending-limit+) (ledger-pending ledger))))
        (when rest (setf (rest rest) '()))))))
