;;;; Undoes a definition that an evaluation of any client has made: the form of its file is evaluated again, or what no file has is removed.

(in-package #:swank-client/changes)

(defun evaluated-changes (changes symbol text kind)
  "Those of CHANGES that evaluations have made, of the definitions of SYMBOL that TEXT names, and of KIND unless that is NIL. Without a KIND, a name
that is not that of a method means none."
  (let ((matches-p (definition-matcher symbol text)))
    (remove-if-not (lambda (change)
                     (and (member (change-state change) '(:image-only :differs :conflict))
                          (if kind
                              (eq kind (change-kind change))
                              (or (method-text-p text) (not (eq :method (change-kind change)))))
                          (funcall matches-p (change-definition change))))
                   changes)))

(defun reason-not-to-remove (change changes)
  "Why the definition of CHANGE, which no file has, is not removed, or NIL. CHANGES: all of the image."
  (let* ((definition (change-definition change)) (name (definition-name definition)))
    (case (change-kind change)
      ((:function :macro :variable :method) nil)
      (:generic-function
       ;; the methods would go with it
       (and (set-difference (methods-of name)
                            (loop for other in changes
                                  when (and (eq :image-only (change-state other)) (eq :method (change-kind other)))
                                    collect (definition-method (change-definition other))))
            :extended))
      (t :kind))))

(defun undo-change (change changes program)
  "Undo CHANGE, one of CHANGES, in PROGRAM. => as UNDO-DEFINITION"
  (let ((definition (change-definition change)))
    (if (change-file change)
        (let ((run (run-of-forms (list (cons (change-file change) (change-number change))) changes program)))
          (load-pending run)
          (run-reply run '()))
        (let ((reason (or (reason-not-to-remove change changes)
                          (remove-definition (change-kind change) (definition-name definition) (definition-method definition)))))
          (if reason
              (list :refused reason)
              (list :removed (change-kind change) (change-name change)))))))

(defun undo-definition (text &optional kind)
  "Undo the definition that TEXT, as code in the current package writes it, names: NAME, (setf NAME) or (method NAME ...), of KIND.
=> (:loads ...), as LOAD-CHANGES, if a file has it; (:removed KIND NAME) | (:refused REASON), where REASON is :UNDEFINED, :UNCHANGED if no
evaluation has made it, :AMBIGUOUS, :KIND, :EXTENDED by other methods, or :LOCKED"
  (with-files ()
    (let* ((*known-operators* (make-hash-table :test 'eq))
           (plain (if (method-text-p text) (plain-name-text text) text))
           (symbol (or-nil (symbol-named plain *package* nil))))
      (multiple-value-bind (changes states program) (all-changes nil)
        (declare (ignore states))
        (let ((wanted (and symbol (evaluated-changes changes symbol text kind))))
          (cond ((rest wanted) '(:refused :ambiguous))
                (wanted (undo-change (first wanted) changes program))
                ((and symbol (some (definition-matcher symbol text) (all-definitions symbol (setf-text-p plain))))
                 '(:refused :unchanged))
                (t '(:refused :undefined))))))))
