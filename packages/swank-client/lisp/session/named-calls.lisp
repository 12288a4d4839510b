;;;; Calls of macros that are not Lisp's and are given a name. They may define something of a kind that Lisp does not record, such as a test.

(in-package #:swank-client/named-calls)

(defconstant +calls-limit+ 500 "Most named calls that are kept.")

(defstruct (named-call (:type vector) (:copier nil))
  "A call FORM with its TEXT, which a session's code made in PACKAGE at DATE, a universal time."
  form text package date)

(defun call-name (form)
  "The symbol that FORM, a call of a macro that is not Lisp's, has as its first argument or at the start of that; NIL for other forms."
  (when (and (typep form '(cons (and symbol (not null)) (cons t)))
             (macro-function (first form))
             (not (eq (symbol-package (first form)) (find-package "COMMON-LISP")))
             (not (eql 0 (search "SB-" (package-name (or (symbol-package (first form)) "KEYWORD"))))))
    (let ((name (if (consp (second form)) (first (second form)) (second form))))
      (and name (symbolp name) (not (keywordp name)) name))))

(defun note-named-calls (ledger form text package)
  "Note the named calls in FORM, a form at top level that was read from TEXT in PACKAGE and has been evaluated."
  (let ((name (call-name form)))
    (cond (name
           (with-system-mutex ((ledger-lock ledger))
             (let ((others (remove-if (lambda (call)
                                        (let ((other (named-call-form call)))
                                          (and (eq (first form) (first other)) (eq name (call-name other)))))
                                      (ledger-calls ledger))))
               (setf (ledger-calls ledger)
                     (cons (make-named-call :form form :text text :package package :date (get-universal-time))
                           (subseq others 0 (min (length others) (1- +calls-limit+))))))))
          ((typep form '(cons (member progn eval-when locally)))
           (let ((spans (rest (element-spans text 0 (length text) most-positive-fixnum))))
             ;; the reader may have skipped some
             (when (eql (length spans) (list-length (rest form)))
               (loop for part in (rest form)
                     for (start end) in spans
                     do (note-named-calls ledger part (subseq text start end) package))))))))
