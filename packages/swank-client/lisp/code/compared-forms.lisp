;;;; Compares the forms of a file with those of the text that was loaded from it.

(in-package #:swank-client/code)

(defun form-key (text form)
  "What tells the definition that FORM of TEXT makes from those of other forms, as a list of texts; NIL if FORM is no list."
  (let ((start (top-level-form-start form)) (end (top-level-form-end form)))
    (multiple-value-bind (operator name) (definition-head text start end)
      (when (and operator name)
        (when (string= "IN-PACKAGE" (operator-name operator)) (return-from form-key '("IN-PACKAGE")))
        (list* (operator-name operator) (parsed-name (defined-text name)) (and (setf-text-p name) t)
               (when (eq :method (head-kind operator))
                 (multiple-value-bind (qualifiers lambda-list)
                     (method-parts (loop for (from to) in (cddr (element-spans text start end 8)) collect (subseq text from to)))
                   (append qualifiers (and lambda-list (lambda-list-specializers lambda-list))))))))))

(defun form-text (text form)
  "The text of FORM in TEXT, without the comments before it."
  (subseq text (top-level-form-start form) (top-level-form-end form)))

(defun unmatched (text forms other-text other-forms)
  "((FORM NUMBER) ...) of FORMS in TEXT whose text none of OTHER-FORMS in OTHER-TEXT has."
  (let ((counts (make-hash-table :test 'equal)))
    (dolist (form other-forms) (incf (gethash (form-text other-text form) counts 0)))
    (loop for form in forms
          for number from 0
          unless (<= 0 (decf (gethash (form-text text form) counts 0))) collect (list form number))))

(defun compared-changes (file loaded)
  "The changes of FILE since LOADED, its text then: :CHANGED, :NEW and :DELETED."
  (let* ((text (file-text file)) (forms (file-forms file))
         (old-forms (top-level-forms loaded))
         (old (unmatched loaded old-forms text forms)))
    (append
     (loop for (form number) in (unmatched text forms loaded old-forms)
           for key = (form-key text form)
           for match = (and key (find key old :test #'equalp :key (lambda (pair) (form-key loaded (first pair)))))
           do (when match (setf old (remove match old)))
           collect (form-change (if match :changed :new) text form number (package-at text forms number (file-initial-package file))
                                :file file :position (top-level-form-start form)
                                :file-text (form-text text form) :text (and match (form-text loaded (first match)))))
     (loop for (form number) in old
           for change = (form-change :deleted loaded form number (package-at loaded old-forms number (file-initial-package file))
                                     :file file :text (form-text loaded form))
           when (change-definition change) collect change))))
