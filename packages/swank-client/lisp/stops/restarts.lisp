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

;; RESTART-CASE takes the arguments of all clauses but the simplest as (&REST SB-KERNEL::TEMP).
(defun arguments-known-p (restart)
  "True if the lambda list of RESTART is that of the program."
  (let ((lambda-list (restart-lambda-list restart)))
    (not (and (eq '&rest (first lambda-list)) (implementation-symbol-p (second lambda-list))))))

(defun argument-range (restart)
  "The fewest and the most arguments that RESTART takes, NIL for no limit.
A restart that would prompt for arguments needs at least one, because it cannot prompt."
  (let ((lambda-list (restart-lambda-list restart)))
    (multiple-value-bind (fewest most) (lambda-list-range lambda-list)
      (values (if (and lambda-list (restart-interactive-function restart)) (max fewest 1) fewest) most))))

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
  "(:wrong-count FEWEST MOST) if RESTART does not take COUNT arguments, or NIL. A wrong call would replace the stop by another one.
For some restarts Lisp does not know the number of arguments."
  (multiple-value-bind (fewest most) (argument-range restart)
    (unless (<= fewest count (or most count))
      (list :wrong-count fewest most))))
