;;;; The restarts that a stop offers: their reports, and the number of their arguments.

(in-package #:swank-client/stops)

(defconstant +restart-text-limit+ 300 "Characters shown of a restart's report.")

(defun whole-report (restart)
  "The report of RESTART with the print settings in effect, or NIL if printing it fails or takes too long."
  (in-time nil
    (handler-case (on-one-line (truncated +restart-text-limit+ (lambda (stream) (princ restart stream))))
      (serious-condition () nil))))

(defun restart-report (restart)
  "The report of RESTART with long lists cut, or NIL if printing it fails or takes too long."
  (with-bounded-printing (:length 8 :level 3)
    ;; a report with an error in place of a part would be misleading
    (let ((sb-ext:*suppress-print-errors* nil)) (whole-report restart))))

;;; Arguments

(defun restart-lambda-list (restart)
  "The lambda list of RESTART, or one that takes anything if the restart was compiled without debugging information."
  (let ((known (handler-case (sb-kernel:%fun-lambda-list (sb-kernel:%fun-fun (restart-function restart)))
                 (error () :unknown))))
    (if (listp known) known '(&rest #:arguments))))

;;; RESTART-CASE takes the arguments of all clauses but the simplest as (&REST SB-KERNEL::TEMP), and passes them to a function with the clause's
;;; lambda list after it has left the stop. Code that was compiled for stepping keeps these functions, in the order of those that collect the
;;; arguments, so that a wrong number is found before.

(defun collects-arguments-p (lambda-list)
  "True if LAMBDA-LIST is that of a function by which RESTART-CASE takes any arguments."
  (and (eq '&rest (first lambda-list)) (implementation-symbol-p (second lambda-list))))

(defun compiled-for-stepping-p (code)
  "True if CODE is a definition that an evaluation compiled for stepping, as its source plist says."
  (ignore-errors (getf (debug-source-plist (debug-info-source (sb-kernel:%code-debug-info code))) :for-stepping)))

(defun evaluated-form-p (code place)
  "True if CODE is a form that this thread's evaluation has compiled for stepping. PLACE is what the names of its functions say of where they are."
  (and *for-stepping*
       ;; the name of a block that has none in the program
       (symbolp (second place))
       (null (symbol-package (second place)))
       (null (ignore-errors (debug-source-namestring (debug-info-source (sb-kernel:%code-debug-info code)))))))

(defun functions-of-restarts ()
  "The functions of this stop's restarts: those that leave the stop, print and ask."
  (loop for restart in *sldb-restarts*
        for functions = (list (restart-function restart) (restart-interactive-function restart) (restart-report-function restart))
        nconc (loop for function in functions when (functionp function) collect (sb-kernel:%fun-fun function))))

(defun functions-at (code place)
  "The functions in CODE that are LAMBDA expressions at PLACE."
  (loop for index below (sb-kernel:code-n-entries code)
        for function = (sb-kernel:%code-entry-point code index)
        for name = (sb-kernel:%fun-name function)
        when (and (consp name) (eq 'lambda (first name)) (equal place (cddr name))) collect function))

(defun possible-ranges (restart)
  "The ranges of arguments of the clauses that RESTART, whose function takes any arguments, can belong to; NIL if not known."
  (flet ((lambda-list (function) (second (sb-kernel:%fun-name function))))
    (let* ((function (sb-kernel:%fun-fun (restart-function restart)))
           (code (sb-kernel:fun-code-header function))
           (place (cddr (sb-kernel:%fun-name function)))
           (others (functions-of-restarts))
           (all (functions-at code place))
           (collecting (remove-if-not #'collects-arguments-p all :key #'lambda-list))
           (clauses (remove-if (lambda (function) (or (member function collecting) (member function others))) all)))
      (when (or (compiled-for-stepping-p code) (evaluated-form-p code place))
        (mapcar (lambda (clause) (multiple-value-list (lambda-list-range (lambda-list clause))))
                (if (= (length clauses) (length collecting))
                    (list (nth (position function collecting) clauses))
                    ;; the program has LAMBDA expressions of its own here
                    clauses))))))

(defun ranges (restart)
  "The ranges of arguments that RESTART may take: one if it is known, several if it is one of them, NIL if nothing is known."
  (let ((lambda-list (restart-lambda-list restart)))
    (if (collects-arguments-p lambda-list)
        (ignore-errors (remove-duplicates (possible-ranges restart) :test #'equal))
        (list (multiple-value-list (lambda-list-range lambda-list))))))

(defun argument-range (restart)
  "The fewest and the most arguments that RESTART takes, NIL for no limit.
A restart that would prompt for arguments needs at least one, because it cannot prompt."
  (let* ((ranges (or (ranges restart) '((0 nil))))
         (fewest (reduce #'min ranges :key #'first))
         (most (and (every #'second ranges) (reduce #'max ranges :key #'second))))
    (values (if (and (restart-interactive-function restart) (not (eql 0 most))) (max fewest 1) fewest)
            most)))

(defun arguments-known-p (restart)
  "True if it is known how many arguments RESTART takes."
  (null (rest (or (ranges restart) '(nil nil)))))

;;; Texts

(defun restart-text (restart)
  "(NAME TEXT) of RESTART, with the fewest and the most arguments that it takes, NIL for no limit, if they are known."
  (list* (let ((name (restart-name restart))) (if name (string name) ""))
         (or (restart-report restart) "<<error printing restart>>")
         (and (arguments-known-p restart) (multiple-value-list (argument-range restart)))))

(defun restart-texts (restarts)
  "((NAME TEXT [FEWEST MOST]) ...) for RESTARTS. The outermost are printed first, so that the time limit never cuts the evaluation's restarts."
  (with-printing-time (reverse (mapcar #'restart-text (reverse restarts)))))

(defun shorten-reports (restarts)
  "Give long or failing RESTARTS a short report, because Swank prints restarts without a limit."
  (with-printing-time
    (dolist (restart (reverse restarts))
      (let ((whole (whole-report restart)))
        (unless (and whole (<= (length whole) +restart-text-limit+))
          (let ((text (or (restart-report restart) "<<error printing restart>>")))
            (set-report-function restart (lambda (stream) (write-string text stream)))))))))

(defun stop-message (condition)
  "The message of CONDITION for Swank, which calls this before it prints the restarts."
  (when *stop-hook* (ignore-errors (funcall *stop-hook*)))
  (shorten-reports *sldb-restarts*)
  (message-text condition))

(defun offered-restarts (restarts)
  "RESTARTS without those of Swank, which are outside the evaluation."
  (let ((last (and *outermost-restart* (position *outermost-restart* restarts))))
    (subseq restarts 0 (if last (1+ last) nil))))

(defun wrong-count (restart count)
  "(:wrong-count FEWEST MOST ASKS-P) if RESTART does not take COUNT arguments, or NIL. ASKS-P is true if it can read them instead. A wrong call
would replace the stop by another one. For some restarts Lisp does not know the number of arguments."
  (multiple-value-bind (fewest most) (argument-range restart)
    (unless (and (<= fewest count (or most count))
                 (loop for (fewest most) in (or (ranges restart) '((0 nil))) thereis (<= fewest count (or most count))))
      (list :wrong-count fewest most (and (restart-interactive-function restart) t)))))

;;; ASSERT: its restart takes no arguments, and the code asks for the values of the places after it has left the stop

(defun assert-restart-p (restart)
  "True if RESTART is the CONTINUE of ASSERT."
  (let ((name (ignore-errors (sb-kernel:%fun-name (sb-kernel:%fun-fun (restart-function restart))))))
    (and (consp name) *assert-function* (member *assert-function* name) t)))

(defun asserted-places (restart)
  "The places whose values the code asks for after RESTART, of ASSERT. The innermost such restart belongs to the innermost call, and so on."
  (when (assert-restart-p restart)
    (let ((depth (count-if #'assert-restart-p (ldiff *sldb-restarts* (member restart *sldb-restarts*))))
          (calls (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
                       while frame
                       when (eq *assert-function* (frame-name frame))
                         collect (ignore-errors (nth-value 1 (frame-call frame))))))
      ;; the form, the number of arguments shown, their forms and values, the places
      (destructuring-bind (&optional form (shown 0) &rest others) (nth depth calls)
        (declare (ignore form))
        (let ((places (nth (* 2 shown) others)))
          (and (listp places) places))))))
