;;;; Compares the forms of a file with those of the text that was loaded from it.

(in-package #:swank-client/code)

(defun form-key (text form)
  "What tells the definition that FORM of TEXT makes from those of other forms, as a list of texts; NIL if FORM is no list."
  (let ((start (top-level-form-start form)) (end (top-level-form-end form)))
    (multiple-value-bind (operator name) (definition-head text start end)
      (when (and operator name)
        (when (string= "IN-PACKAGE" (operator-name operator)) (return-from form-key '("IN-PACKAGE")))
        ;; a function that has become a macro has changed
      (list* (or (first (source-kinds (head-kind operator))) (operator-name operator))
             (parsed-name (defined-text name)) (and (setf-text-p name) t)
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

(defun texts-with-packages (text forms)
  "((TEXT . NAME) ...): the texts of FORMS, and the name of the package in which each is read, or NIL."
  (loop with name = nil
        for form in forms
        do (setf name (or (or-nil (in-package-name text form)) name))
        collect (cons (form-text text form) name)))

(defun moved-forms (file)
  "The number of forms of FILE that have not changed since it was loaded and are in another package now."
  (let ((loaded (text-as-loaded file)))
    (if (or (null loaded) (string= loaded (file-text file)))
        0
        (let* ((forms (file-forms file))
               (old (texts-with-packages loaded (top-level-forms loaded)))
               (moved (set-difference (texts-with-packages (file-text file) forms) old :test #'equal)))
          (count-if (lambda (pair) (find (car pair) old :key #'car :test #'string=)) moved)))))

(defun lost-in-package-p (change file changes)
  "True if CHANGE is an IN-PACKAGE form that FILE no longer has, and forms are in another package without it, among CHANGES or unchanged."
  (and (in-package-change-p change)
       (or (some #'change-moved changes) (plusp (moved-forms file)))))

(defun changed-in-text (file loaded old-forms old)
  "=> the :CHANGED and :NEW forms of FILE since LOADED, its text with OLD-FORMS; and those of OLD, unmatched forms, that are in none of them"
  (let ((text (file-text file)) (forms (file-forms file)) (initial (file-initial-package file)))
    (values
     (loop for (form number) in (unmatched text forms loaded old-forms)
           for key = (form-key text form)
           for match = (and key (find key old :test #'equalp :key (lambda (pair) (form-key loaded (first pair)))))
           for package = (package-at text forms number initial)
           do (when match (setf old (remove match old)))
           collect (form-change (if match :changed :new) text form number package
                                :file file :position (top-level-form-start form)
                                :file-text (form-text text form) :text (and match (form-text loaded (first match)))
                                :moved (and match (not (eq package (package-at loaded old-forms (second match) initial))))))
     old)))

(defun compared-changes (file loaded)
  "The changes of FILE since LOADED, its text then: :CHANGED, :NEW and :DELETED."
  (let ((old-forms (top-level-forms loaded)))
    (multiple-value-bind (changes old)
        (changed-in-text file loaded old-forms (unmatched loaded old-forms (file-text file) (file-forms file)))
      (append
       changes
       (loop for (form number) in old
             for change = (form-change :deleted loaded form number (package-at loaded old-forms number (file-initial-package file))
                                       :file file :text (form-text loaded form))
             when (or (change-definition change) (lost-in-package-p change file changes)) collect change)))))
