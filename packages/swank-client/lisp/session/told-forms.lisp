;;;; The forms by which a session's definitions can be made again, told to a client that keeps them: an image that is lost takes its own record with it.

(in-package #:swank-client/told-forms)

;;; A form can do more than define something. Only the parts of its text that define something are kept, with the bindings around them.

(defparameter *binding-operators* '("LET" "LET*" "FLET" "LABELS" "MACROLET" "SYMBOL-MACROLET")
  "Operators whose second element binds what definitions in their body may use.")

(defparameter *plain-operators*
  '("PROGN" "EVAL-WHEN" "LOCALLY" "PROG1" "PROG2" "MULTIPLE-VALUE-PROG1" "MULTIPLE-VALUE-LIST" "TIME" "IF" "WHEN" "UNLESS" "AND" "OR" "THE"
    "IGNORE-ERRORS" "UNWIND-PROTECT")
  "Operators besides functions that bind nothing around the forms in them.")

(defconstant +expansion-limit+ 1000 "Most conses of an expansion in which a definition is looked for.")

(defun plain-operator-p (name)
  "True if the operator NAME is one of Lisp that binds nothing around the forms in it."
  (let ((symbol (lisp-operator name)))
    (and symbol
         (or (member name *plain-operators* :test #'string=)
             (and (fboundp symbol) (not (macro-function symbol)) (not (special-operator-p symbol))))
         t)))

(defun mentions-definition-p (form)
  "True if FORM, an expansion, has a part that begins with a defining operator of Lisp."
  (let ((left +expansion-limit+))
    (labels ((found-p (part)
               (loop while (consp part)
                     do (when (minusp (decf left)) (return-from found-p nil))
                        (when (and (symbolp (car part)) (not (eq 'setf (car part))) (defining-kind (car part))) (return-from found-p t))
                        (when (found-p (car part)) (return-from found-p t))
                        (setf part (cdr part)))))
      (found-p form))))

(defun defined-by-expansion-p (text)
  "True if TEXT is a call of a macro of the program that expands into a definition."
  (let ((form (or-nil (let ((*read-eval* nil)) (read-from-string text)))))
    (and (typep form '(cons symbol))
         (macro-function (first form))
         (not (eq (symbol-package (first form)) (find-package "COMMON-LISP")))
         (mentions-definition-p (or-nil (macroexpand-1 form))))))

(defun defines-p (name text)
  "True if the form with TEXT and the operator NAME defines something."
  (cond ((eql 0 (search "DEF" name)) t)
        ((string= name "SETF")
         (some (lambda (place) (search place text :test #'char-equal)) '("(fdefinition '" "(symbol-function '" "(macro-function '")))
        ((lisp-operator name) nil)
        (t (defined-by-expansion-p text))))

(defun defining-part (text &optional (start 0) (end (length text)))
  "The part of the form between START and END of TEXT that defines something, as the text of one form; or NIL if there is none that can be told
from the rest."
  (when (and (< start end) (char= #\( (char text start)))
    (destructuring-bind (&optional operator . arguments) (element-spans text start end most-positive-fixnum)
      (let ((name (and operator (operator-name (subseq text (first operator) (second operator))))))
        (flet ((parts (spans)
                 (loop for (from to) in spans
                       for part = (defining-part text from to)
                       when part collect part)))
          (cond ((or (null name) (string= name "")) nil)
                ((defines-p name (subseq text start end)) (subseq text start end))
                ((and arguments (member name *binding-operators* :test #'string=))
                 (let ((parts (parts (rest arguments))))
                   (and parts (format nil "~a~{~%  ~a~})" (subseq text start (second (first arguments))) parts))))
                ((plain-operator-p name)
                 (let ((parts (parts arguments)))
                   (if (rest parts) (format nil "(progn~{~%  ~a~})" parts) (first parts))))))))))

;;; Tells the client

(defconstant +label-length+ 200 "Characters of a form that are told if it cannot be evaluated again.")

(defun send-form (session part text package assigned loads)
  "Send what TELL-FORM explains. PART is the DEFINING-PART of TEXT, or NIL."
  (send (mconn.control-thread (session-connection session))
        (list :write-string (or part (and text (subseq text 0 (min +label-length+ (length text)))) "")
              (list :form (package-name package) (cond (part :definition) (text :mixed) (t :effects))
                    (let ((*package* (find-package "COMMON-LISP")))
                      (loop for variable in assigned
                            collect (line-text-in-time variable 300)))
                    (loop for (kind name) in loads
                          collect (list kind (if (pathnamep name) (sb-ext:native-namestring name) name)))))))

(defun tell-form (session text package assigned loads)
  "Tell SESSION's client of a form that was evaluated or compiled in PACKAGE: its TEXT if it defines something, or NIL; the variables that it has
ASSIGNED; and the LOADS, as in a ledger, that it has made."
  (when (and (session-forms-told session) (or text assigned loads))
    (send-form session (and text (recording-faults (defining-part text))) text package assigned loads)))

(defun call-with-forms (text function)
  "Call FUNCTION with the text of each form of TEXT, which was compiled and loaded in the current package, in the package of the form."
  (let ((*package* *package*))
    (dolist (form (top-level-forms text))
      (let* ((part (subseq text (top-level-form-start form) (top-level-form-end form)))
             (head (and (eql 0 (search "(" part)) (operator-name (subseq part 1 (token-end part 1))))))
        (if (equal head "IN-PACKAGE")
            (let ((package (or-nil (find-package (second (read-from-string part))))))
              (when package (setf *package* package)))
            (funcall function part))))))

(defun tell-text (session text)
  "Tell SESSION's client of the forms of TEXT, which was compiled and loaded in the current package."
  (when (session-forms-told session)
    (call-with-forms text (lambda (part)
                            (let ((defining (recording-faults (defining-part part))))
                              (when defining (send-form session defining part *package* '() '())))))))

(defun note-calls-in-text (session text)
  "Note for SESSION the named calls in the forms of TEXT, which was compiled and loaded in the current package."
  (call-with-forms text (lambda (part)
                          (let ((form (or-nil (let ((*read-eval* nil)) (read-from-string part)))))
                            (note-named-calls (session-ledger session) form part *package*)))))
