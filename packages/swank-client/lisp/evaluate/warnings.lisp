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

(defun keep-warning (evaluation condition)
  "Keep CONDITION for the next outcome of EVALUATION."
  (if (< (evaluation-warning-count evaluation) +warnings-limit+)
      (let ((text (report-text condition 2000)))
        (push (list (warning-type condition) (class-name-text (class-of condition)) text (undefined-thing condition text))
              (evaluation-warnings evaluation)))
      (incf (evaluation-warnings-dropped evaluation)))
  (incf (evaluation-warning-count evaluation)))

(defun count-for-compiler (condition)
  "Note CONDITION for COMPILE, whose second and third values would miss it because it is muffled."
  (unless (typep condition 'sb-ext:compiler-note)
    (note-for-compile (not (typep condition 'style-warning)))))

(defun note-warning (condition)
  "Keep the warning CONDITION, and muffle it. Called for each warning."
  ;; inside a stop the debugger compiles, not the user's code
  (when (zerop *sldb-level*)
    (if (typep condition 'redefinition-warning)
        (keep-redefinition *evaluation* condition)
        (keep-warning *evaluation* condition)))
  ;; COMPILE-FILE counts the warnings that it prints
  (unless *compile-file-truename*
    (let ((restart (find-restart 'muffle-warning condition)))
      (when restart
        (count-for-compiler condition)
        (invoke-restart restart)))))

(defun taken-warnings (evaluation)
  "Remove the warnings so far. => a plist of them, oldest first, without undefined names defined since, and of the number not kept"
  (list :warnings (loop for (type class text undefined) in (reverse (shiftf (evaluation-warnings evaluation) '()))
                        unless (and undefined (apply #'defined-by-now-p undefined))
                          collect (list type class text))
        :warnings-omitted (shiftf (evaluation-warnings-dropped evaluation) 0)))
