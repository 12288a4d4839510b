;;;; What is recorded with evaluated definitions, and redefinitions, kept for the client instead of reported as warnings.

(in-package #:swank-client/evaluate)

;;; Gives an Emacs that shares the image the text of evaluated definitions, for M-. and for v in its debugger.
;;; Otherwise Swank would name a buffer that Emacs does not have. It would also read the text to find a position in it, which interns
;;; symbols in the user's package and prints warnings in the user's REPL.

(defun evaluated-text (plist)
  "The text of the form with the source plist PLIST, or NIL if no client of this library evaluated the form."
  (let ((origin (getf plist :evaluation)))
    (and origin
         ;; evaluated code that compiles an editor's text puts the editor's plist before ours
         (eq origin (getf plist :emacs-buffer))
         (getf plist :emacs-string))))

(defun searched-name (name)
  "The text that Emacs searches for in a definition of NAME, ignoring case."
  (if (consp name) (format nil "~{~a~^ ~}" name) (string name)))

(defun call-under-way (code-location)
  "The text of the form at CODE-LOCATION if the code was compiled for stepping, else NIL."
  (let ((form (progn (fill-in-code-location code-location)
                     (compiled-code-location-step-info code-location))))
    (and (stringp form) (plusp (length form)) form)))

(defun saved-location (plist text &optional snippet)
  "Swank's location for TEXT, a definition with the source plist PLIST, in the file that it was saved to; or NIL."
  (loop for file in (saved-files (getf plist :evaluation))
        for position = (nil-on (or file-error stream-error) (search text (source-text (sb-ext:parse-native-namestring file))))
        when position
          return (swank/backend:make-location (list :file file) (list :position (1+ position)) (and snippet (list :snippet snippet)))))

(defun text-in-package (text plist)
  "TEXT, which has the source plist PLIST, and below it the IN-PACKAGE form by which an editor compiles it again in the right package. CL-USER is
the one that editors assume. Above TEXT, the form would move the positions in it."
  (let ((package (getf plist :package)))
    (if (and (stringp package) (string/= package "COMMON-LISP-USER"))
        (format nil "~a~2%;; The package in which this was evaluated:~%(in-package ~s)~%" text package)
        text)))

(defun definition-location (plist text name)
  "Swank's location for the definition of NAME in TEXT, whose source plist is PLIST."
  (or (saved-location plist text)
      (swank/backend:make-location (list :source-form (text-in-package text plist)) (list :function-name (searched-name name)))))

(defun call-location (plist text code-location)
  "Swank's location for CODE-LOCATION in TEXT, whose source plist is PLIST. Emacs searches for its snippet."
  (let ((call (or-nil (call-under-way code-location))))
    (or (saved-location plist text call)
        (swank/backend:make-location (list :source-form (text-in-package text plist)) '(:position 1) (and call (list :snippet call))))))

(defun show-texts ()
  "Make Swank give Emacs the texts. This stays after the client disconnects, as the definitions do."
  (encapsulate-function 'definition-source-for-emacs 'show-texts
                        (lambda (next source type name)
                          (let* ((plist (sb-introspect:definition-source-plist source))
                                 (text (evaluated-text plist)))
                            (if text (definition-location plist text name) (funcall next source type name)))))
  (encapsulate-function 'emacs-buffer-source-location 'show-texts
                        (lambda (next code-location plist)
                          (let ((text (evaluated-text plist)))
                            (if text (call-location plist text code-location) (funcall next code-location plist))))))

(defvar *show-texts-lock* (sb-thread:make-mutex :name "swank-client show-texts") "Held while Swank's functions are encapsulated.")

(defun ensure-texts-shown ()
  "Make Swank give Emacs the texts unless it already does."
  (unless (supported (encapsulated-p 'emacs-buffer-source-location 'show-texts) t)
    (sb-thread:with-recursive-lock (*show-texts-lock*) (show-texts))))

;;; Records with each definition the text of its form, and the evaluation that it came from. The source plist holds both, as it does in Swank
;;; for code compiled from an editor's buffer. The buffer name, a new string for each form, is the form's origin, compared with EQ.
;;; (It must be a string, because SBCL writes source plists into compiled files.)

(defun make-origin (evaluation)
  "A new origin for a form of EVALUATION."
  (let ((origin (format nil "evaluation ~d" (evaluation-id evaluation))))
    (setf (gethash origin (ledger-origins (session-ledger (evaluation-session evaluation)))) t)
    origin))

(defstruct (form-source (:type vector) (:copier nil))
  "The text of a form, from START to END in CODE. PLIST is its source plist, created on demand."
  code
  start
  end
  (plist '() :type list))

(defvar *form-source* nil "The source of the form that is being evaluated.")

(defmacro with-form-source ((code start end) &body body)
  "Run BODY, which evaluates the form between START and END in CODE."
  `(let ((*form-source* (make-form-source :code ,code :start ,start :end ,end))
         (*source-plist* (supported *source-plist*)))
     ,@body))

(defun form-source-text (source)
  "The text of the form of SOURCE, without the comments before it."
  (let* ((text (subseq (form-source-code source) (form-source-start source) (form-source-end source)))
         (form (first (top-level-forms text))))
    (if form (subseq text (top-level-form-start form) (top-level-form-end form)) text)))

(defun source-plist (source evaluation)
  "The source plist for definitions that the form of SOURCE makes in EVALUATION."
  (or (form-source-plist source)
      (let* ((code (form-source-code source))
             (start (position-if-not #'blank-p code :start (form-source-start source) :end (form-source-end source)))
             (end (position-if-not #'blank-p code :start start :end (form-source-end source) :from-end t)))
        (ensure-texts-shown)
        (let ((origin (make-origin evaluation)))
          (setf (form-source-plist source)
                (list :emacs-buffer origin
                      :emacs-string (subseq code start (1+ end))
                      :emacs-position (1+ start)
                      :package (package-name *package*)
                      :evaluation origin
                      :for-stepping *for-stepping*))))))

(defun drop-source-plist ()
  "Remove the form's source plist while a file is loaded or compiled: definitions from files name the file."
  (let ((plist (and *form-source* (form-source-plist *form-source*))))
    (when (and plist (tailp plist *source-plist*))
      (setf *source-plist* (ldiff *source-plist* plist)))))

(defun add-source-plist (evaluation)
  "Add the current form's source plist to definitions that are compiled from now on in EVALUATION."
  (let ((plist (source-plist *form-source* evaluation)))
    (unless (tailp plist *source-plist*)
      (setf *source-plist* (append *source-plist* plist)))))

;;; Redefinitions, kept for the client instead of reported as warnings, with the code that still uses a redefined macro or inline function.

(defconstant +redefinitions-limit+ 2000 "Most redefinitions kept between two outcomes of an evaluation.")

(defconstant +named-limit+ 50 "Most redefinitions by one file that are named, and most users of one macro.")

(defconstant +searches-limit+ 10 "Most searches for users in one evaluation. Each takes up to 0.1 s.")

;;; Names

(defun redefined-name (condition)
  "The name of the definition that CONDITION reports as redefined."
  (if (typep condition 'redefinition-with-defmethod)
      `(method ,(redefinition-warning-name condition)
               ,@(redefinition-with-defmethod-qualifiers condition)
               ,(mapcar #'specializer-key (redefinition-with-defmethod-specializers condition)))
      (redefinition-warning-name condition)))

(defun user-name (name)
  "NAME, of a function that uses a macro, as a definition names it."
  (typecase name
    ((cons (satisfies method-function-name-p)) (cons 'method (rest name)))
    ((cons (member macro-function compiler-macro)) (second name))
    (t name)))

(defun definition-name-text (name)
  "NAME as text, as code in the current package writes it."
  (line-text-in-time name 300))

;;; Files

(defun source-of-function (function)
  "The source file of FUNCTION, as a namestring."
  (debug-source-namestring
   (debug-info-source (%code-debug-info (fun-code-header (%fun-fun function))))))

(defun source-file (condition)
  "The source file of the new definition that CONDITION reports, as a namestring, or NIL if no file is loaded or compiled."
  (let ((file (or *load-truename* *compile-file-truename*)))
    (when file
      ;; a condition may lack either
      (or (or-nil (definition-source-location-namestring (redefinition-warning-new-location condition)))
          (or-nil (source-of-function (function-redefinition-warning-new-function condition)))
          (sb-ext:native-namestring file)))))

;;; Users of macros and inline functions

(defun function-now (name)
  "The function that NAME, as a cross reference gives it, denotes now, or NIL."
  (find name (or-nil (functions-named name)) :key #'%fun-name :test #'equal))

(defun compiled-inline (name)
  "The names of functions that were compiled with the inline function NAME."
  (let* ((function (fdefinition name))
         (callers (with-walk-of-memory (sb-introspect:find-function-callers function))))
    (loop for (user) in (recorded-references :calls name)
          unless (or (equal user name) (member (function-now user) callers)) collect user)))

(defconstant +macros-limit+ 5 "Most macros that call one function and whose users are looked for.")

(defun macros-by-function ()
  "A table of lists of the program's macros, by the functions that they call when they are expanded."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (package (list-all-packages) table)
      (unless (or (implementation-package-p package) (eq package (find-package "COMMON-LISP")))
        (do-symbols (symbol package)
          (let ((macro (and (eq package (symbol-package symbol)) (macro-function symbol))))
            (when macro
              (dolist (name (or-nil (functions-called macro))) (pushnew symbol (gethash name table))))))))))

(defun expanded-with (name macros)
  "The names of the functions that were compiled with macros that call the function NAME. MACROS is a list of a value of MACROS-BY-FUNCTION, or of
NIL until that is first needed."
  (loop for macro in (gethash name (or (first macros) (setf (first macros) (macros-by-function))))
        repeat +macros-limit+
        append (mapcar #'first (recorded-references :macroexpands macro))))

(defun compiled-users (name kind macros)
  "((USER . FUNCTION) ...): the functions that were compiled with NAME: a :MACRO, or a :FUNCTION that is inline or that
macros call. EXPANDED-WITH explains MACROS."
  (loop for user in (delete-duplicates (case kind
                                         (:macro (mapcar #'first (recorded-references :macroexpands name)))
                                         (:function (append (and (inline-p name) (compiled-inline name))
                                                            (expanded-with name macros))))
                                       :test #'equal)
        collect (cons user (function-now user))))

(defun users-of-old (evaluation condition)
  "((USER . FUNCTION) ...): the functions that were compiled with the macro, or the function that is inline or that macros call, that CONDITION
reports to EVALUATION as redefined."
  (let ((kind (typecase condition
                (redefinition-with-defmacro :macro)
                (redefinition-with-defun :function))))
    (and kind (compiled-users (redefinition-warning-name condition) kind (evaluation-macros evaluation)))))

(defun note-users (evaluation condition)
  "Note the functions that use the old definition of what CONDITION reports, so that those that still do can be reported later."
  (when (< (length (evaluation-stale-users evaluation)) +searches-limit+)
    (let* ((name (redefinition-warning-name condition))
           (users (users-of-old evaluation condition))
           (known (assoc name (evaluation-stale-users evaluation) :test #'equal)))
      (cond (known (setf (cdr known) (union (cdr known) users :test #'equal)))
            (users (push (cons name users) (evaluation-stale-users evaluation)))))))

(defun replaced-code (condition)
  "OWN-CODE of the function or method that CONDITION reports as redefined, or NIL."
  (let ((function (typecase condition
                    (redefinition-with-defmethod
                     (let ((method (redefinition-with-defmethod-old-method condition))) (and method (method-code method))))
                    (redefinition-with-defun (fdefinition (redefinition-warning-name condition))))))
    (and function (own-code function))))

(defun note-replaced-code (evaluation condition)
  "Keep the code that CONDITION reports as redefined: threads may still be inside."
  (let ((code (and (< (evaluation-redefinition-count evaluation) +redefinitions-limit+) (replaced-code condition))))
    (when code (push (cons (redefined-name condition) code) (evaluation-replaced evaluation)))))

(defun taken-insiders (evaluation)
  "Forget the code that was replaced. => ((NAME COUNT ALL) ...) of the definitions whose old code other threads are inside, as
THREADS-INSIDE says"
  (let ((replaced (reverse (shiftf (evaluation-replaced evaluation) '()))))
    (loop for (name count all) in (and replaced (recording-faults (threads-inside replaced)))
          repeat +named-limit+
          collect (list (definition-name-text name) count all))))

(defun stale-users (users)
  "The names of those USERS, ((NAME . FUNCTION) ...), that have not been redefined since, as text."
  (sort (loop for (name . function) in users
              when (and function (eq function (function-now name)))
                collect (definition-name-text (user-name name)))
        #'string<))

;;; Keeping them

(defun loads-compiled-macro-p (evaluation condition file)
  "True if EVALUATION loads a macro of FILE after compiling FILE. The compiler has defined it already, and reported what it redefined."
  (and (typep condition 'redefinition-with-defmacro)
       (null *compile-file-truename*)
       (member file (evaluation-compiled-files evaluation) :key #'sb-ext:native-namestring :test #'equal)))

(defun keep-redefinition (evaluation condition)
  "Keep the redefinition that CONDITION reports, for the next outcome of EVALUATION."
  (let ((file (source-file condition)))
    (unless (loads-compiled-macro-p evaluation condition file)
      (when (< (evaluation-redefinition-count evaluation) +redefinitions-limit+)
        (push (list (recording-faults (definition-name-text (redefined-name condition))) file)
              (evaluation-redefinitions evaluation)))
      (incf (evaluation-redefinition-count evaluation))))
  (recording-faults (note-replaced-code evaluation condition))
  (recording-faults (note-users evaluation condition)))

(defun first-distinct (names)
  "The first +NAMED-LIMIT+ of the different NAMES."
  (let ((names (remove-duplicates (remove nil names) :test #'equal :from-end t)))
    (subseq names 0 (min +named-limit+ (length names)))))

(defun by-file (redefinitions)
  "((FILE COUNT (NAME ...)) ...) of REDEFINITIONS, as KEEP-REDEFINITION keeps them. FILE is NIL for the forms of the evaluation itself."
  (loop for file in (remove-duplicates (mapcar #'second redefinitions) :test #'equal :from-end t)
        for some = (remove file redefinitions :key #'second :test-not #'equal)
        collect (list (and file (short-file-name file)) (length some) (first-distinct (mapcar #'first some)))))

(defun taken-redefinitions (evaluation)
  "Remove the redefinitions so far. => a plist of them by file, of their number, of users of old definitions: ((NAME COUNT (USER ...)) ...), and of
the numbers of threads inside old code: ((NAME COUNT ALL) ...)"
  (let ((users (reverse (shiftf (evaluation-stale-users evaluation) '()))))
    (setf (evaluation-macros evaluation) (list nil))
    (list :inside (taken-insiders evaluation)
          :redefinitions (by-file (reverse (shiftf (evaluation-redefinitions evaluation) '())))
          :redefinition-count (shiftf (evaluation-redefinition-count evaluation) 0)
          :stale (loop for (name . known) in users
                       for stale = (stale-users known)
                       when stale
                         collect (list (definition-name-text name) (length stale)
                                       (subseq stale 0 (min +named-limit+ (length stale))))))))
