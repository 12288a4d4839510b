;;;; Records what loading a system or a file does: what is compiled and loaded, and what the compiler says, with the place of the form that each note is about.

(in-package #:swank-client/build)

(defconstant +notes-limit+ 200 "Most notes that a reply has.")

(defstruct (note (:conc-name noted-))
  "What the compiler said about a form. PATH is the number of its top-level form in FILE and the indices below it; POSITION that of a form
that cannot be read."
  severity text file definition
  (path '())
  (position nil)
  ;; (KIND NAME) of the name that is said to be undefined
  (undefined nil))

(defun note-severity (condition)
  "How bad CONDITION, which the compiler has signalled, is."
  (typecase condition
    (sb-ext:compiler-note :note)
    (reader-error :read-error)
    (style-warning :style-warning)
    (warning :warning)
    (t :error)))

(defun note-of (condition)
  "The note about CONDITION, which the compiler signals now."
  (let* ((definition (compiled-definition))
         (severity (note-severity condition))
         ;; without line breaks, the words of the compiler's errors run together
         (text (report-text condition 2000 (eq severity :error)))
         (undefined (undefined-thing condition text))
         (source (compiled-from-file))
         (file (or source *compile-file-truename*)))
    (make-note :severity severity
               :text (with-odd-character text undefined file)
               :undefined undefined
               :file file
               :definition (and definition (name-text definition))
               ;; in code that COMPILE is given, it leads through that
               :path (and source (nth-value 1 (compiled-form)))
               :position (and (typep condition 'reader-error) (or-nil (character-read condition))))))

(defconstant +repetitions+ 10 "Conditions that may come between a condition and its repetition.")

(defun call-noting (receive function)
  "Call FUNCTION, which compiles, and RECEIVE with each condition that the compiler signals. => the values of FUNCTION"
  (let ((seen '()))
    (flet ((note (condition)
             (let ((own (if (typep condition 'encapsulated-condition) (encapsulated-condition condition) condition)))
               (unless (or (member own seen) (typep own 'redefinition-warning))
                 (setf seen (cons own (subseq seen 0 (min (length seen) +repetitions+))))
                 (funcall receive own)))))
      (handler-bind ((fatal-compiler-error #'note)
                     (compiler-error #'note)
                     (sb-ext:compiler-note #'note)
                     (warning #'note))
        (funcall function)))))

(defun call-collecting-notes (function)
  "Call FUNCTION, which compiles. => the notes, in order, the number of those not kept, and a list of the values of FUNCTION"
  (let* ((notes '())
         (count 0)
         (values (multiple-value-list
                  (call-noting (lambda (condition)
                                 (when (<= (incf count) +notes-limit+) (push (note-of condition) notes)))
                               function))))
    (values (nreverse notes) (max 0 (- count +notes-limit+)) values)))

;;; Places

(defun subform-span (text form path)
  "(START END) of the form in FORM, a top-level form of TEXT, to which the indices of PATH lead, or of the last list on the way."
  (loop with span = (span form)
        for index in path
        for inner = (and (char= #\( (char text (first span)))
                         (nth index (element-spans text (first span) (second span) (1+ index))))
        while inner do (setf span inner)
        finally (return span)))

(defun note-span (note file)
  "(START END) of the form that NOTE is about in FILE, or NIL."
  (let* ((path (noted-path note))
         (form (and path (nth (first path) (file-forms file))))
         (position (noted-position note)))
    (cond (form (subform-span (file-text file) form (rest path)))
          ((and position (<= position (length (file-text file))))
           (let ((start (or (form-after (file-text file) position) position)))
             (list start (length (file-text file))))))))

(defun note-facts (note unnamed)
  "The plist that describes NOTE. The file UNNAMED, a truename, holds the client's code: it is not named."
  (let* ((file (and (noted-file note) (file-now (noted-file note))))
         (span (and file (note-span note file))))
    (list* :severity (noted-severity note) :message (noted-text note) :definition (noted-definition note)
           :file (and file (not (equal unnamed (file-truename file))) (shown-file (file-truename file)))
           (when span
             (multiple-value-bind (line column) (position-of (file-text file) (first span))
               (list :line line :column column
                     :form (definition-line (subseq (file-text file) 0 (second span)) (first span))))))))

;;; Records what loading a system or a file does: the files that are compiled and loaded, and what the compiler says about them.

(defconstant +compiler-notes-limit+ 100 "Most notes without a warning that a reply about loading has.")

(defconstant +unloaded-limit+ 20 "Most files of a system that a reply names because they were not loaded.")

(defstruct loading
  "What loading a system or a file has done so far. Other threads may read it."
  ;; names
  (system nil)
  (file nil)
  ;; the name of the file that defines the system, if ASDF would not have found it
  (found-in nil)
  ;; the compiler's notes, the latest first, and the number of those not kept
  (notes '())
  (omitted 0)
  ;; (SYSTEM . PATHNAME) of the files to load, in order
  (planned '())
  ;; the pathnames of those that were compiled and loaded, the latest first
  (compiled '())
  (loaded '())
  ;; the names of the systems that are loaded to their end
  (complete '())
  ;; (KIND PATHNAME) of what runs now, or has failed, or NIL
  (action nil)
  ;; the name of the system that Quicklisp installs now, or has failed to, or NIL
  (installing nil)
  ;; ((NAME PROGRAM TEXT) ...): why PROGRAM could not look for the system NAME
  (failures '())
  ;; the names of the test systems that are loaded, too
  (tests '()))

(defvar *loading* nil "What this thread loads, or NIL.")

(defvar *program-errors* nil "The error output of the program that this thread loads. The compiler's is discarded.")

;;; Notes

(defun keep-note (loading condition)
  "Keep what the compiler says by CONDITION."
  (unless (report-of-asdf-p condition)
    (let* ((note (note-of condition))
           (severity (noted-severity note)))
      (unless (noted-file note) (setf (noted-file note) (second (loading-action loading))))
      (if (< (count severity (loading-notes loading) :key #'noted-severity) (if (eq severity :note) +compiler-notes-limit+ +notes-limit+))
          (push note (loading-notes loading))
          (incf (loading-omitted loading))))))

(defun forget-notes (loading pathname)
  "Forget the notes about the file PATHNAME, which is compiled again."
  (let ((truename (named-file pathname)))
    (setf (loading-notes loading)
          (remove truename (loading-notes loading)
                  :test #'equal
                  :key (lambda (note) (and (noted-file note) (named-file (noted-file note))))))))

;;; Files

(defun place-in-plan (loading pathname)
  "Text that says which of the planned files PATHNAME is."
  (let ((position (position pathname (loading-planned loading) :key #'cdr :test #'equal))
        (count (length (loading-planned loading))))
    (if (and position (> count 1)) (format nil " (file ~d of ~d)" (1+ position) count) "")))

(defun tell-action (loading kind pathname)
  "Tell the client that the file PATHNAME is compiled or loaded now."
  (let ((place (place-in-plan loading pathname)))
    (cond ((null *evaluation*) nil)
          ((eq kind :compile) (note-compiling *evaluation* (or (named-file pathname) pathname) place))
          ((not (member pathname (loading-compiled loading) :test #'equal))
           (report-progress *evaluation* "Loading ~a~a" (shown-file pathname) place)))))

(defun only-warns-p (loading pathname)
  "True if the compiler has found no error in the file PATHNAME of LOADING, but what it warns of."
  (let* ((truename (named-file pathname))
         (severities (loop for note in (loading-notes loading)
                           when (and (noted-file note) (equal truename (named-file (noted-file note))))
                             collect (noted-severity note))))
    (and (member :warning severities)
         (null (intersection '(:error :read-error) severities)))))

(defun compile-or-load-anyway (loading pathname function)
  "Call FUNCTION, which compiles the file PATHNAME for LOADING. If that fails although the whole file can be read, the restart LOAD-ANYWAY compiles
it again and takes it for compiled. => the values of FUNCTION"
  (flet ((possible-p (condition)
           (declare (ignore condition))
           (notany (lambda (note) (eq :read-error (noted-severity note))) (loading-notes loading))))
    (restart-case (handler-bind ((error (lambda (condition)
                                          (when (and (compile-failure-p condition) (only-warns-p loading pathname))
                                            (setf (loading-action loading) (list :warned pathname))))))
                    (call-framework function '()))
      (load-anyway ()
        :test possible-p
        :report (lambda (stream) (format stream "Compile ~a again, and load it despite its warnings and errors." (shown-file pathname)))
        (forget-notes loading pathname)
        (setf (loading-action loading) (list :compile pathname))
        (call-accepting-failures (lambda () (call-framework function '())))))))

(defun call-as-action (loading kind pathname function)
  "Call FUNCTION, which compiles or loads the file PATHNAME, as KIND says, and note that. => the values of FUNCTION"
  (setf (loading-action loading) (list kind pathname))
  (when (eq kind :compile)
    (forget-notes loading pathname)
    (let ((truename (named-file pathname))) (when truename (note-load-begun truename))))
  (tell-action loading kind pathname)
  (multiple-value-prog1 (if (eq kind :load)
                            (let ((*error-output* *program-errors*)) (call-framework function '()))
                            (compile-or-load-anyway loading pathname function))
    (setf (loading-action loading) nil)
    (if (eq kind :load)
        (pushnew pathname (loading-loaded loading) :test #'equal)
        (pushnew pathname (loading-compiled loading) :test #'equal))))

;;; ASDF's actions

(defun performer (loading)
  "A function that is called in place of ASDF's PERFORM, with that and its arguments, and notes what it does for LOADING."
  (lambda (function operation component)
    (let ((kind (action-kind operation))
          (source (component-source component)))
      (flet ((call () (funcall function operation component)))
        (cond ((not (eq *loading* loading)) (call))
              ((and kind source) (call-as-action loading kind source #'call))
              (t (multiple-value-prog1 (call)
                   (when (and (eq kind :load) (system-p component))
                     (pushnew (component-name component) (loading-complete loading) :test #'string=)))))))))

(defun plan-performer (loading)
  "A function that is called in place of ASDF's PERFORM-PLAN, with that and its arguments, and notes the files of the plan for LOADING."
  (lambda (function plan &rest arguments)
    (when (eq *loading* loading)
      (setf (loading-planned loading)
            (remove-duplicates (append (loading-planned loading) (plan-sources plan)) :test #'equal :from-end t)))
    (apply function plan arguments)))

(defun asking-searcher (loading)
  "A function that is called in place of ocicl's searcher, with that and its arguments. If ocicl fails, it does not provide the system."
  (lambda (function name)
    (flet ((search-system () (call-framework function (list name))))
      (if (not (eq *loading* loading))
          (search-system)
          (let ((*error-output* *program-errors*))
            (when *evaluation* (report-progress *evaluation* "Asking ocicl for ~a" name))
            (handler-case (search-system)
              (error (condition)
                (push (list name "ocicl" (report-text condition 500)) (loading-failures loading))
                nil)))))))

(defun call-encapsulating (encapsulations function)
  "Call FUNCTION while calls of the function NAME call REPLACEMENT, for each (NAME REPLACEMENT) of ENCAPSULATIONS."
  (let ((tag (make-symbol "LOADING")))
    (unwind-protect
         (progn
           (loop for (name replacement) in encapsulations do (encapsulate-function name tag replacement))
           (funcall function))
      (loop for (name) in encapsulations do (unencapsulate-function name tag)))))

(defun call-recording (loading function)
  "Call FUNCTION, and note for LOADING what this thread compiles and loads in it."
  (let ((*loading* loading)
        (*program-errors* *error-output*)
        (*error-output* (make-broadcast-stream))
        (searcher (ocicl-searcher-name)))
    (call-encapsulating (list* (list (perform-name) (performer loading))
                               (list (perform-plan-name) (plan-performer loading))
                               (and searcher (list (list searcher (asking-searcher loading)))))
                        (lambda () (call-noting (lambda (condition) (keep-note loading condition)) function)))))

;;; Replies

(defun system-facts (loading system)
  "=> (NAME COUNT-LOADED COUNT COMPLETE (FILE ...)) of the planned files of SYSTEM, a name or NIL, and the first that are not loaded"
  (let* ((files (loop for (name . pathname) in (loading-planned loading)
                      when (equal name system) collect pathname))
         (left (remove-if (lambda (file) (member file (loading-loaded loading) :test #'equal)) files)))
    (list system (- (length files) (length left)) (length files)
          (if system (and (member system (loading-complete loading) :test #'string=) t) (null left))
          (mapcar #'shown-file (subseq left 0 (min +unloaded-limit+ (length left)))))))

(defun unreadable-text (notes)
  "(FILE TEXT) of the first file that cannot be read to its end, according to NOTES, or NIL."
  (let* ((note (find :read-error notes :key #'noted-severity))
         (file (and note (noted-file note) (file-now (noted-file note)))))
    (and file (list (shown-file (file-truename file)) (file-text file)))))

(defun loading-facts (loading problem)
  "The reply about LOADING. PROBLEM is why it ended early, or NIL.
=> (:loading SYSTEM FILE ((SYSTEM COUNT-LOADED COUNT COMPLETE (FILE ...)) ...) COUNT-COMPILED (NOTE ...) COUNT-OF-OTHERS (FILE TEXT) (KIND FILE)
(TEST-SYSTEM ...) FOUND-IN PROBLEM)"
  (let ((notes (reverse (loading-notes loading)))
        (systems (remove-duplicates (mapcar #'car (loading-planned loading)) :test #'equal :from-end t))
        (action (loading-action loading)))
    (with-files ()
      (list :loading (loading-system loading) (loading-file loading)
            (loop for system in systems collect (system-facts loading system))
            (length (loading-compiled loading))
            (loop for note in notes collect (note-facts note nil))
            (loading-omitted loading)
            (unreadable-text notes)
            (cond (action (list (first action) (shown-file (second action))))
                  ((loading-installing loading) (list :install (loading-installing loading))))
            (loading-tests loading)
            (loading-found-in loading)
            problem))))

;;; The loadings of each client, so that it can ask about one that has stopped

(defconstant +kept-loadings+ 20 "Loadings of a client that are remembered.")

(defvar *loadings* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "((KEY . LOADING) ...) of each session, the latest first.")

(defun remember-loading (key loading)
  "Remember LOADING under KEY, a number that the client chose."
  (let ((known (gethash (current-session) *loadings*)))
    (setf (gethash (current-session) *loadings*)
          (acons key loading (subseq known 0 (min (length known) (1- +kept-loadings+)))))))

(defun unloaded-files ()
  "The pathnames of the files that this session's loadings were to load, and none of them has loaded."
  (loop with loadings = (mapcar #'cdr (gethash (current-session) *loadings*))
        for loading in loadings
        append (loop for (nil . pathname) in (loading-planned loading)
                     unless (find-if (lambda (other) (member pathname (loading-loaded other) :test #'equal)) loadings)
                       collect pathname)
          into pathnames
        finally (return (remove-duplicates pathnames :test #'equal))))

(defun load-progress (key)
  "What the loading has done so far that LOAD-CODE began under KEY. => the reply of LOADING-FACTS, or (:unknown)"
  (with-code-session (nil)
    (let ((loading (cdr (assoc key (gethash (current-session) *loadings*)))))
      (if loading (loading-facts loading nil) '(:unknown)))))
