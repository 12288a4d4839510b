;;;; Warnings and compiler notes, kept for the client instead of printed.

(in-package #:swank-client/evaluate)

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
  (ignore-errors
   (ecase kind
     (:function (fboundp name))
     (:variable (or (boundp name) (not (eq :unknown (sb-int:info :variable :kind name)))))
     (:type (sb-ext:valid-type-specifier-p name)))))

(defun text-of-file (file)
  "The text of FILE. Its encoding is not known here: what is not UTF-8 is replaced."
  (with-open-file (stream file :external-format '(:utf-8 :replacement #\?))
    (let ((text (make-string (file-length stream))))
      (subseq text 0 (read-sequence text stream)))))

(defun with-odd-character (text undefined file)
  "TEXT of a warning in FILE about UNDEFINED, (KIND NAME), with what is odd about that name if people do not see it."
  (let* ((name (second undefined))
         (odd (and undefined file (symbolp name)
                   (ignore-errors (odd-character-of-name name (lambda () (text-of-file file)))))))
    (if odd (format nil "~a. ~a" (on-one-line text) odd) text)))

(defun repetition-p (condition)
  "True if CONDITION is the warning of ASDF that a file had style warnings, which have been kept."
  (let ((type (and (find-package "UIOP") (accessible-symbol "COMPILE-WARNED-WARNING" "UIOP"))))
    (and type (find-class type nil) (typep condition type))))

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
         (path (and text (ignore-errors (warned-path evaluation file)))))
    (cond (file (keep-file-warning evaluation file type class (with-odd-character text undefined file) undefined path))
          (keep (push (list type class text undefined path) (evaluation-warnings evaluation)))
          (t (incf (evaluation-warnings-dropped evaluation))))
    (unless file (incf (evaluation-warning-count evaluation)))))

(defun note-compiler-error (evaluation condition)
  "Keep CONDITION, the compiler's condition that it cannot compile a form, as an error in a file that EVALUATION compiles or loads. The
compiler continues after that form, and prints nothing. Returns if no file's code is compiled."
  (when (and (zerop *sldb-level*) (warned-file))
    (keep-warning evaluation (sb-int:encapsulated-condition condition) "ERROR")
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
