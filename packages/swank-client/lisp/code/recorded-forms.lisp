;;;; The text of a definition that SBCL or this library has recorded in the image.

(in-package #:swank-client/code)

(defconstant +text-limit+ 40000 "Characters shown of one definition.")

(defun form-of-plist (plist number)
  "The text of form NUMBER in the text that PLIST, a source plist, records; and its position in that text."
  (let* ((text (getf plist :emacs-string))
         (form (nth (or number 0) (top-level-forms text))))
    (if form
        (values (subseq text (top-level-form-start form) (top-level-form-end form)) (top-level-form-start form))
        (values text 0))))

(defun declaration-p (form)
  "True if FORM is a DECLARE expression."
  (typep form '(cons (eql declare))))

(defun body-of-lambda (lambda-expression name)
  "The lambda list and the body of LAMBDA-EXPRESSION, without the block that DEFUN of NAME puts around the body."
  (destructuring-bind (lambda-list . body) (rest lambda-expression)
    (let* ((block-name (if (consp name) (second name) name))
           (block (first (last body)))
           (before (butlast body)))
      (list* lambda-list
             (if (and (typep block '(cons (eql block) cons)) (eq block-name (second block))
                      (every (lambda (form) (or (stringp form) (declaration-p form))) before))
                 (append (remove-if #'own-declaration-p before) (cddr block))
                 body)))))

(defun own-declaration-p (form)
  "True if FORM is a declaration that SBCL adds to recorded forms."
  (and (declaration-p form)
       (every (lambda (specifier) (equal "SB-C" (home-name (first specifier)))) (rest form))))

(defun short-code-p (form)
  "True if FORM consists of at most 2000 conses, symbols, numbers, characters and short strings, so that its text is short."
  (let ((left 2000))
    (labels ((short-p (part)
               (loop while (consp part)
                     do (unless (and (plusp (decf left)) (short-p (car part))) (return-from short-p nil))
                        (setf part (cdr part)))
               (typecase part
                 (string (< (length part) 1000))
                 ((or symbol fixnum character float) t))))
      (short-p form))))

(defun pretty-text (form package &optional dispatch)
  "FORM as code in PACKAGE writes it, on several lines, printed with the table DISPATCH, by default the standard one."
  (with-name-syntax (package)
    (let ((*print-pprint-dispatch* (or dispatch *print-pprint-dispatch*))
          (*print-pretty* t) (*print-right-margin* 100) (*print-case* :downcase)
          (*print-length* 2000) (*print-level* 50) (*print-gensym* nil)
          (sb-ext:*suppress-print-errors* 'serious-condition))
      ;; a stream that cuts the text takes as long as printing
      (if (short-code-p form)
          (prin1-to-string form)
          (truncated +text-limit+ (lambda (stream) (prin1 form stream)))))))

(defun lambda-form-of (definition)
  "The lambda expression that SBCL has recorded for DEFINITION, a function, or NIL."
  (let ((form (and (eq (definition-kind definition) :function)
                   (or-nil (function-lambda-expression (fdefinition (definition-name definition)))))))
    (and (typep form '(cons (eql lambda) (cons list))) form)))

(defun lambda-text (definition)
  "The text of DEFINITION, a function, as SBCL has recorded its form, or NIL."
  (let ((name (definition-name definition))
        (lambda-expression (lambda-form-of definition)))
    (when lambda-expression
      (or-nil (pretty-text `(defun ,name ,@(body-of-lambda lambda-expression name))
                           (home-package (if (consp name) (second name) name)))))))
