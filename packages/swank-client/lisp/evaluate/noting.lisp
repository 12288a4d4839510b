;;;; Notes the definitions of a session's forms when a defining macro expands.

(in-package #:swank-client/evaluate)

(defun note-definition (evaluation form)
  "Note the definition that FORM of EVALUATION is about to make, if any."
  (multiple-value-bind (kind name) (defined-thing form)
    (when (name-p kind name)
      (add-source-plist evaluation)
      (note-defining-form (session-ledger (evaluation-session evaluation)) form kind name))))

(defun report-progress (evaluation control &rest arguments)
  "Tell the client of EVALUATION what it is doing: CONTROL formatted with ARGUMENTS."
  (ignore-errors (send-progress evaluation (apply #'format nil control arguments))))

(defun note-compiling (evaluation file &optional (remark ""))
  "Tell the client that EVALUATION compiles FILE, once, with REMARK. SBCL would print a line."
  (unless (member file (evaluation-compiled-files evaluation) :test #'equal)
    (push file (evaluation-compiled-files evaluation))
    (report-progress evaluation "Compiling ~a~a" (short-file-name file) remark)))

(defun note-macro-form (evaluation form)
  "Note the definition that the macro form FORM makes. Called for every macro form that EVALUATION expands."
  (cond ((or *load-truename* *compile-file-truename*)
         (drop-source-plist)
         (when *compile-file-truename* (note-compiling evaluation *compile-file-truename*)))
        ((and *form-source* (consp form) (defining-kind (first form)))
         ;; the macro's own expander reports errors in the form
         (ignore-errors (note-definition evaluation form)))))

;;; Loaded files and systems

(defun loaded-file (name)
  "The truename of the file that LOAD finds for NAME, or NIL."
  (let ((path (merge-pathnames name)))
    (or (probe-file path) (probe-file (merge-pathnames path "x.lisp")) (probe-file (merge-pathnames path "x.fasl")))))

(defun compiled-from (file)
  "The truename of the source that the compiled FILE names in its first lines, or NIL."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (let* ((octets (make-array 4000 :element-type '(unsigned-byte 8)))
           (text (map 'string #'code-char (subseq octets 0 (read-sequence octets stream))))
           (label "compiled from ")
           (start (+ (search label text) (length label)))
           (line (sb-ext:octets-to-string octets :start start :end (position #\Newline text :start start)
                                                 :external-format :utf-8)))
      (probe-file (with-standard-io-syntax (let ((*read-eval* nil) (*package* (user-package))) (read-from-string line)))))))

(defun source-of-loaded (file)
  "The truename of the source of FILE, which LOAD loads, or NIL. A system's definition counts as none."
  (let ((type (pathname-type file)))
    (cond ((equal type "asd") nil)
          ((equal type sb-fasl:*fasl-file-type*) (compiled-from file))
          (t file))))

(defun call-noting-load (session file source function)
  "Call FUNCTION, which loads FILE, SOURCE itself or compiled from it, for SESSION, and note that."
  (multiple-value-bind (octets date)
      (let ((*break-on-signals* nil))
        (note-load (session-ledger session) :file source)
        (note-load-begun source)
        (ignore-errors (text-to-load file source)))
    (multiple-value-prog1 (funcall function)
      (note-load-ended source octets date))))

(defun load-by-code (load file &rest options)
  "Encapsulates LOAD: notes each source file and each system definition that a session's code loads."
  (let* ((session (code-session))
         (found (let ((*break-on-signals* nil)) (and session (ignore-errors (loaded-file file)))))
         (source (let ((*break-on-signals* nil)) (and found (ignore-errors (source-of-loaded found))))))
    (cond (source (call-noting-load session found source (lambda () (apply load file options))))
          (t (when (and found (equal "asd" (pathname-type found)))
               (let ((*break-on-signals* nil)) (ignore-errors (note-system-definition found))))
             (apply load file options)))))

(defun source-to-compile (file)
  "The truename of the source that COMPILE-FILE compiles for FILE, or NIL."
  (let ((*break-on-signals* nil))
    (ignore-errors (probe-file (merge-pathnames file (make-pathname :type "lisp"))))))

(defun compile-by-code (compile file &rest options)
  "Encapsulates COMPILE-FILE: notes the text that a session's code compiles, unless that has changed before the end."
  (let ((source (and (code-session) (source-to-compile file))))
    (if (null source)
        (apply compile file options)
        (flet ((text () (let ((*break-on-signals* nil)) (ignore-errors (file-octets source)))))
          (let ((octets (text))
                (date (file-write-date source))
                (values (multiple-value-list (apply compile file options))))
            (when (and octets (first values) (equalp octets (text)))
              (let ((*break-on-signals* nil)) (ignore-errors (note-compiled-text (first values) octets date))))
            (values-list values))))))

(defun loading-operator-p (operator)
  "True if OPERATOR loads a system."
  (and (symbolp operator)
       (member operator '("REQUIRE" "LOAD-SYSTEM" "QUICKLOAD") :test #'string=)))

(defun note-loading-form (evaluation form)
  "Note the system that FORM has loaded."
  (typecase form
    ((cons (satisfies loading-operator-p) (cons (or string keyword (cons (eql quote)))))
     (let ((name (second form)))
       (note-load (session-ledger (evaluation-session evaluation)) :system
                  (string-downcase (if (consp name) (second name) name)))))))

(defun make-noting-hook (evaluation next)
  "A *MACROEXPAND-HOOK* that notes definitions of EVALUATION, and calls NEXT."
  (lambda (expander form environment)
    ;; a tail call, so that no frame of the runtime stays on the stack
    (declare (optimize (debug 1)))
    (when (eq *evaluation* evaluation) (note-macro-form evaluation form))
    (if (eq next 'funcall)
        (funcall (the function expander) form environment)
        (funcall next expander form environment))))

(defvar *noting-hook* nil "The *MACROEXPAND-HOOK* with which CALL-NOTING-DEFINITIONS notes, which is not the session's.")

(defun call-noting-definitions (evaluation function)
  "Call FUNCTION with a *MACROEXPAND-HOOK* that notes definitions."
  (let* ((*noting-hook* (make-noting-hook evaluation *macroexpand-hook*))
         (*macroexpand-hook* *noting-hook*))
    (funcall function)))

(defun session-value-now (session variable)
  "The value that VARIABLE, one of *SESSION-VARIABLES*, shall have in SESSION after a form of an evaluation."
  (if (and (eq variable '*macroexpand-hook*) (eq *macroexpand-hook* *noting-hook*))
      (session-setting session variable)
      (symbol-value variable)))
