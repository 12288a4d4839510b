;;;; Why nothing is known to refer to a name.

(in-package #:swank-client/code)

(defun operator-kind (name)
  "The kind of operator that NAME, a symbol or (SETF SYMBOL), is, or NIL."
  (and (fboundp name) (function-kind name)))

(defun program-package (name)
  "The package whose code probably uses NAME: its own, or the current one if Lisp itself owns it."
  (let ((package (symbol-package (if (consp name) (second name) name))))
    (if (and package (package-name package)
             (not (eq package (find-package "COMMON-LISP"))) (not (implementation-package-p package)))
        package
        *package*)))

(defun map-package-functions (function package)
  "Call FUNCTION with each ordinary function whose name belongs to PACKAGE."
  (do-symbols (symbol package)
    (when (and (eq package (symbol-package symbol)) (fboundp symbol) (eq :function (function-kind symbol)))
      (funcall function (fdefinition symbol)))))

(defun data-reason (name)
  "Why code of the package of NAME may lack cross references, (:interpreted PACKAGE COUNT) or (:no-data PACKAGE COUNT), or NIL."
  (let ((package (program-package name)) (interpreted 0) (compiled 0) (known 0))
    (map-package-functions (lambda (function)
                             (cond ((not (compiled-function-p function)) (incf interpreted))
                                   (t (incf compiled)
                                      (when (function-references-p function) (incf known)))))
                           package)
    (cond ((plusp interpreted) (list :interpreted (package-name package) interpreted))
          ((and (plusp compiled) (zerop known)) (list :no-data (package-name package) compiled)))))

(defun caller-reason (name)
  "Why NAME cannot have callers, or why they may be unknown, or NIL."
  (case (operator-kind name)
    ((nil) :no-function)
    (:macro :macro)
    (:special-operator :special-operator)
    (t (and (inline-p name) :inline))))

(defun callee-reason (name)
  "Why no callees of NAME are known, or NIL."
  (case (operator-kind name)
    ((nil) :no-function)
    (:special-operator :special-operator)
    (t (and (notevery #'compiled-function-p (codes-of name)) :is-interpreted))))

(defun variable-reason (kind name)
  "Why NAME cannot be used as a variable in the way of KIND, or NIL."
  (if (consp name)
      :no-variable
      (case (sb-int:info :variable :kind name)
        (:unknown :no-variable)
        (:macro :symbol-macro)
        (:constant (if (eq kind :references) :constant-inlined :constant)))))

(defun macro-reason (name)
  "Why NAME cannot be used as a macro, or NIL."
  (case (operator-kind name)
    ((nil) (if (and (symbolp name) (eq :macro (sb-int:info :variable :kind name))) :symbol-macro :no-macro))
    (:macro nil)
    (:special-operator :special-operator)
    (t :function)))

(defun class-reason (name)
  "Why NAME has no methods or subclasses, or NIL."
  (cond ((and (symbolp name) (find-class name nil)) nil)
        ((and (symbolp name) (eq :defined (sb-int:info :type :kind name))) :type)
        (t :no-class)))

(defun other-meanings (name)
  "What NAME is, each as the reason to ask for references of another kind."
  (append (case (operator-kind name)
            ((nil) '())
            (:macro '(:macro))
            (:special-operator '())
            (t '(:function)))
          (and (symbolp name) (eq :special (sb-int:info :variable :kind name)) '(:variable))
          (and (symbolp name) (find-class name nil) '(:class))))

(defun reasons (kind name)
  "Why nothing refers to NAME as KIND says: ((REASON PACKAGE FUNCTIONS) ...), where only :INTERPRETED and :NO-DATA have a package and a number."
  (let* ((reason (ecase kind
                   (:callers (caller-reason name))
                   (:callees (callee-reason name))
                   ((:references :bindings :assignments) (variable-reason kind name))
                   (:macro-uses (macro-reason name))
                   ((:specializers :subclasses) (class-reason name))))
         (data (and (member kind *kinds-by-name*)
                    (member reason '(nil :inline :constant-inlined))
                    (or-nil (data-reason name)))))
    (append (and reason (list (list reason nil nil)))
            (when (member reason '(:no-function :no-variable :no-macro :no-class))
              (loop for meaning in (other-meanings name) collect (list meaning nil nil)))
            (and data (list data)))))
