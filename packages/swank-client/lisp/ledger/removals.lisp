;;;; Names whose definitions a session's forms may have removed.

(in-package #:swank-client/ledger)

(defconstant +removed-limit+ 500 "Most names that are kept.")

(defconstant +searched-limit+ 5000 "Most conses of a form that are searched.")

(defparameter *removing-operators* '(fmakunbound makunbound unintern remove-method find-class)
  "Functions that remove a definition. FIND-CLASS does with SETF.")

(defun name-of-atom (atom)
  "The name that ATOM, a part of a form, may give to a function that removes a definition; or NIL."
  (typecase atom
    ((or null keyword) nil)
    (symbol (unless (eq (symbol-package atom) (find-package "COMMON-LISP")) (symbol-name atom)))
    ((string 100) nil)
    (string (and (plusp (length atom)) atom))))

(defun removed-names (form)
  "The names in FORM, a form at top level, if it contains a function that removes definitions. Which of them it removes is not known."
  (let ((names '()) (found nil) (left +searched-limit+))
    (labels ((search-in (part)
               (loop while (and (consp part) (plusp (decf left)))
                     do (search-in (pop part)))
               (when (and (atom part) part)
                 (if (member part *removing-operators*)
                     (setf found t)
                     (let ((name (name-of-atom part))) (when name (pushnew name names :test #'string=)))))))
      (search-in form))
    (and found names)))

(defun note-removals (ledger form)
  "Note the names whose definitions FORM, which is about to be evaluated at top level, may remove."
  (let ((names (removed-names form)))
    (when names
      (with-system-mutex ((ledger-lock ledger))
        (let ((all (union names (ledger-removed ledger) :test #'string=)))
          (setf (ledger-removed ledger) (subseq all 0 (min +removed-limit+ (length all)))))))))
