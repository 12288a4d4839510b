;;;; Expands macros, and prints expansions so that uninterned symbols can be told apart.

(in-package #:swank-client/questions)

;;; Uninterned symbols

(defun map-atoms (function form)
  "Call FUNCTION with each atom of FORM, code that may be circular."
  (let ((seen (make-hash-table :test 'eq)) (left (list form)))
    (loop while left
          do (let ((part (pop left)))
               (cond ((atom part) (funcall function part))
                     ((gethash part seen))
                     (t (setf (gethash part seen) t)
                        (push (cdr part) left)
                        (push (car part) left)))))))

(defun base-name (symbol)
  "The name of SYMBOL without the number at its end."
  (let ((name (symbol-name symbol)))
    (subseq name 0 (1+ (or (position-if-not #'digit-char-p name :from-end t) -1)))))

(defun numbered-symbols (form kept)
  "A table of new symbols for the uninterned symbols in FORM except those in KEPT: numbered by their first appearance, and named unlike the others."
  (let ((new (make-hash-table :test 'eq)) (taken (make-hash-table :test 'equal)) (uninterned '()))
    (map-atoms (lambda (atom)
                 (when (and atom (symbolp atom))
                   (if (or (symbol-package atom) (member atom kept))
                       (setf (gethash (symbol-name atom) taken) t)
                       (pushnew atom uninterned))))
               form)
    (dolist (symbol (reverse uninterned) new)
      (let ((name (loop for number from 1
                        for name = (format nil "~a~d" (base-name symbol) number)
                        unless (gethash name taken) return name)))
        (setf (gethash name taken) t
              (gethash symbol new) (make-symbol name))))))

(defun replaced-symbols (form new)
  "FORM, which may be circular, with the symbols that the table NEW has in place of its own."
  (let ((copies (make-hash-table :test 'eq)))
    (labels ((copy (part)
               (cond ((symbolp part) (gethash part new part))
                     ((atom part) part)
                     ((gethash part copies))
                     (t (let ((first (setf (gethash part copies) (cons nil nil))))
                          ;; code is deeper in its elements than in its tails
                          (loop for from = part then (cdr from)
                                for to = first then (setf (cdr to) (setf (gethash from copies) (cons nil nil)))
                                do (setf (car to) (copy (car from)))
                                   (when (or (atom (cdr from)) (gethash (cdr from) copies))
                                     (setf (cdr to) (copy (cdr from)))
                                     (return first))))))))
      (copy form))))

(defun uninterned-symbols (form)
  "The symbols of no package in FORM."
  (let ((found '()))
    (map-atoms (lambda (atom) (when (and atom (symbolp atom) (null (symbol-package atom))) (pushnew atom found))) form)
    found))

(defun print-unknown-name (stream symbol)
  "Print SYMBOL, which stands for a name that its package lacks, with the prefix of that package."
  (write-string (prefix-of-unknown symbol) stream)
  (prin1 (make-symbol (symbol-name symbol)) stream))

(defparameter *expansion-dispatch*
  (let ((dispatch (copy-pprint-dispatch nil)))
    (set-pprint-dispatch '(and symbol (satisfies prefix-of-unknown)) #'print-unknown-name 0 dispatch)
    dispatch)
  "How expansions are printed.")

(defun expansion-text (expansion kept)
  "The text of EXPANSION. KEPT are uninterned symbols that stand for names of the code."
  (let ((form (replaced-symbols expansion (numbered-symbols expansion kept))))
    (with-printing-time
      (in-time "#<code that takes too long to print>"
        (pretty-text form *package* (and (some #'prefix-of-unknown kept) *expansion-dispatch*))))))

;;; Expansion

(defun expanded (form mode)
  "=> the expansion of FORM in MODE, and whether it differs"
  (ecase mode
    (:once (macroexpand-1 form))
    (:full (macroexpand form))
    (:all (let ((expansion (swank/backend:macroexpand-all form)))
            (values expansion (not (equal expansion form)))))))

(defun operator-facts (form)
  "(NAME KIND SIMILAR-NAMES) of the operator of FORM, which is no macro call, or NIL. KIND is NIL if the operator is not defined."
  (let ((operator (and (consp form) (first form))))
    (when (and operator (symbolp operator))
      (list (if (symbol-package operator) (name-text operator) (symbol-name operator))
            (and (symbol-package operator) (fboundp operator) (function-kind operator))
            (unless (fboundp operator)
              (or (symbols-elsewhere (symbol-name operator) (symbol-name operator))
                  (similar-operators (symbol-name operator))))))))

(defun similar-operators (name)
  "Names of operators that are accessible in the current package and differ from NAME by a slip."
  (let ((found '()))
    (do-symbols (symbol *package*)
      (let ((other (symbol-name symbol)))
        (when (and (plusp (length other)) (plusp (length name)) (char= (char name 0) (char other 0))
                   (<= (abs (- (length name) (length other))) 2)
                   (fboundp symbol)
                   (slip-p name other))
          (pushnew (name-text symbol) found :test #'string=))))
    (subseq found 0 (min +suggestions+ (length found)))))

(defun expansion-entry (form mode)
  "(TEXT DIFFERS OPERATOR-FACTS) for the expansion of FORM in MODE."
  (multiple-value-bind (expansion differs) (expanded form mode)
    (list (expansion-text expansion (uninterned-symbols form))
          (and differs t)
          (unless differs (recording-faults (operator-facts form))))))

(defun expansions (code mode)
  "The reply of MACROEXPAND-CODE in the current package."
  (let ((forms (handler-case (read-without-interning code (data-readtable *readtable*) :keywords nil)
                 (storage-condition ()
                   (restore-guard-page)
                   (return-from expansions (list :unreadable "It is circular, or nested too deep.")))
                 (error (problem) (return-from expansions (list :unreadable (message-text problem)))))))
    (handler-case (handler-bind ((warning #'muffle-warning))
                    (with-session-settings ((current-session))
                      (list :expanded (loop for form in forms collect (expansion-entry form mode)))))
      (storage-condition (problem)
        (restore-guard-page)
        (list :failed (class-name-text (shown-class problem)) (message-text problem)))
      (error (problem) (list :failed (class-name-text (shown-class problem)) (message-text problem))))))

(defun macroexpand-code (code mode package-text)
  "The expansions of the forms of CODE, read in the package that PACKAGE-TEXT names, by default the session's: MODE is :ONCE, :FULL or :ALL.
The code is not evaluated, but its macros run. A name that the package does not have is not interned.
=> (:expanded ((TEXT DIFFERS (OPERATOR KIND (SIMILAR ...))) ...)) | (:unreadable MESSAGE) | (:failed TYPE MESSAGE)
 | (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)"
  (with-code-session (package-text)
    (expansions code mode)))
