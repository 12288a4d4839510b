;;;; Arglists, values and documentation as text.

(in-package #:swank-client/describe)

(defconstant +arglist-limit+ 2000 "Characters shown of a lambda list.")

(defconstant +value-text-limit+ 2000 "Characters shown of a value.")

(defconstant +documentation-limit+ 8000 "Characters shown of a docstring.")

;;; Lambda lists

(defun unqualified (symbol)
  "A symbol that prints as SYMBOL does, without a package."
  (if (or (null symbol) (member symbol lambda-list-keywords)) symbol (make-symbol (symbol-name symbol))))

(defun unqualified-variable (item)
  "ITEM, an optional parameter, with unqualified names and the default unchanged."
  (if (atom item)
      (unqualified item)
      (destructuring-bind (variable . default) item
        (let ((supplied (second default)))
          `(,(unqualified-keyword-variable variable)
            ,@(and default (list (first default)))
            ,@(and supplied (list (unqualified supplied))))))))

(defun unqualified-keyword-variable (variable)
  "VARIABLE with unqualified names: a name, or (KEYWORD NAME), which becomes NAME if both are the same."
  (if (consp variable)
      (destructuring-bind (keyword parameters) variable
        (if (and (symbolp parameters) (string= keyword parameters))
            (unqualified parameters)
            (list keyword (unqualified-parameters parameters))))
      (unqualified variable)))

(defun unqualified-parameters (lambda-list)
  "LAMBDA-LIST, possibly that of a macro, with parameters that print without packages."
  (cond ((null lambda-list) '())
        ((atom lambda-list) (unqualified lambda-list))
        (t (let ((place nil))
             (labels ((item (item)
                        (cond ((member item lambda-list-keywords) (setf place item))
                              ((member place '(&optional &key &aux)) (unqualified-variable item))
                              (t (unqualified-parameters item))))
                      (rest-of (tail)
                        (cond ((null tail) '())
                              ((atom tail) (unqualified tail))
                              (t (cons (item (first tail)) (rest-of (rest tail)))))))
               (rest-of lambda-list))))))

(defun code-text (code package limit)
  "CODE on one line, as written in PACKAGE."
  (with-name-syntax (package)
    (with-bounded-printing (:length 100 :level 10)
      (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum) (*print-gensym* nil))
        (on-one-line (truncated limit (lambda (stream) (prin1 code stream))))))))

(defun live-or-user (package)
  "PACKAGE, or USER-PACKAGE if that is NIL or deleted."
  (if (and package (package-name package)) package (user-package)))

(defun home-package (symbol)
  "The package in which SYMBOL's description is printed: its own, or USER-PACKAGE if that was deleted."
  (live-or-user (symbol-package symbol)))

(defun lambda-list-text (lambda-list symbol)
  "LAMBDA-LIST of the operator SYMBOL as text, or NIL if printing fails."
  (or-nil
   (if (null lambda-list)
       "()"
       (code-text (unqualified-parameters lambda-list) (home-package symbol) +arglist-limit+))))

(defun arglist-text (name symbol)
  "The parameters of the operator NAME as text, or NIL if they are unknown."
  (multiple-value-bind (lambda-list unknown) (or-nil (sb-introspect:function-lambda-list name))
    (unless unknown (lambda-list-text lambda-list symbol))))

;;; Values

(defun session-value (symbol)
  "=> the value of SYMBOL for code of the session, and whether it has one"
  (let* ((session (current-session))
         (place (position symbol *session-variables*)))
    (cond ((eq symbol '*package*) (values (session-package-now session) t))
          ((eq symbol '*readtable*) (values (code-readtable session (session-package-now session)) t))
          (place (values (nth place (session-values session)) t))
          (t (handler-case (values (sb-ext:symbol-global-value symbol) t)
               (error () (values nil nil)))))))

(defun printed-text (value)
  "(TEXT CUT) for VALUE, see PRINT-VALUE."
  (with-bounded-printing (:length 20 :level 3)
    (let ((*print-circle* t)
          (sb-ext:*suppress-print-errors* nil))
      (multiple-value-bind (text cut) (print-value value +value-text-limit+)
        (list text cut)))))

(defun value-entry (value package)
  "(TEXT CUT) for VALUE, printed in PACKAGE within the limits for descriptions of symbols."
  (flet ((text ()
           (handler-case (printed-text value)
             (storage-condition () (restore-guard-page) nil)
             (serious-condition () nil))))
    (or (with-session-settings ((current-session))
          (let ((*package* (live-or-user package)))
            (if (typep value '(or fixnum symbol character))
                (text)
                (with-printing-time (in-time nil (text))))))
        (list "<error printing value>" nil))))

;;; Documentation

(defun documentation-text (name kind)
  "The docstring of NAME as KIND, or NIL."
  (let ((text (or-nil (if (eq kind 'type) (type-docstring name) (documentation name kind)))))
    (when (and (stringp text) (string/= text ""))
      (let ((missing (- (length text) +documentation-limit+)))
        (if (plusp missing)
            (format nil "~a... [~d more characters]" (subseq text 0 +documentation-limit+) missing)
            text)))))
