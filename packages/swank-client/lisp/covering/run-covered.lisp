;;;; Runs the tests of a system with instrumented copies of its files, and loads the files as they were compiled before afterwards.

(in-package #:swank-client/covering)

(defconstant +ranges-limit+ 500 "Most ranges of lines of a file, of one kind, that a reply has.")

(defvar *covering*
  (or (get :swank-client :covering)
      (setf (get :swank-client :covering) (list nil)))
  "A cell in which any version of the library has T while instrumented files are loaded. A thread that has stopped in a test leaves it there.")

(defstruct coverage
  "What is known about a run. COMPONENTS: those of the files to instrument. LOADED: those of which instrumented code may be loaded, the latest
first. MARKS: as COVERAGE-RECORDS says. UNRESTORED: ((COMPONENT . MESSAGE) ...) of those that could not be loaded again. BEGUN: true when *COVERING* is
set until RESTORE has ended. VALUES: ((SYMBOL . VALUE) ...) of the variables to which loading the files gave other values than they had."
  system (components '()) (loaded '()) (marks '()) (unrestored '()) begun (values '()))

(defun own-components (system)
  "The components of the files with Lisp code of SYSTEM, in the order in which they are loaded, without those of the systems it depends on."
  (let ((files (ordered-files system)))
    (remove-if-not (lambda (component)
                     (let ((source (component-source component)))
                       (and source (member source files :test #'equal))))
                   (source-components system))))

(defun tell (coverage component text)
  "Tell the client that COMPONENT of COVERAGE is compiled or loaded, as TEXT says."
  (when *evaluation*
    (report-progress *evaluation* "~a ~a (file ~d of ~d)" text (shown-file (component-source component))
                     (1+ (position component (coverage-components coverage)))
                     (length (coverage-components coverage)))))

(defmacro in-silence (&body body)
  "Run BODY, which compiles and loads what was compiled and loaded before: what the compiler and redefinitions have to say is known."
  `(let ((*error-output* (make-broadcast-stream)))
     (handler-bind ((warning #'muffle-warning)
                    (sb-ext:compiler-note #'muffle-warning))
       ,@body)))

;;; Values. Loading a file again gives its parameters their first values: what the program has put there since would be lost.

(defun current-value (symbol)
  "=> the global value of SYMBOL, and true if it has one"
  (handler-case (values (sb-ext:symbol-global-value symbol) t)
    (cell-error () (values nil nil))))

(defun variable-values ()
  "((SYMBOL . VALUE) ...) of the variables of the program that have global values."
  (let ((found '()))
    (dolist (package (live-packages) found)
      (unless (or (implementation-package-p package) (runtime-package-p package))
        (or-nil
          (do-symbols (symbol package)
            (when (and (eq package (symbol-package symbol)) (boundp symbol) (not (constantp symbol)))
              (multiple-value-bind (value bound) (current-value symbol)
                (when bound (push (cons symbol value) found))))))))))

(defun variable-of-p (symbol truenames)
  "True if one of the files TRUENAMES defines the variable SYMBOL."
  (loop for definition in (kind-definitions symbol :variable)
        for name = (definition-file-name definition)
          thereis (and name (member (named-file name) truenames :test #'equal))))

(defun note-replaced-values (coverage before)
  "Note in COVERAGE the variables of its files that have other values now than those BEFORE, a value of VARIABLE-VALUES."
  (let ((truenames (loop for component in (coverage-components coverage) collect (named-file (component-source component)))))
    (setf (coverage-values coverage)
          (loop for (symbol . value) in before
                unless (or (eql value (current-value symbol)) (not (variable-of-p symbol truenames)))
                  collect (cons symbol value)))))

(defun put-values-back (coverage)
  "Give the variables that COVERAGE notes the values that they had."
  (loop for (symbol . value) in (coverage-values coverage)
        do (recording-faults (setf (sb-ext:symbol-global-value symbol) value))))

;;; Instrumented code, and back

(defun load-instrumented (coverage folder)
  "Compile the files of COVERAGE into FOLDER, a pathname, so that they record what ran, and load them one by one, as ASDF does."
  (let ((before (variable-values)))
    (unwind-protect
         (dolist (component (coverage-components coverage))
           (tell coverage component "Compiling for coverage")
           (let ((fasl (in-silence (call-accepting-failures (lambda () (compile-instrumented component folder))))))
             (push component (coverage-loaded coverage))
             (in-silence (load-compiled-as fasl (compiled-pathname component)))
             ;; the marks of forms at top level go with their code at the next garbage collection, unless they are in the record before
             (recording-faults (coverage-records))))
      (recording-faults (note-replaced-values coverage before)))))

(defun load-again (coverage component)
  "Load the compiled file of COMPONENT of COVERAGE that ASDF has made, or note that this fails."
  (let ((file (compiled-pathname component)))
    (handler-case (in-silence (load-compiled-as file file))
      (serious-condition (problem) (push (cons component (message-text problem)) (coverage-unrestored coverage))))))

(defun load-all-again (coverage record)
  "Load the files of COVERAGE whose instrumented code was loaded, in order, as they were compiled before, and go on with RECORD."
  (let ((*standard-output* (make-broadcast-stream)))
    (unwind-protect (dolist (component (reverse (coverage-loaded coverage))) (load-again coverage component))
      (put-values-back coverage)
      (end-covering record)
      (setf (car *covering*) nil))))

(defun restore (coverage record)
  "LOAD-ALL-AGAIN, in a thread that aborts do not reach: they end this thread a second after the first one, whatever it cleans up."
  (let ((thread (sb-sys:without-interrupts
                  (recording-faults (start-runtime-thread #'load-all-again "swank-client coverage" coverage record)))))
    (if thread
        (sb-thread:join-thread thread :default nil)
        (load-all-again coverage record))))

(defun call-covered (coverage function)
  "Call FUNCTION, and note in COVERAGE what ran of its files in all threads. They are loaded as before when it returns or is unwound."
  (call-with-folder
   (lambda (folder)
     (let ((record (covering-record)))
       (unwind-protect (progn (setf (coverage-begun coverage) t)
                              (begin-covering)
                              (load-instrumented coverage (sb-ext:parse-native-namestring folder))
                              (funcall function))
         (unwind-protect (setf (coverage-marks coverage) (recording-faults (coverage-records)))
           (restore coverage record)))))))

;;; The reply

(defun records-of (marks truename)
  "The records of MARKS, ((TRUENAME . RECORDS) ...), for the file TRUENAME."
  (loop for (name . records) in marks
        when (equal truename name) append records))

(defun covered-files (coverage)
  "What ran of each file of COVERAGE in which there is something to run: the least covered first."
  (let* ((marks (loop for (name . records) in (coverage-marks coverage) collect (cons (named-file name) records)))
         (all (loop for component in (coverage-components coverage)
                    for truename = (named-file (component-source component))
                    for covered = (and truename (coverage-of truename (records-of marks truename)))
                    when (and covered (plusp (covered-all covered))) collect covered)))
    (flet ((share (covered) (/ (covered-ran covered) (covered-all covered))))
      (stable-sort all #'< :key #'share))))

(defun covered-facts (covered)
  "(FILE RAN ALL ((FIRST LAST) ...) ((FIRST LAST) ...)) of COVERED: the lines that did not run, and those that ran in part."
  (flet ((ranges (state)
           (let ((all (line-ranges state (covered-states covered) (covered-within covered))))
             (subseq all 0 (min +ranges-limit+ (length all))))))
    (list (shown-file (covered-file covered)) (covered-ran covered) (covered-all covered) (ranges :missed) (ranges :partly))))

(defvar *lcov-folder* nil "The native name of the folder of this image's LCOV files, or NIL.")

(defun lcov-folder ()
  "The native name of the folder of this image's LCOV files, which only this user can read."
  (unless (and *lcov-folder* (probe-file (sb-ext:parse-native-namestring *lcov-folder*)))
    (setf *lcov-folder* (concatenate 'string
                                     (sb-posix:mkdtemp (format nil "~a/lisp-coverage-XXXXXX" (or (sb-posix:getenv "TMPDIR") "/tmp")))
                                     "/")))
  *lcov-folder*)

(defun write-lcov-file (coverage files)
  "Write FILES of COVERAGE to an LCOV file, in place of an earlier one of the system. => its native name"
  (let ((name (format nil "~a~a.info" (lcov-folder) (substitute #\- #\/ (component-name (coverage-system coverage))))))
    (with-open-file (stream (sb-ext:parse-native-namestring name) :direction :output :if-exists :supersede :external-format :utf-8)
      (dolist (covered files) (write-lcov covered stream)))
    name))

(defun coverage-facts (coverage)
  "((FILE-FACTS ...) LCOV-FILE ((FILE MESSAGE) ...) (VARIABLE ...)) about COVERAGE, or NIL if no test ran with it."
  (when (coverage-marks coverage)
    (with-files ()
      (let ((files (covered-files coverage)))
        (list (mapcar #'covered-facts files)
              (write-lcov-file coverage files)
              (loop for (component . message) in (reverse (coverage-unrestored coverage))
                    collect (list (shown-file (component-source component)) message))
              (loop for (symbol) in (coverage-values coverage) collect (qualified-name symbol)))))))

;;; The request

(defun refusal-before (name system)
  "Why the tests of NAME, which means SYSTEM or, if that is NIL, none, cannot be run with coverage: (:refused REASON (NAME ...)), or NIL."
  (if (null system)
      (list :refused :no-system (similar-systems (string-downcase name)))
      (let ((unsaved (unsaved-definitions (remove nil (mapcar #'named-file (ordered-files system))))))
        (and unsaved (list :refused :unsaved unsaved)))))

(defun instrumented-files (components)
  "The files of COMPONENTS that the program itself has loaded instrumented."
  (let ((names (mapcar #'named-file (instrumented-names))))
    (loop for component in components
          for truename = (named-file (component-source component))
          when (and truename (member truename names :test #'equal)) collect (shown-file truename))))

(defun refusal-of (components)
  "Why nothing of COMPONENTS can be measured: (:refused REASON (FILE ...)), or NIL."
  (let ((files (instrumented-files components)))
    (cond ((null components) '(:refused :no-files ()))
          (files (list :refused :instrumented files)))))

(defun run-with-coverage (coverage name framework stop)
  "RUN-COVERED with COVERAGE, of the system NAME or of none."
  (let ((system (coverage-system coverage)))
    (flet ((run-it (function)
             (let* ((components (own-components system))
                    (refusal (refusal-of components)))
               (when refusal (return-from run-with-coverage refusal))
               (setf (coverage-components coverage) components)
               (call-covered coverage function))))
      (or (refusal-before name system)
          (let ((reply (run-tests name framework stop #'run-it)))
            (append (butlast reply) (list (coverage-facts coverage))))))))

(defun call-covering (coverage function)
  "Call FUNCTION with *COVERING* set, unless it is. When it ends, RESTORE, if COVERAGE has begun, and otherwise this function sets it back."
  (let ((own nil))
    (unwind-protect
         (if (sb-sys:without-interrupts (setf own (null (sb-ext:compare-and-swap (car *covering*) nil t))))
             (funcall function)
             (list :refused :busy '()))
      (when (and own (not (coverage-begun coverage))) (setf (car *covering*) nil)))))

(defun run-covered (name framework stop)
  "RUN-TESTS for the system NAME, with instrumented copies of its files. It is called by evaluated code, so that it can be stopped: the files are
loaded as before when it ends.
=> (:tests ... ((FILE-FACTS ...) LCOV-FILE ((FILE MESSAGE) ...) (VARIABLE ...))) | (:refused REASON (NAME ...)) | (:missing TEXT)"
  (let ((missing (load-cover)))
    (if missing
        (list :missing missing)
        (let ((coverage (make-coverage :system (and (member framework '(nil "asdf") :test #'equal) (known-system name)))))
          (call-covering coverage (lambda () (run-with-coverage coverage name framework stop)))))))
