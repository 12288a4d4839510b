;;;; Warnings and notes of the compiler, of evaluated code and of files, kept for the client instead of printed.

(in-package #:swank-client/evaluate)

;;; Notes the definitions of a session's forms when a defining macro expands.

(defun note-definition (evaluation form)
  "Note the definition that FORM of EVALUATION is about to make, if any."
  (multiple-value-bind (kind name) (defined-thing form)
    (when (name-p kind name)
      (supported (add-source-plist evaluation))
      (note-defining-form (session-ledger (evaluation-session evaluation)) form kind name))))

(defun report-progress (evaluation control &rest arguments)
  "Tell the client of EVALUATION what it is doing: CONTROL formatted with ARGUMENTS."
  (recording-faults (send-progress evaluation (apply #'format nil control arguments))))

(defun note-compiling (evaluation file &optional (remark ""))
  "Tell the client that EVALUATION compiles FILE, once, with REMARK. SBCL would print a line."
  (unless (member file (evaluation-compiled-files evaluation) :test #'equal)
    (push file (evaluation-compiled-files evaluation))
    (report-progress evaluation "Compiling ~a~a" (short-file-name file) remark)))

(defun note-macro-form (evaluation form)
  "Note the definition that the macro form FORM makes. Called for every macro form that EVALUATION expands."
  (cond ((or *load-truename* *compile-file-truename*)
         (supported (drop-source-plist))
         (when *compile-file-truename* (note-compiling evaluation *compile-file-truename*)))
        ((and *form-source* (consp form) (defining-kind (first form)))
         ;; the macro's own expander reports errors in the form
         (nil-on error (note-definition evaluation form)))))

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
          ((equal type *fasl-file-type*) (compiled-from file))
          (t file))))

(defun call-noting-load (session file source function)
  "Call FUNCTION, which loads FILE, SOURCE itself or compiled from it, for SESSION, and note that."
  (multiple-value-bind (octets date)
      (let ((*break-on-signals* nil))
        (note-load (session-ledger session) :file source)
        (note-load-begun source)
        (nil-on (or file-error stream-error) (text-to-load file source)))
    (multiple-value-prog1 (funcall function)
      (note-load-ended source octets date))))

(defun load-by-code (load file &rest options)
  "Encapsulates LOAD: notes each source file and each system definition that a session's code loads."
  (let* ((session (code-session))
         (found (let ((*break-on-signals* nil)) (and session (or-nil (loaded-file file)))))
         (source (let ((*break-on-signals* nil)) (and found (or-nil (source-of-loaded found))))))
    (cond (source (call-noting-load session found source (lambda () (apply load file options))))
          (t (when (and found (equal "asd" (pathname-type found)))
               (recording-faults (note-system-definition found)))
             (apply load file options)))))

(defun source-to-compile (file)
  "The truename of the source that COMPILE-FILE compiles for FILE, or NIL."
  (let ((*break-on-signals* nil))
    (or-nil (probe-file (merge-pathnames file (make-pathname :type "lisp"))))))

(defun compile-by-code (compile file &rest options)
  "Encapsulates COMPILE-FILE: notes the text that a session's code compiles, unless that has changed before the end."
  (let ((source (and (code-session) (source-to-compile file))))
    (if (null source)
        (apply compile file options)
        (flet ((text () (let ((*break-on-signals* nil)) (nil-on (or file-error stream-error) (file-octets source)))))
          (let ((octets (text))
                (date (file-write-date source))
                (values (multiple-value-list (apply compile file options))))
            (when (and octets (first values) (equalp octets (text)))
              (recording-faults (note-compiled-text (first values) octets date)))
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

;;; Warnings of files that an evaluation loads or compiles. A system can have hundreds, so clients get their numbers, and the texts of some.

(defconstant +file-warnings-limit+ 5000 "Most warnings of files kept between two outcomes of an evaluation.")

(defconstant +file-texts-limit+ 50 "Most of them whose texts are sent.")

(defparameter *types-with-texts* '("ERROR" "WARNING" "STYLE-WARNING") "The types of warnings whose texts are sent, the worst first.")

(defstruct (file-warning (:type vector) (:copier nil))
  "A warning or compiler note about the code of a file."
  file
  ;; its name as clients show it, when the warning is sent
  (shown-file nil)
  type
  ;; NIL for compiler notes: only their number is sent
  (text nil)
  class
  ;; what the compiler was compiling, as text
  definition
  ;; the path to the form from the top-level forms of the file, or NIL
  path
  undefined)

(defun warned-file ()
  "The file, as a string or pathname, whose code causes a warning now, or NIL if that is the code of the evaluation's forms."
  (or (compiled-from-file) *compile-file-truename* *load-truename*))

(defun room-for-file-warning-p (evaluation)
  "True if one more warning about the code of a file is kept for the next outcome of EVALUATION."
  (< (evaluation-file-warning-count evaluation) +file-warnings-limit+))

(defun keep-file-warning (evaluation file type class text undefined path)
  "Keep a warning about the code of FILE for the next outcome of EVALUATION."
  (when (room-for-file-warning-p evaluation)
    (push (make-file-warning :file file :type type :class class :text text :undefined undefined :path path
                             :definition (let ((definition (and text (compiled-definition))))
                                           (and definition (definition-name-text definition))))
          (evaluation-file-warnings evaluation)))
  (incf (evaluation-file-warning-count evaluation)))

(defun file-counts (warnings)
  "((FILE TYPE COUNT) ...) of WARNINGS, in their order."
  (let ((counts (make-hash-table :test 'equal))
        (keys '()))
    (dolist (warning warnings)
      (let ((key (list (file-warning-shown-file warning) (file-warning-type warning))))
        (when (= 1 (incf (gethash key counts 0))) (push key keys))))
    (loop for (file type) in (reverse keys)
          collect (list file type (gethash (list file type) counts)))))

(defun warnings-with-texts (warnings)
  "The first +FILE-TEXTS-LIMIT+ of WARNINGS that have texts, as lists. Errors come first, and style warnings last."
  ;; the result of REMOVE may share conses with its argument
  (loop for warning in (stable-sort (copy-list (remove nil warnings :key #'file-warning-text)) #'<
                                    :key (lambda (warning)
                                           (position (file-warning-type warning) *types-with-texts* :test #'string=)))
        repeat +file-texts-limit+
        collect (list (file-warning-type warning) (file-warning-class warning) (file-warning-text warning)
                      (file-warning-path warning) (file-warning-shown-file warning) (file-warning-definition warning)
                      (absolute-file-name (file-warning-file warning)))))

(defun taken-file-warnings (evaluation undefined-yet-p)
  "Remove the warnings of files so far. Of those about undefined names, only those count for whose names UNDEFINED-YET-P returns true.
=> the texts of the first, their numbers by file and type, and the number not kept"
  (let* ((count (shiftf (evaluation-file-warning-count evaluation) 0))
         (warnings (reverse (shiftf (evaluation-file-warnings evaluation) '())))
         (left (remove-if-not (lambda (warning)
                                (or (null (file-warning-undefined warning))
                                    (funcall undefined-yet-p (file-warning-undefined warning))))
                              warnings))
         (names (mapcar (lambda (file) (cons file (short-file-name file)))
                        (remove-duplicates (mapcar #'file-warning-file left) :test #'equal))))
    (dolist (warning left)
      (setf (file-warning-shown-file warning) (cdr (assoc (file-warning-file warning) names :test #'equal))))
    (values (warnings-with-texts left) (file-counts left) (- count (length warnings)))))

(defconstant +warnings-limit+ 100 "Most warnings kept for one evaluation.")

(defun warning-type (condition)
  "The type of warning that a client reports for CONDITION."
  (typecase condition
    (sb-ext:compiler-note "COMPILER-WARNING")
    (style-warning "STYLE-WARNING")
    (t "WARNING")))

(defun undefined-thing (condition text)
  "(KIND NAME) of the name that CONDITION reports as undefined, or NIL. A later form may define it."
  (when (and (typep condition 'simple-condition) (search "undefined " text))
    (let ((arguments (last (simple-condition-format-arguments condition) 2)))
      (when (member (first arguments) '(:function :variable :type)) arguments))))

(defun defined-by-now-p (kind name)
  "True if NAME is defined as KIND."
  (or-nil
    (ecase kind
      (:function (fboundp name))
      (:variable (or (boundp name) (not (eq :unknown (compiler-info :variable :kind name)))))
      (:type (sb-ext:valid-type-specifier-p name)))))

(defun with-odd-character (text undefined file)
  "TEXT of a warning in FILE about UNDEFINED, (KIND NAME), with what is odd about that name if people do not see it."
  (let* ((name (second undefined))
         ;; a name with an odd character is found only in a text that was decoded as the compiler does
         (odd (and undefined file (symbolp name)
                   (nil-on (or file-error stream-error) (or (odd-character-of-name name (lambda () (text-in file (or (compiled-format) :default))))
                                                            (odd-character-of-name name (lambda () (source-text file))))))))
    (if odd (format nil "~a. ~a" (on-one-line text) odd) text)))

;;; Where a warning comes from

(defconstant +searched-conses+ 5000 "Conses of an evaluated form that are searched for the part that a warning is about.")

(defun path-to (part form)
  "The path to the cons PART in FORM, as the positions of elements, or NIL if PART is not found, or is FORM itself."
  (let ((left +searched-conses+))
    (labels ((search-in (list path)
               (loop for rest = list then (cdr rest)
                     for position from 0
                     while (and (consp rest) (plusp (decf left)))
                     do (let ((element (car rest)))
                          (when (consp element)
                            (let ((deeper (cons position path)))
                              (when (eq element part) (return-from path-to (reverse deeper)))
                              (search-in element deeper)))))))
      (search-in form '()))))

(defun warned-path (evaluation file)
  "The path to the form that a warning is about now, from the top-level forms of FILE or, if that is NIL, of the code of EVALUATION. NIL if
it is not known"
  (multiple-value-bind (form path) (compiled-form)
    (cond ((null file) (cons (1- (evaluation-form evaluation)) (and (consp form) (path-to form -))))
          ((compiled-from-file) path))))

;;; Keeping warnings

(defun keep-warning (evaluation condition &optional (type (warning-type condition)))
  "Keep CONDITION for the next outcome of EVALUATION."
  (let* ((file (warned-file))
         (counted-only (and file (typep condition 'sb-ext:compiler-note)))
         (keep (if file (room-for-file-warning-p evaluation) (< (evaluation-warning-count evaluation) +warnings-limit+)))
         ;; without line breaks, the words of the compiler's errors run together
         (text (and keep (not counted-only) (report-text condition 2000 (string= type "ERROR"))))
         (class (and text (class-name-text (class-of condition))))
         (undefined (and text (undefined-thing condition text)))
         (path (and text (recording-faults (warned-path evaluation file)))))
    (cond (file (keep-file-warning evaluation file type class (with-odd-character text undefined file) undefined path))
          (keep (push (list type class text undefined path) (evaluation-warnings evaluation)))
          (t (incf (evaluation-warnings-dropped evaluation))))
    (unless file (incf (evaluation-warning-count evaluation)))))

(defun note-compiler-error (evaluation condition)
  "Keep CONDITION, the compiler's condition that it cannot compile a form, as an error in a file that EVALUATION compiles or loads. The
compiler continues after that form, and prints nothing. Returns if no file's code is compiled."
  (when (and (zerop *sldb-level*) (warned-file))
    (keep-warning evaluation (encapsulated-condition condition) "ERROR")
    (note-for-compile t)
    (skip-compiling condition)))

(defun count-for-compiler (condition)
  "Note CONDITION for COMPILE or COMPILE-FILE, whose second and third values would miss it because it is muffled. => true if it may be muffled"
  (or (typep condition 'sb-ext:compiler-note)
      (note-for-compile (not (typep condition 'style-warning)))
      ;; COMPILE-FILE counts the warnings that it prints
      (null *compile-file-truename*)))

(defun note-warning (condition)
  "Keep the warning CONDITION, and muffle it. Called for each warning."
  ;; inside a stop the debugger compiles, not the user's code
  (when (zerop *sldb-level*)
    (cond ((typep condition 'redefinition-warning) (keep-redefinition *evaluation* condition))
          ((not (repetition-p condition)) (keep-warning *evaluation* condition))))
  (let ((restart (find-restart 'muffle-warning condition)))
    (when (and restart (count-for-compiler condition))
      (invoke-restart restart))))

(defun undefined-yet-p (undefined)
  "True if what UNDEFINED, (KIND NAME), names has not been defined since."
  (not (apply #'defined-by-now-p undefined)))

(defun taken-warnings (evaluation)
  "Remove the warnings so far. => a plist of them, oldest first, without undefined names defined since, of their numbers by file, and of
the number not kept"
  (let ((own (loop for (type class text undefined path) in (reverse (shiftf (evaluation-warnings evaluation) '()))
                   when (or (null undefined) (undefined-yet-p undefined))
                     collect (list type class text path)))
        (dropped (shiftf (evaluation-warnings-dropped evaluation) 0)))
    (multiple-value-bind (texts counts lost) (taken-file-warnings evaluation #'undefined-yet-p)
      (list :warnings (append own texts)
            :warning-counts counts
            :warnings-omitted (+ dropped lost)))))
