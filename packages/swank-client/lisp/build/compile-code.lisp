;;;; Compiles code without running it.

(in-package #:swank-client/build)

(defun call-with-folder (function)
  "Call FUNCTION with the name of a new folder that only this user can read. Removes it afterwards."
  (let ((folder (concatenate 'string
                             (sb-posix:mkdtemp (format nil "~a/swank-client-XXXXXX" (or (sb-posix:getenv "TMPDIR") "/tmp")))
                             "/")))
    (unwind-protect (funcall function folder)
      (recording-faults (sb-ext:delete-directory (sb-ext:parse-native-namestring folder) :recursive t)))))

(defun file-in (folder name)
  "The pathname of the file NAME in FOLDER, a native name."
  (sb-ext:parse-native-namestring (concatenate 'string folder name)))

(defun write-code (code file)
  "Write CODE to FILE. => its truename"
  (with-open-file (stream file :direction :output :external-format :utf-8)
    (write-string code stream))
  (truename file))

(defun form-place-facts (path source unnamed)
  "The plist of the place of the form in the file SOURCE to which PATH leads, as in a note, or NIL. The file UNNAMED is not named."
  (when path
    (loop for (key value) on (note-facts (make-note :file source :path path) unnamed) by #'cddr
          when (member key '(:file :line :column :form)) append (list key value))))

(defun failure-facts-of (problem path source unnamed)
  "(TYPE MESSAGE PLACE) of PROBLEM, which ended the compiling or loading of the file SOURCE at the form to which PATH leads."
  (list (class-name-text (shown-class problem)) (message-text problem) (recording-faults (form-place-facts path source unnamed))))

(defun loaded-form-path (source)
  "The path of the top-level form of the file SOURCE that this thread runs now, or NIL if SBCL has not recorded it."
  (loop with name = (sb-ext:native-namestring source)
        with path = '()
        for frame = (top-frame) then (frame-down frame)
        while frame
        do (let ((location (frame-code-location frame)))
             (when (equal name (or-nil (debug-source-namestring (code-location-debug-source location))))
               (setf path (or-nil (list (code-location-toplevel-form-offset location))))))
        finally (return path)))

(defun load-compiled (fasl source unnamed redefining)
  "Load the file FASL, compiled from the file SOURCE. REDEFINING, an evaluation, keeps the redefinitions. => T | (TYPE MESSAGE PLACE) of the error
that ended it"
  (let ((path '()))
    (handler-case (handler-bind ((redefinition-warning (lambda (condition) (keep-redefinition redefining condition)))
                                 (warning #'muffle-warning)
                                 (error (lambda (problem)
                                          (declare (ignore problem))
                                          (setf path (recording-faults (loaded-form-path source))))))
                    (load fasl)
                    t)
      (serious-condition (problem)
        (restore-guard-page)
        (failure-facts-of problem path source unnamed)))))

;;; SBCL defines macros for the whole image when it compiles their definitions, so that later forms can use them.

(defun current-operator (kind name)
  "The function of the macro or compiler macro NAME, as KIND says, or NIL; and the function NAME if it is no macro, or NIL."
  (if (eq kind :macro)
      (values (macro-function name) (and (fboundp name) (not (macro-function name)) (fdefinition name)))
      (compiler-macro-function name)))

(defun restore-operator (kind name old function)
  "Make OLD and FUNCTION the values of CURRENT-OPERATOR for KIND and NAME again."
  (unless (eq old (current-operator kind name))
    (cond ((eq kind :compiler-macro) (setf (compiler-macro-function name) old))
          (old (setf (macro-function name) old))
          (t (fmakunbound name)
             (when function (setf (fdefinition name) function))))))

(defun call-restoring-macros (function)
  "Call FUNCTION, which compiles. Afterwards the macros and compiler macros that it has compiled are as they were before."
  (let ((next *macroexpand-hook*) (known '()))
    (flet ((note (form)
             (let ((kind (and (consp form) (find (defining-kind (first form)) '(:macro :compiler-macro)))))
               (when kind
                 (recording-faults (let ((name (nth-value 1 (defined-thing form))))
                                     (unless (find-if (lambda (entry) (and (eq kind (first entry)) (equal name (second entry)))) known)
                                       (push (list* kind name (multiple-value-list (current-operator kind name))) known))))))))
      (unwind-protect
           (let ((*macroexpand-hook* (lambda (expander form environment)
                                       (note form)
                                       (funcall next expander form environment))))
             (funcall function))
        (loop for (kind name old function) in known
              do (recording-faults (restore-operator kind name old function)))))))

(defun readtable-skipping-first-line ()
  "The current readtable, except that the first line of a file may begin with #!. COMPILE-FILE does not skip that line, as LOAD does."
  (let* ((own *readtable*)
         (readtable (copy-readtable own)))
    (set-dispatch-macro-character #\# #\!
                                  (lambda (stream char parameter)
                                    (declare (ignore char parameter))
                                    (setf *readtable* own)
                                    (read-line stream nil)
                                    (values))
                                  readtable)
    readtable))

(defun call-skipping-first-line (file function)
  "Call FUNCTION, which compiles FILE, with the external format of FILE. A first line that begins with #! is skipped."
  (multiple-value-bind (text format) (source-text file)
    (let ((*readtable* (if (and text (plusp (first-line-end text))) (readtable-skipping-first-line) *readtable*)))
      (funcall function (or format :default)))))

(defun compile-into (fasl source plist)
  "Compile the file SOURCE into the file FASL. PLIST is the source plist of its definitions."
  (call-restoring-macros
   (lambda ()
     (with-compilation-unit (:source-plist plist)
       (call-skipping-first-line source
                                 (lambda (format)
                                   (compile-file source :output-file fasl :verbose nil :print nil :external-format format)))))))

(defun call-noting-forms (ledger function)
  "Call FUNCTION, which compiles what will be loaded, and note in LEDGER the definitions that it will make."
  (let* ((next *macroexpand-hook*)
         (*macroexpand-hook* (lambda (expander form environment)
                               (when (and (consp form) (defining-kind (first form)))
                                 (recording-faults (multiple-value-bind (kind name) (defined-thing form)
                                                     (when (name-p kind name) (note-defining-form ledger form kind name)))))
                               (funcall next expander form environment))))
    (funcall function)))

(defun compile-to-load (fasl source code)
  "Compile CODE, the text of the file SOURCE, into the file FASL. Loading that defines what evaluating CODE in this session would."
  (let* ((ledger (session-ledger (current-session)))
         (origin (make-compiled-origin ledger)))
    (ensure-texts-shown)
    (call-noting-forms ledger
                       (lambda ()
                         (compile-into fasl source (list :emacs-buffer origin :emacs-string code :emacs-position 1
                                                         :package (package-name *package*) :evaluation origin))))))

(defun load-text (fasl source code redefining)
  "LOAD-COMPILED for FASL, compiled from SOURCE, a file that holds CODE, a client's text, and does not last. LOAD-COMPILED explains
REDEFINING."
  (unwind-protect (prog1 (load-compiled fasl source source redefining)
                    (recording-faults (note-calls-in-text (current-session) code))
                    (recording-faults (tell-text (current-session) code)))
    (forget-load (session-ledger (current-session)) source)
    (forget-text source)))

(defun compiled (source fasl load code)
  "The reply of COMPILE-CODE for the file SOURCE, compiled into FASL. CODE is the client's text that it holds, or NIL."
  (multiple-value-bind (notes omitted values)
      (call-collecting-notes
       (lambda ()
         (if (and code load) (compile-to-load fasl source code) (compile-into fasl source '()))))
    (let* ((unreadable (find :read-error notes :key #'noted-severity))
           (failed (or (null (first values)) unreadable (find :error notes :key #'noted-severity)))
           (unnamed (and code source))
           (redefining (make-evaluation :session (current-session))))
      (list :compiled (unless code (shown-file source))
            (loop for note in notes collect (note-facts note unnamed))
            omitted
            (and failed t)
            (and load (not failed) (if code (load-text fasl source code redefining) (load-compiled fasl source nil redefining)))
            (and unreadable (let ((file (file-now source))) (and file (file-text file))))
            (taken-redefinitions redefining)))))

(defun compiled-or-failed (source folder load code)
  "The reply of COMPILE-CODE for the file SOURCE. An error that the compiler does not report itself ends it."
  (let ((path '()))
    (handler-case
        (with-session-settings ((current-session))
          (handler-bind ((error (lambda (problem)
                                  (declare (ignore problem))
                                  (setf path (recording-faults (nth-value 1 (compiled-form)))))))
            (compiled source (file-in folder "code.fasl") load code)))
      ((or error storage-condition) (problem)
        (restore-guard-page)
        (cons :failed (failure-facts-of problem path source (and code source)))))))

(defun compile-text (code load)
  "The reply of COMPILE-CODE for the text CODE."
  (let ((odd (odd-character-in code)))
    (when odd (return-from compile-text (cons :failed (failure-facts-of odd nil nil nil)))))
  (call-with-folder
   (lambda (folder)
     (compiled-or-failed (write-code code (file-in folder "code.lisp")) folder load code))))

(defun compile-code (code file package-text load)
  "Compile the text CODE or, if that is NIL, FILE, in the package that PACKAGE-TEXT names, by default the session's. Then load it if LOAD and
there was no error. LOADED is T, NIL, or (TYPE MESSAGE PLACE) of the error that ended loading. TEXT is that of the file if it cannot be read to
its end. REDEFINITIONS is as TAKEN-REDEFINITIONS says.
=> (:compiled FILE (NOTE ...) COUNT-OF-OTHERS FAILED LOADED TEXT REDEFINITIONS) | (:failed TYPE MESSAGE PLACE) | (:file-not-found NAME (FILE ...) REASON)
 | (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)"
  (with-code-session (package-text)
    (with-files ()
      (let ((truename (and file (plain-file file))))
        (cond (code (compile-text code load))
              (truename (with-file-syntax ((current-session))
                         (call-with-folder (lambda (folder) (compiled-or-failed truename folder load nil)))))
              (t (missing-file file)))))))
