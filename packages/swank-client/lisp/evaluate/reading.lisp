;;;; Reads the forms of an evaluation, and reports those that cannot be read.

(in-package #:swank-client/evaluate)

;;; Names that were probably meant

(defun homes-text (symbols package)
  "The names of the packages of SYMBOLS, that of PACKAGE first."
  (let ((homes (stable-sort (sort (mapcar #'home-name symbols) #'string<)
                            (lambda (one other) (and (string= one (package-name package)) (string/= one other))))))
    (format nil "~{~a~^, ~}" (subseq homes 0 (min +suggestions+ (length homes))))))

(defun symbol-hint (name package)
  "Where symbols named NAME are, which is not an external symbol of PACKAGE, or NIL."
  (let ((symbols (symbols-worth-naming name)))
    (if symbols
        (format nil "~a is in ~a~:[~;; internal symbols need ::~]" name (homes-text symbols package)
                (notevery (lambda (symbol) (eq :external (nth-value 1 (accessible-symbol name (symbol-package symbol))))) symbols))
        (let ((similar (similar-symbols name package)))
          (and similar
               (format nil "Similar names in ~a: ~{~a~^, ~}" (package-name package)
                       (subseq similar 0 (min +suggestions+ (length similar)))))))))

(defun near-names (condition)
  "A hint for CONDITION, a reader's error about a package or a symbol, or NIL."
  (when (typep condition '(and reader-error package-error simple-condition))
    (let ((designator (package-error-package condition))
          (name (first (simple-condition-format-arguments condition))))
      (if (packagep designator)
          (and (stringp name) (symbol-hint name designator))
          (let ((similar (similar-packages (string designator))))
            (and similar (format nil "Packages with similar names: ~{~a~^, ~}" similar)))))))

;;; Reading

(defun reader-frame-p (frame)
  "True if FRAME, an entry of a snapshot, is the reader's own, and not that of code in #. or of a reader macro."
  (destructuring-bind (index text kind) frame
    (declare (ignore index))
    (or (eq kind :system)
        (eql 0 (search "(READ " text))
        (eql 0 (search "(SB-IMPL::" text)))))

(defun leave-unread (evaluation condition &rest facts)
  "End EVALUATION with a snapshot of CONDITION, and FACTS. The snapshot has no stack if that is only the reader's."
  (let ((snapshot (capture condition)))
    (when (every #'reader-frame-p (getf snapshot :frames))
      (setf (getf snapshot :frames) '()
            (getf snapshot :total) 0))
    (leave evaluation (failure evaluation (append facts snapshot)))))

(defun leave-if-odd (evaluation code)
  "End EVALUATION before any form of CODE runs if CODE has a character that would silently become part of a name."
  (let ((problem (ignore-errors (odd-character-in code))))
    (when problem
      (setf (evaluation-form evaluation) 1)
      ;; the stack is the runtime's
      (leave evaluation (failure evaluation (list* :frames '() :total 0 (capture problem)))))))

(defun read-form (evaluation stream eof)
  "The next form of STREAM, or EOF. A read error ends the evaluation, because a stopped thread must not hold the reader's locks."
  (handler-bind ((serious-condition (lambda (condition)
                                      (leave-unread evaluation condition
                                                    :offset (ignore-errors (file-position stream))
                                                    :hint (ignore-errors (near-names condition))))))
    (read-user stream eof)))

(defun map-forms (function code)
  "Call FUNCTION with each form of CODE, its start and its end, before the next form is read. CODE is part of a form that this thread evaluates.
If it cannot be read, the evaluation ends."
  (leave-if-odd *evaluation* code)
  (loop with source = (make-string-input-stream code)
        with eof = (list nil)
        for start = (file-position source)
        for form = (handler-bind ((serious-condition
                                    (lambda (condition)
                                      (leave-unread *evaluation* condition :hint (ignore-errors (near-names condition))))))
                     (let ((*source* source)) (read-user source eof)))
        until (eq form eof)
        do (funcall function form start (file-position source))))

(defun read-whole (code)
  "The forms of CODE, which MAP-FORMS explains."
  (let ((forms '()))
    (map-forms (lambda (form start end) (declare (ignore start end)) (push form forms)) code)
    (nreverse forms)))

(defun check-source (evaluation code)
  "Read CODE, which a scan found unbalanced, so that the reader's error ends the evaluation before any form runs.
Interns and executes nothing. Returns if the current readtable finds no error."
  (let ((*read-suppress* t)
        (*source* (make-string-input-stream code))
        (eof (list nil)))
    (setf (evaluation-form evaluation) 1)
    (handler-bind ((serious-condition (lambda (condition) (leave-unread evaluation condition))))
      (loop until (eq eof (read-user *source* eof))))
    (setf (evaluation-form evaluation) 0)))
