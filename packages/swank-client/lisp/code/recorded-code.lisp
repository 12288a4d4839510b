;;;; Compares the forms of a file with those that SBCL has recorded.

(in-package #:swank-client/code)

;;; Packages of forms

(defun in-package-name (text form)
  "The package that FORM of TEXT names if it is IN-PACKAGE."
  (let ((start (top-level-form-start form)))
    (multiple-value-bind (operator name)
        (when (and (char= #\( (char text start))
                   (search "in-package" text :start2 start :end2 (min (top-level-form-end form) (+ start 30)) :test #'char-equal))
          (definition-head text start (top-level-form-end form)))
      (and operator name (string= "IN-PACKAGE" (operator-name operator)) (designated-name name)))))

(defun designated-name (text)
  "The name of a package in TEXT, a designator without evaluation."
  (let ((text (trimmed text)))
    (if (char= #\" (char text 0)) (string-trim "\"" text) (parsed-package (string-left-trim ":" text)))))

(defun file-packages (file)
  "The names of the packages that forms of FILE change to."
  (let ((analysis (file-analysis file)))
    (if (eq :unread (analysis-packages analysis))
        (setf (analysis-packages analysis)
              (loop for form in (file-forms file)
                    for name = (or-nil (in-package-name (file-text file) form))
                    when name collect name))
        (analysis-packages analysis))))

(defun package-at (text forms number &optional initial)
  "The package in which form NUMBER of FORMS in TEXT is read: INITIAL before the first IN-PACKAGE; NIL if it does not exist."
  (loop with name = nil
        for form in forms
        repeat (or number 0)
        do (setf name (or (or-nil (in-package-name text form)) name))
        finally (return (if name (or-nil (find-package name)) initial))))

;;; Recorded forms

(defun without-order (function-parts)
  "FUNCTION-PARTS, a lambda list and a body, as (LAMBDA-LIST DECLARATIONS FORMS). Documentation is left out, because SBCL records it elsewhere."
  (destructuring-bind (lambda-list . body) function-parts
    (loop for rest on body
          for form = (first rest)
          for documentation-p = (and (stringp form) (rest rest))
          while (or (declaration-p form) documentation-p)
          unless documentation-p append (rest form) into declarations
          finally (return (list lambda-list declarations rest)))))

(defun same-code-p (form recorded)
  "True if FORM, read without interning, is the code RECORDED."
  (cond ((consp form)
         (and (consp recorded) (same-code-p (car form) (car recorded)) (same-code-p (cdr form) (cdr recorded))))
        ((and form (symbolp form))
         (or (eq form recorded)
             (and (null (symbol-package form)) (null (prefix-of-unknown form)) (symbolp recorded) (string= form recorded))))
        ((comma-p form)
         (and (comma-p recorded)
              (same-code-p (comma-form form) (comma-form recorded))
              (equalp (make-comma nil form) (make-comma nil recorded))))
        ((simple-vector-p form)
         (and (simple-vector-p recorded) (= (length form) (length recorded)) (every #'same-code-p form recorded)))
        ((arrayp form) (and (arrayp recorded) (string= (prin1-to-string form) (prin1-to-string recorded))))
        (t (equal form recorded))))

(defun read-as-data (text file)
  "The form in TEXT, a part of FILE, read in the current package; NIL if reading it needs another readtable."
  (unless (mentions-readtable-p (file-analysis file))
    (first (read-without-interning text (data-readtable)))))

(defun same-function-p (form name recorded)
  "True if FORM is a DEFUN of NAME with the lambda expression RECORDED."
  (same-code-p (without-order (cddr form)) (without-order (body-of-lambda recorded name))))

(defun compared-form (definition file span number)
  "How the form at SPAN, (START END), of FILE, in its top-level form NUMBER, compares with the one that SBCL has recorded for DEFINITION:
:SAME, :DIFFERENT, or NIL if there is none or the form cannot be read as data."
  (let ((recorded (lambda-form-of definition))
        (name (definition-name definition)))
    (when recorded
      (let* ((*package* (or (package-at (file-text file) (file-forms file) number)
                            (home-package (if (consp name) (second name) name))))
             (form (read-as-data (subseq (file-text file) (first span) (second span)) file)))
        (when (and (typep form '(cons (eql defun) (cons t cons))) (same-code-p (second form) name))
          (if (same-function-p form name recorded) :same :different))))))
