;;;; Warnings and compiler notes, kept for the client instead of printed.

(in-package #:@runtime@)

(defconstant +warnings-limit+ 100 "Kept of one evaluation.")

(defun warning-type (condition)
  (typecase condition
    (sb-ext:compiler-note "COMPILER-WARNING")
    (style-warning "STYLE-WARNING")
    (t "WARNING")))

(defun undefined-thing (condition text)
  "(KIND NAME) of what CONDITION says is undefined, which a later form may define."
  (when (and (typep condition 'simple-condition) (search "undefined " text))
    (let ((arguments (last (simple-condition-format-arguments condition) 2)))
      (when (member (first arguments) '(:function :variable :type)) arguments))))

(defun defined-by-now-p (kind name)
  (ignore-errors
   (ecase kind
     (:function (fboundp name))
     (:variable (or (boundp name) (not (eq :unknown (sb-int:info :variable :kind name)))))
     (:type (sb-ext:valid-type-specifier-p name)))))

(defun keep-warning (evaluation condition)
  (if (< (evaluation-warning-count evaluation) +warnings-limit+)
      (let ((text (report-text condition 2000)))
        (push (list (warning-type condition) (class-name-text (class-of condition)) text (undefined-thing condition text))
              (evaluation-warnings evaluation)))
      (incf (evaluation-warnings-dropped evaluation)))
  (incf (evaluation-warning-count evaluation)))

(defun count-for-compiler (condition)
  "Note what COMPILE would have noted of CONDITION, had it not been muffled: its second and third value tell of it."
  (unless (typep condition 'sb-ext:compiler-note)
    (let ((warnings-p (find-symbol "*WARNINGS-P*" "SB-C"))
          (failure-p (find-symbol "*FAILURE-P*" "SB-C")))
      (when (and warnings-p (boundp warnings-p)) (setf (symbol-value warnings-p) t))
      (when (and failure-p (boundp failure-p) (not (typep condition 'style-warning)))
        (setf (symbol-value failure-p) t)))))

(defun note-warning (condition)
  ;; inside a stop it is the debugger that compiles, and nothing of the code's
  (when (zerop swank::*sldb-level*)
    (keep-warning *evaluation* condition))
  ;; COMPILE-FILE tells in its output what it saw, and that is no output of the code's
  (unless *compile-file-truename*
    (let ((restart (find-restart 'muffle-warning condition)))
      (when restart
        (count-for-compiler condition)
        (invoke-restart restart)))))

(defun taken-warnings (evaluation)
  "A plist of the warnings so far, oldest first, without those that a later form has answered, and the number of those not kept."
  (list :warnings (loop for (type class text undefined) in (reverse (shiftf (evaluation-warnings evaluation) '()))
                        unless (and undefined (apply #'defined-by-now-p undefined))
                          collect (list type class text))
        :warnings-omitted (shiftf (evaluation-warnings-dropped evaluation) 0)))
