;;;; Arglists, values and documentation as text.

(in-package #:@module@)

(defconstant +arglist-limit+ 2000)
(defconstant +value-text-limit+ 2000)
(defconstant +documentation-limit+ 8000)

(defmacro or-nil (&body body)
  "The value of BODY, or NIL if it fails: what users have defined takes part in it."
  `(handler-case (progn ,@body)
     (storage-condition () (heal-stack) nil)
     (serious-condition () nil)))

;;; Lambda lists

(defun bare (symbol)
  "A symbol that prints as SYMBOL does, without a package."
  (if (or (null symbol) (member symbol lambda-list-keywords)) symbol (make-symbol (symbol-name symbol))))

(defun bare-variable (item)
  "A parameter with a default: the names bare, the default as it is."
  (if (atom item)
      (bare item)
      (destructuring-bind (variable . default) item
        (let ((supplied (second default)))
          `(,(bare-keyword-variable variable)
            ,@(and default (list (first default)))
            ,@(and supplied (list (bare supplied))))))))

(defun bare-keyword-variable (variable)
  "VARIABLE is a name, or the keyword and the name, which is told only if it is another."
  (if (consp variable)
      (destructuring-bind (keyword parameters) variable
        (if (and (symbolp parameters) (string= keyword parameters))
            (bare parameters)
            (list keyword (bare-parameters parameters))))
      (bare variable)))

(defun bare-parameters (lambda-list)
  "LAMBDA-LIST, possibly that of a macro, with parameters that print without packages."
  (cond ((null lambda-list) '())
        ((atom lambda-list) (bare lambda-list))
        (t (let ((place nil))
             (labels ((item (item)
                        (cond ((member item lambda-list-keywords) (setf place item))
                              ((member place '(&optional &key &aux)) (bare-variable item))
                              (t (bare-parameters item))))
                      (rest-of (tail)
                        (cond ((null tail) '())
                              ((atom tail) (bare tail))
                              (t (cons (item (first tail)) (rest-of (rest tail)))))))
               (rest-of lambda-list))))))

(defun code-text (code package limit)
  "CODE on one line as one would write it."
  (with-standard-io-syntax
    (let ((*package* package))
      (with-bounded-printing (:length 100 :level 10)
        (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum) (*print-gensym* nil))
          (on-one-line (truncated limit (lambda (stream) (prin1 code stream)))))))))

(defun live-or-user (package)
  (if (and package (package-name package)) package (find-package "COMMON-LISP-USER")))

(defun home-package (symbol)
  (live-or-user (symbol-package symbol)))

(defun lambda-list-text (lambda-list symbol)
  (or-nil
   (if (null lambda-list)
       "()"
       (code-text (bare-parameters lambda-list) (home-package symbol) +arglist-limit+))))

(defun arglist-text (name symbol)
  "The parameters of the operator NAME, or NIL if nobody knows them."
  (multiple-value-bind (lambda-list unknown) (or-nil (sb-introspect:function-lambda-list name))
    (unless unknown (lambda-list-text lambda-list symbol))))

;;; Values

(defun session-value (symbol)
  "=> the value that SYMBOL has for code of the session, and whether it has one"
  (let* ((session (current-session))
         (place (position symbol *session-variables*)))
    (cond ((eq symbol '*package*) (values (session-package-now session) t))
          ((eq symbol '*readtable*) (values (session-readtable session) t))
          (place (values (nth place (session-values session)) t))
          (t (handler-case (values (sb-ext:symbol-global-value symbol) t)
               (error () (values nil nil)))))))

(defun printed-text (value)
  (let ((*value-length* 20))
    (with-bounded-printing (:length 20 :level 3)
      (let ((*print-circle* t)
            (sb-ext:*suppress-print-errors* nil))
        (if (or (stringp value) (huge-number-p value))
            (list (print-value value +value-text-limit+) nil)
            (let* ((text (truncated +value-text-limit+ (lambda (stream) (prin1 value stream))))
                   (missing (string-trim " []" (elision value text +value-text-limit+))))
              (list text (and (string/= missing "") missing))))))))

(defun value-entry (value package)
  "(TEXT MISSING), within the limits that the descriptions of symbols have."
  (flet ((text ()
           (handler-case (printed-text value)
             (storage-condition () (heal-stack) nil)
             (serious-condition () nil))))
    (or (with-session-variables ((current-session))
          (let ((*package* (live-or-user package)))
            (if (typep value '(or fixnum symbol character))
                (text)
                (with-printing-time (in-time nil (text))))))
        (list "<error printing value>" nil))))

;;; Documentation

(defun documentation-text (name kind)
  (let ((text (or-nil (documentation name kind))))
    (when (and (stringp text) (string/= text ""))
      (let ((missing (- (length text) +documentation-limit+)))
        (if (plusp missing)
            (format nil "~a... [~d more characters]" (subseq text 0 +documentation-limit+) missing)
            text)))))
