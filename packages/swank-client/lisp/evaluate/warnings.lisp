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

(defun repetition-p (condition)
  "True if CONDITION is the warning of ASDF that a file had style warnings, which have been kept."
  (string= "COMPILE-WARNED-WARNING" (class-name (class-of condition))))

(defun keep-warning (evaluation condition)
  "Keep CONDITION for the next outcome of EVALUATION."
  (let* ((file (warned-file))
         (type (warning-type condition))
         (counted-only (and file (typep condition 'sb-ext:compiler-note)))
         (keep (or file (< (evaluation-warning-count evaluation) +warnings-limit+)))
         (text (and keep (not counted-only) (report-text condition 2000)))
         (class (and text (class-name-text (class-of condition))))
         (undefined (and text (undefined-thing condition text))))
    (cond (file (keep-file-warning evaluation file type class text undefined))
          (keep (push (list type class text undefined) (evaluation-warnings evaluation)))
          (t (incf (evaluation-warnings-dropped evaluation))))
    (unless file (incf (evaluation-warning-count evaluation)))))

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
  (let ((own (loop for (type class text undefined) in (reverse (shiftf (evaluation-warnings evaluation) '()))
                   when (or (null undefined) (undefined-yet-p undefined))
                     collect (list type class text)))
        (dropped (shiftf (evaluation-warnings-dropped evaluation) 0)))
    (multiple-value-bind (texts counts lost) (taken-file-warnings evaluation #'undefined-yet-p)
      (list :warnings (append own texts)
            :warning-counts counts
            :warnings-omitted (+ dropped lost)))))
