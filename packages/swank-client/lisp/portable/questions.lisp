;;;; Questions about names and code, and compiling.

(in-package #:swank-client/portable)

;;; Names

(defun package-of-text (text)
  "The package that TEXT names, by default the session's, or NIL if there is none."
  (if text (find-package-named text) (session-package (current-session))))

(defun missing-package (name)
  "The reply about NAME, which no package has."
  (list :package-not-found name '() nil))

(defun qualified-name (symbol)
  "SYMBOL with its package."
  (with-standard-io-syntax
    (let ((*package* (find-package "KEYWORD")) (*print-readably* nil)) (prin1-to-string symbol))))

(defun full-name (symbol)
  "SYMBOL with two colons after its package, as descriptions have it, also if it is external."
  (let ((package (symbol-package symbol)))
    (if (and package (not (keywordp symbol)))
        (let ((bare (with-standard-io-syntax
                      (let ((*package* package) (*print-readably* nil)) (prin1-to-string symbol)))))
          (format nil "~a::~a" (package-name package) bare))
        (qualified-name symbol))))

(defun named-symbol (name package called)
  "=> the symbol that NAME, as code in PACKAGE writes it, names, and :FOUND, or a reply that says what is missing. CALLED is PACKAGE as
the client names it. Nothing is interned."
  (let* ((text (string-trim " '" name))
         (colon (position #\: text))
         (end (and colon (position #\: text :start colon :test-not #'eql)))
         (prefix (and colon (subseq text 0 colon)))
         (home (cond ((null colon) package)
                     ((string= prefix "") (find-package "KEYWORD"))
                     (t (find-package-named prefix))))
         (spelled (if end (subseq text end) text)))
    (if (null home)
        (values nil (missing-package prefix))
        (let ((written (if (and (> (length spelled) 1) (char= #\| (char spelled 0))) (string-trim "|" spelled) (string-upcase spelled))))
          (multiple-value-bind (symbol status) (accessible-symbol written home)
            (if status
                (values symbol :found status)
                (values nil (list :symbol-not-found written (if colon (package-name home) called) (similar-symbols written) 0))))))))

(defun similar-symbols (name)
  "The names of up to five symbols of other packages that have the name NAME."
  (let ((found '()))
    (dolist (package (list-all-packages) (subseq (sort found #'string<) 0 (min 5 (length found))))
      (multiple-value-bind (symbol status) (accessible-symbol name package)
        (when (eq status :external) (pushnew (qualified-name symbol) found :test #'string=))))))

(defun operator-kind (symbol)
  "What SYMBOL, which has a function definition, names."
  (cond ((special-operator-p symbol) :special-operator)
        ((macro-function symbol) :macro)
        ((typep (fdefinition symbol) 'generic-function) :generic-function)
        (t :function)))

(defun arglist-text (symbol)
  "The lambda list of SYMBOL's operator, or NIL where it is not known."
  (let ((arglist (or-nil (swank/backend:arglist symbol))))
    (and (listp arglist)
         (or-nil (let ((*package* (or (symbol-package symbol) *package*)) (*print-case* :upcase))
                   (if arglist (values (truncated 500 (lambda (stream) (prin1 arglist stream)))) "()"))))))

(defun class-kind (class)
  "What CLASS is."
  (typecase class
    (built-in-class :built-in-class)
    (structure-class :structure)
    (t (if (subtypep class 'condition) :condition :class))))

(defun names-of (things)
  "THINGS, symbols or classes or slots, as texts."
  (loop for thing in things collect (line-text thing 200)))

(defun meanings (symbol)
  "((KIND . PLIST) ...) of what SYMBOL names."
  (let ((class (find-class symbol nil)))
    (append
     (when (fboundp symbol)
       (list (list (operator-kind symbol)
                   :name (full-name symbol) :documentation (or-nil (documentation symbol 'function)) :source nil
                   :arglist (arglist-text symbol)
                   :methods (and (eq :generic-function (operator-kind symbol))
                                 (or-nil (length (swank-mop:generic-function-methods (fdefinition symbol))))))))
     (when class
       (list (list (class-kind class)
                   :name (full-name symbol) :documentation (or-nil (documentation symbol 'type)) :source nil
                   :superclasses (or-nil (names-of (mapcar #'class-name (swank-mop:class-direct-superclasses class))))
                   :slots (or-nil (names-of (mapcar #'swank-mop:slot-definition-name (swank-mop:class-direct-slots class)))))))
     (when (boundp symbol)
       (list (list (if (constantp symbol) :constant :variable)
                   :name (full-name symbol) :documentation (or-nil (documentation symbol 'variable)) :source nil
                   :value (multiple-value-bind (text cut) (value-text (symbol-value symbol) 2000 50 5) (list text cut))))))))

(defun describe-name (name &optional package-text arguments)
  "What NAME means in the package that PACKAGE-TEXT names, by default CL-USER.
=> (:found NAME ACCESS PACKAGE (KIND . PLIST) ...) | (:symbol-not-found ...) | (:package-not-found ...)"
  (declare (ignore arguments))
  (let ((package (if package-text (find-package-named package-text) (user-package)))
        (called (if package-text (string-upcase package-text) "CL-USER")))
    (if (null package)
        (missing-package called)
        (multiple-value-bind (symbol found status) (named-symbol name package called)
          (if (eq found :found)
              (list* :found (full-name symbol) status
                     (if (symbol-package symbol) (package-name (symbol-package symbol)) "")
                     (meanings symbol))
              found)))))

(defun kinds-of (symbol)
  "The kinds of what SYMBOL names."
  (append (and (fboundp symbol) (list (operator-kind symbol)))
          (and (boundp symbol) (not (keywordp symbol)) (list (if (constantp symbol) :constant :variable)))
          (let ((class (find-class symbol nil))) (and class (list (class-kind class))))))

(defun wanted-kind-p (kind kinds)
  "True if a symbol of KINDS is one of KIND, which includes the special ones of a kind, or if KIND is NIL."
  (or (null kind)
      (intersection kinds (case kind
                            (:function '(:function :generic-function))
                            (:class '(:class :structure :condition))
                            (:variable '(:variable :constant))
                            (t (list kind))))))

(defun apropos-names (pattern regexp package-text kind external limit)
  "The symbols that name something and whose names contain PATTERN, in upper or lower case. => (:found ((NAME PACKAGE ACCESS KINDS ARGLIST
DOCUMENTATION) ...) COUNT LEFT-OUT UNDEFINED FILTERED SIMILAR) | (:bad-pattern REASON) | (:package-not-found ...)"
  (let ((package (and package-text (find-package-named package-text))))
    (cond (regexp (list :bad-pattern "this Lisp searches only for a part of a name"))
          ((and package-text (null package)) (missing-package package-text))
          (t (found-names (symbols-like pattern package) kind external limit)))))

(defun symbols-like (pattern package)
  "The symbols of PACKAGE, or of all packages except the keywords, whose names contain PATTERN."
  (let ((found (make-hash-table :test 'eq)))
    (flet ((look (package)
             (do-symbols (symbol package)
               (when (and (search pattern (symbol-name symbol) :test #'char-equal) (symbol-package symbol))
                 (setf (gethash symbol found) t)))))
      (if package
          (look package)
          (dolist (each (list-all-packages))
            (unless (eq each (find-package "KEYWORD")) (look each)))))
    (loop for symbol being the hash-keys of found
          when (or (null package) (eq package (symbol-package symbol))) collect symbol)))

(defun external-p (symbol)
  "True if SYMBOL is exported by its package."
  (eq :external (nth-value 1 (accessible-symbol (symbol-name symbol) (symbol-package symbol)))))

(defun found-names (symbols kind external limit)
  "The reply of APROPOS-NAMES for SYMBOLS."
  (let ((shown '()) (undefined 0) (filtered 0))
    (dolist (symbol symbols)
      (let ((kinds (kinds-of symbol)))
        (cond ((null kinds) (incf undefined))
              ((or (not (wanted-kind-p kind kinds)) (and external (not (external-p symbol)))) (incf filtered))
              (t (push (list symbol kinds) shown)))))
    (let* ((sorted (sort shown #'string< :key (lambda (entry) (qualified-name (first entry)))))
           (first (subseq sorted 0 (min limit (length sorted)))))
      (list :found
            (loop for (symbol kinds) in first
                  collect (list (qualified-name symbol) (package-name (symbol-package symbol))
                                (if (external-p symbol) :external :internal)
                                kinds
                                (and (fboundp symbol) (arglist-text symbol))
                                (and (fboundp symbol) (first-line (or-nil (documentation symbol 'function))))))
            (length sorted)
            (left-out-by-package (nthcdr limit sorted))
            undefined filtered '()))))

(defun left-out-by-package (entries)
  "((PACKAGE COUNT) ...) of ENTRIES, (SYMBOL KINDS)."
  (let ((counts '()))
    (loop for (symbol) in entries
          do (let* ((name (package-name (symbol-package symbol))) (known (assoc name counts :test #'string=)))
               (if known (incf (second known)) (push (list name 1) counts))))
    (nreverse counts)))

(defun first-line (text)
  "The first line of TEXT, at most 200 characters, or NIL."
  (and (stringp text)
       (let ((line (subseq text 0 (position #\Newline text)))) (subseq line 0 (min 200 (length line))))))

;;; Macros

(defun expanded (form mode)
  "FORM expanded as MODE says: :ONCE, :FULL, or :ALL, also inside."
  (ecase mode
    (:once (macroexpand-1 form))
    (:full (macroexpand form))
    (:all (swank/backend:macroexpand-all form))))

(defun macroexpand-code (code mode package-text)
  "The expansions of the forms of CODE.
=> (:expanded ((TEXT DIFFERS NIL) ...)) | (:unreadable MESSAGE) | (:failed TYPE MESSAGE) | (:package-not-found ...)"
  (let ((package (package-of-text package-text)))
    (if (null package)
        (missing-package package-text)
        (let* ((*package* package)
               (forms (handler-case (let ((*read-eval* nil)) (rest (forms-of code)))
                        (error (problem) (return-from macroexpand-code (list :unreadable (message-text problem)))))))
          (handler-case (with-protection
                          (list :expanded (loop for form in forms
                                                for expansion = (expanded form mode)
                                                collect (list (form-text expansion) (not (equal form expansion)) nil))))
            (error (problem) (list :failed (class-text (shown-class problem)) (message-text problem))))))))

(defun form-text (form)
  "FORM as code, in lower case."
  (let ((*print-case* :downcase) (*print-pretty* t) (*print-right-margin* 100) (*print-readably* nil))
    (values (truncated 40000 (lambda (stream) (prin1 form stream))))))

;;; Compiling

;;; The files are in a folder of their own: in a folder for all users, others could exchange them before they are loaded.

(defun compile-code (code file package-text load)
  "Compile the text CODE or, if that is NIL, FILE, and load it if LOAD and there was no error.
=> (:compiled FILE (NOTE ...) COUNT-OF-OTHERS FAILED LOADED TEXT REDEFINITIONS) | (:failed TYPE MESSAGE PLACE) | (:file-not-found NAME (FILE ...) REASON)
 | (:package-not-found ...)"
  (let ((package (package-of-text package-text)) (truename (and file (or-nil (probe-file file)))))
    (cond ((null package) (missing-package package-text))
          ((and file (null truename)) (list :file-not-found file '() nil))
          (t (handler-case (call-with-private-folder
                            (lambda (folder)
                              (with-protection
                                (let ((*package* package))
                                  (if code
                                      (compiled (write-code code (merge-pathnames "code.lisp" folder)) folder load t)
                                      (compiled truename folder load nil))))))
               (error (condition) (cons :failed (failure-facts condition))))))))

(defun failure-facts (condition)
  "(TYPE MESSAGE PLACE) of CONDITION, whose place is not known."
  (list (class-text (shown-class condition)) (message-text condition) '()))

(defun write-code (code file)
  "Write CODE to FILE. => FILE"
  (with-open-file (stream file :direction :output :if-exists :error :external-format +utf-8+)
    (write-string code stream)
    (terpri stream))
  file)

(defun compiler-note (severity message)
  "A plist of what the compiler says by MESSAGE."
  (list :severity severity :message (on-one-line message)))

(defun condition-note (severity condition)
  "A plist of what the compiler says by CONDITION."
  (compiler-note severity (or (or-nil (compiler-message condition)) (message-text condition))))

(defun compile-into (folder source text-p)
  "Compile the file SOURCE, which holds a text of the client if TEXT-P, into FOLDER.
=> the file or NIL, whether the compiler calls it a failure, the notes by conditions, and the text that the compiler has printed"
  (let ((notes '()) (said (make-string-output-stream)))
    (flet ((note (severity condition) (pushnew (condition-note severity condition) notes :test #'equal)))
      (multiple-value-bind (output warned-p failed-p)
          (handler-case
              (handler-bind ((warning (lambda (condition)
                                        (note (if (typep condition 'style-warning) :style-warning :warning) condition)
                                        (muffle-warning condition)))
                             ((satisfies compiler-error-p) (lambda (condition) (note :error condition))))
                (let* ((*standard-output* said) (*error-output* said)
                       (target (make-pathname :name "code" :type (pathname-type (compile-file-pathname source)) :version nil :defaults folder)))
                  (call-telling-warnings
                   (lambda ()
                     (compile-file source :output-file target :verbose nil :print nil :external-format (if text-p +utf-8+ :default))))))
            ((or error storage-condition) (condition) (note :error condition) nil))
        (declare (ignore warned-p))
        (values output failed-p (nreverse notes) (get-output-stream-string said))))))

(defun printed-note (text output failed-p notes)
  "The note of what the compiler has only printed, in TEXT, or NIL: lists of undefined functions and variables, or why it calls the result a failure,
as FAILED-P says, if NOTES do not. OUTPUT is the compiled file or NIL."
  (let* ((problem-p (find-if (lambda (note) (member (getf note :severity) '(:error :warning))) notes))
         (start (search "The following" text))
         (message (on-one-line (remove #\; (subseq text (or start 0))))))
    (cond ((and start output) (compiler-note (if (and failed-p (not problem-p)) :warning :style-warning) message))
          (problem-p nil)
          ((and output failed-p (string/= message "")) (compiler-note :warning message))
          ((or (null output) failed-p)
           (compiler-note :error (if (string= message "") "The compiler failed, and does not say why." message))))))

(defun compiled (source folder load text-p)
  "The reply of COMPILE-CODE for the file SOURCE, which holds a text of the client if TEXT-P. FOLDER is that of the compiled file."
  (multiple-value-bind (output failed-p notes text) (compile-into folder source text-p)
    (let* ((printed (printed-note text output failed-p notes))
           (all (append notes (and printed (list printed))))
           (failed (or (null output) (find :error all :key (lambda (note) (getf note :severity))))))
      (list :compiled (and (not text-p) (namestring source)) all 0 (and failed t)
            (and load (not failed)
                 (handler-case (progn (load output) t)
                   (error (condition) (failure-facts condition))))
            nil '()))))

;;; Threads

(defun list-threads (&key id name (frames 0))
  "The threads of the image. What they wait for is not known here. => (:threads (PLIST ...) :count COUNT :deadlocks ())"
  (declare (ignore frames))
  (let ((wanted (loop for thread in (swank/backend:all-threads)
                      when (and (or (null id) (eql id (swank/backend:thread-id thread)))
                                (or (null name) (search name (thread-name-text thread) :test #'char-equal)))
                        collect thread)))
    (list :threads (loop for thread in wanted
                         repeat 500
                         collect (thread-plist thread))
          :count (length wanted)
          :deadlocks '())))

(defun thread-plist (thread)
  "What is known of THREAD."
  (let ((mine (find thread (running-evaluations (current-session)) :key #'evaluation-thread)))
    (list* :id (swank/backend:thread-id thread)
           :name (thread-name-text thread)
           :whose (cond (mine :evaluation) ((service-p thread) :service) (t :program))
           :level (if mine (evaluation-level mine) 0)
           :state :unknown
           (and mine (list :evaluation (evaluation-id mine))))))

(defun service-p (thread)
  "True if THREAD serves clients: one of Swank or of this library."
  (let ((name (thread-name-text thread)))
    (or (member name '("control-thread" "reader-thread" "auto-flush-thread" "swank-indentation-cache-thread" "worker") :test #'string=)
        (eql 0 (search "swank-client " name))
        (eql 0 (search "Swank " name :test #'char-equal)))))
