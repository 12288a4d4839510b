;;;; Kinds of definitions, the definitions and assignments that a session's forms make, and where those came from that they replace.

(in-package #:swank-client/ledger)

;;; Kinds of definitions: which operators make them, and which definition a name has now

(defun assigned-function (form)
  "The kind and the name of the function that FORM, (SETF (FDEFINITION 'NAME) ...), defines."
  (let ((kind (getf '(fdefinition :function symbol-function :function macro-function :macro) (first (second form))))
        (quoted (second (second form))))
    (when (and kind (typep quoted '(cons (eql quote))))
      (values kind (second quoted)))))

(defun defined-thing (form)
  "The kind and the name of the definition that FORM makes."
  (let ((kind (defining-kind (first form)))
        (named (second form)))
    (case kind
      ((nil) nil)
      (:setf (when (consp named) (assigned-function form)))
      (:structure (values kind (if (consp named) (first named) named)))
      (:package (values kind (string named)))
      (t (values kind named)))))

(defun name-p (kind name)
  "True if a definition of KIND can have NAME."
  (typecase name
    (null nil)
    (symbol t)
    (string (eq kind :package))
    ((cons (eql setf) (cons symbol null)) t)))

;;; Current definitions

(defun source-kinds (kind)
  "The kinds of definitions that replace one of KIND, KIND included."
  (or (find kind '((:function :generic-function :macro)
                   (:variable :constant :symbol-macro)
                   (:class :structure :condition))
            :test #'member)
      (list kind)))

(defun exists-p (kind name)
  "True if NAME is defined as KIND."
  (case kind
    ((:function :generic-function :macro) (fboundp name))
    ((:variable :constant :symbol-macro) (or (boundp name) (not (eq (supported (compiler-info :variable :kind name) :unknown) :unknown))))
    ((:class :structure :condition) (find-class name nil))
    (:package (find-package name))))

(defun methods-of (name)
  "The methods of NAME, if it is a generic function."
  (let ((function (and (fboundp name) (fdefinition name))))
    (when (typep function 'generic-function)
      (copy-list (sb-mop:generic-function-methods function)))))

(defun source-origin (source)
  "The origin of SOURCE, a definition source, or NIL: see evaluate/definitions.lisp."
  (getf (sb-introspect:definition-source-plist source) :emacs-buffer))

(defun definition-source (kind name)
  "The definition source of NAME as KIND, or NIL."
  (first (sb-introspect:find-definition-sources-by-name
          ;; a package is looked up by a symbol, which may be uninterned
          (if (stringp name) (make-symbol name) name)
          kind)))

(defun implicit-origin (name)
  "The origin of the first method of NAME, a generic function that a DEFMETHOD created."
  (some (lambda (method) (source-origin (sb-introspect:find-definition-source method)))
        (reverse (methods-of name))))

(defun current-definition (kind name)
  "(KIND ORIGIN) of the current definition of NAME, or NIL if there is none. ORIGIN is NIL if the definition came from a file."
  (loop for kind in (source-kinds kind)
        for source = (definition-source kind name)
        when source
          return (list kind (or (source-origin source)
                                (and (eq kind :generic-function)
                                     (null (sb-introspect:definition-source-pathname source))
                                     (implicit-origin name))))
        finally (return (and (exists-p kind name) (list kind nil)))))

(defun specializer-key (specializer)
  "The name of a class, or (EQL OBJECT)."
  (if (typep specializer 'sb-mop:eql-specializer)
      (list 'eql (sb-mop:eql-specializer-object specializer))
      (class-name specializer)))

(defun method-name (name method)
  "(NAME QUALIFIER... (SPECIALIZER...))"
  (cons name (append (method-qualifiers method)
                     (list (mapcar #'specializer-key (sb-mop:method-specializers method))))))

;;; The files and forms of definitions that evaluated forms have replaced. SBCL then records only the new place.

(defvar *replaced-places* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "((KIND NAME . PLACE) ...) of replaced definitions, by the symbol in their names.")

(defvar *replaced-dates* (make-hash-table :test 'equal :synchronized t)
  "The dates that files had when they were compiled, by native name, as replaced functions had recorded them.")

(defstruct (place (:constructor make-place (file number)) (:copier nil))
  "The native name of the FILE that a definition was loaded from, and the NUMBER of its top-level form there, or NIL."
  file number)

(defun place-symbol (name)
  "The symbol in NAME: SYMBOL, (SETF SYMBOL), or one of them with what METHOD-NAME adds. NIL for the name of a package."
  (typecase name
    (symbol name)
    ((cons (eql setf) (cons symbol null)) (second name))
    (cons (place-symbol (first name)))))

(defun place-of-source (source)
  "The place of SOURCE, a definition source, or NIL if it is in no file. An editor names the file of the text that it compiles."
  (let ((path (sb-introspect:definition-source-pathname source))
        (plist (sb-introspect:definition-source-plist source)))
    (if (getf plist :emacs-string)
        (let ((file (getf plist :emacs-filename)))
          (and (stringp file) (make-place file nil)))
        (let ((file (and path (not (typep path 'logical-pathname)) (probe-file path))))
          (and file
               (make-place (sb-ext:native-namestring file) (first (sb-introspect:definition-source-form-path source))))))))

(defun note-date (source file)
  "Note the date that FILE, a native name, had when the definition of SOURCE was compiled from it. Keep its text if it has that date still:
the last code that records the date may be about to go."
  (let ((date (sb-introspect:definition-source-file-write-date source))
        (truename (sb-ext:parse-native-namestring file)))
    (when date
      (setf (gethash file *replaced-dates*) (max date (gethash file *replaced-dates* 0)))
      (when (and (null (loaded-octets truename)) (eql date (file-write-date truename)))
        (note-text truename)))))

(defun place-entry (kind name)
  "The entry of *REPLACED-PLACES* for NAME as KIND or a kind that replaces it, or NIL."
  (find-if (lambda (entry) (and (member (first entry) (source-kinds kind)) (equal name (second entry))))
           (gethash (place-symbol name) *replaced-places*)))

(defun note-replaced (kind name source)
  "Note the place of SOURCE, that of the definition of NAME as KIND that a form replaces, if it is a file."
  (let ((place (and source (place-symbol name) (nil-on file-error (place-of-source source)))))
    (when place
      (nil-on (or file-error stream-error) (note-date source (place-file place)))
      (sb-ext:with-locked-hash-table (*replaced-places*)
        (let ((entry (place-entry kind name)))
          (if entry
              (setf (cddr entry) place)
              (push (list* kind name place) (gethash (place-symbol name) *replaced-places*))))))))

(defun replaced-place (kind name)
  "The place of the latest definition of NAME as KIND that was in a file and that an evaluated form has replaced, or NIL."
  (cddr (place-entry kind name)))

(defun replaced-date (file)
  "The date that FILE, a native name, had when it was compiled, as functions that forms have replaced had recorded it; or NIL."
  (values (gethash file *replaced-dates*)))

;;; Records the definitions that a session's forms make. An expansion of a defining macro adds a candidate; the candidate becomes an entry
;;; when the definition exists and its source says that the form made it.
;;; No binding outlasts the evaluation, and a form that defines nothing leaves nothing behind.

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
  ;; global variables that its forms have assigned, latest first: see session/ledger.lisp
  (assigned '() :type list)
  ;; calls that may have defined something, latest first: see session/named-calls.lisp
  (calls '() :type list))

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
  (recording-faults
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
  (recording-faults (confirm-definition ledger candidate)))

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

;;; Global variables that a session's forms have assigned.

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
