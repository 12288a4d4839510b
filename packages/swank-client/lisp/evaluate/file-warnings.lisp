;;;; Warnings of files that an evaluation loads or compiles. A system can have hundreds, so clients get their numbers, and the texts of some.

(in-package #:swank-client/evaluate)

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

(defun counted (warnings)
  "((FILE TYPE COUNT) ...) of WARNINGS, in their order."
  (let ((counts (make-hash-table :test 'equal))
        (keys '()))
    (dolist (warning warnings)
      (let ((key (list (file-warning-shown-file warning) (file-warning-type warning))))
        (when (= 1 (incf (gethash key counts 0))) (push key keys))))
    (loop for (file type) in (reverse keys)
          collect (list file type (gethash (list file type) counts)))))

(defun with-texts (warnings)
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
    (values (with-texts left) (counted left) (- count (length warnings)))))
