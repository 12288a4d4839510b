;;;; What the compiler says about code, with the place of the form that each note is about.

(in-package #:swank-client/code)

(defconstant +notes-limit+ 200 "Most notes that a reply has.")

(defstruct (note (:conc-name noted-))
  "What the compiler said about a form. PATH is the number of its top-level form in FILE and the indices below it; POSITION that of a form
that cannot be read."
  severity text file definition
  (path '())
  (position nil)
  ;; (KIND NAME) of the name that is said to be undefined
  (undefined nil))

(defun note-severity (condition)
  "How bad CONDITION, which the compiler has signalled, is."
  (typecase condition
    (sb-ext:compiler-note :note)
    (reader-error :read-error)
    (style-warning :style-warning)
    (warning :warning)
    (t :error)))

(defun own-condition (condition)
  "The condition that the compiler's CONDITION is about."
  (if (typep condition 'sb-int:encapsulated-condition) (sb-int:encapsulated-condition condition) condition))

(defun note-of (condition)
  "The note about CONDITION, which the compiler signals now."
  (let* ((definition (compiled-definition))
         (severity (note-severity condition))
         ;; without line breaks, the words of the compiler's errors run together
         (text (report-text condition 2000 (eq severity :error)))
         (undefined (undefined-thing condition text))
         (file (or (compiled-from-file) *compile-file-truename*)))
    (make-note :severity severity
               :text (with-odd-character text undefined file)
               :undefined undefined
               :file file
               :definition (and definition (name-text definition))
               :path (nth-value 1 (compiled-form))
               :position (and (typep condition 'reader-error) (or-nil (character-read condition))))))

(defconstant +repetitions+ 10 "Conditions that may come between a condition and its repetition.")

(defun call-noting (receive function)
  "Call FUNCTION, which compiles, and RECEIVE with each condition that the compiler signals. => the values of FUNCTION"
  (let ((seen '()))
    (flet ((note (condition)
             (let ((own (own-condition condition)))
               (unless (or (member own seen) (typep own 'redefinition-warning))
                 (setf seen (cons own (subseq seen 0 (min (length seen) +repetitions+))))
                 (funcall receive own)))))
      (handler-bind ((sb-c:fatal-compiler-error #'note)
                     (sb-c:compiler-error #'note)
                     (sb-ext:compiler-note #'note)
                     (warning #'note))
        (funcall function)))))

(defun call-collecting-notes (function)
  "Call FUNCTION, which compiles. => the notes, in order, the number of those not kept, and a list of the values of FUNCTION"
  (let* ((notes '())
         (count 0)
         (values (multiple-value-list
                  (call-noting (lambda (condition)
                                 (when (<= (incf count) +notes-limit+) (push (note-of condition) notes)))
                               function))))
    (values (nreverse notes) (max 0 (- count +notes-limit+)) values)))

;;; Places

(defun subform-span (text form path)
  "(START END) of the form in FORM, a top-level form of TEXT, to which the indices of PATH lead, or of the last list on the way."
  (loop with span = (span form)
        for index in path
        for inner = (and (char= #\( (char text (first span)))
                         (nth index (element-spans text (first span) (second span) (1+ index))))
        while inner do (setf span inner)
        finally (return span)))

(defun note-span (note file)
  "(START END) of the form that NOTE is about in FILE, or NIL."
  (let* ((path (noted-path note))
         (form (and path (nth (first path) (file-forms file))))
         (position (noted-position note)))
    (cond (form (subform-span (file-text file) form (rest path)))
          ((and position (<= position (length (file-text file))))
           (let ((start (or (form-after (file-text file) position) position)))
             (list start (length (file-text file))))))))

(defun note-facts (note unnamed)
  "The plist that describes NOTE. The file UNNAMED, a truename, holds the client's code: it is not named."
  (let* ((file (and (noted-file note) (file-now (noted-file note))))
         (span (and file (note-span note file))))
    (list* :severity (noted-severity note) :message (noted-text note) :definition (noted-definition note)
           :file (and file (not (equal unnamed (file-truename file))) (shown-file (file-truename file)))
           (when span
             (multiple-value-bind (line column) (position-of (file-text file) (first span))
               (list :line line :column column
                     :form (definition-line (subseq (file-text file) 0 (second span)) (first span))))))))
