;;;; What clients do with inspected objects. All replies are bounded.

(in-package #:swank-client/inspect)

(defconstant +text-limit+ 10000 "Characters shown of a text between the parts of an object.")

(defconstant +part-limit+ 500 "Characters shown of a part.")

(defconstant +entries-limit+ 500 "Entries of a page in one reply.")

(defconstant +line-limit+ 20 "Further entries that a reply may have so that it ends with a line.")

(defconstant +description-limit+ 200000 "Characters of a description.")

(defun inspect-value (source package-text)
  "Inspect the value of SOURCE, one expression, read in the package that PACKAGE-TEXT names, or in the session's.
=> as OPEN-INSPECTION, or (:no-such-package)"
  (reset-guard-pages)
  (with-client-code ((current-session))
    (let ((package (if package-text (find-designated-package package-text) *package*)))
      (if package
          (let ((*package* package)) (open-inspection (value-of-source source)))
          (list :no-such-package)))))

;;; Parts

(defun part-number (inspection numbers position part)
  "The number of PART, the one of the entry at POSITION. NUMBERS are those of the page."
  (sb-thread:with-mutex ((inspection-lock inspection))
    (or (gethash position numbers)
        (setf (gethash position numbers)
              (vector-push-extend part (inspection-parts inspection))))))

(defun plain-text (object limit)
  "OBJECT as people read it, without quotes."
  (if (stringp object)
      (truncated limit (lambda (stream) (write-string object stream)))
      (in-time (unprinted-text object)
        (with-bounded-printing () (truncated limit (lambda (stream) (princ object stream)))))))

(defun entry-pieces (entry number)
  "The pieces of the text that ENTRY of a page stands for: a text, (:value TEXT NUMBER), (:action TEXT NUMBER) or (:label TEXT).
NUMBER is a function that returns the number of a part."
  (labels ((newline () (string #\Newline))
           (text (object) (plain-text object +text-limit+))
           (value (object &optional shown)
             (list :value
                   (if shown (text shown) (line-text-in-time object +part-limit+))
                   (funcall number (list :value object)))))
    (if (stringp entry)
        (list (text entry))
        (destructuring-bind (kind &rest rest) entry
          (case kind
            (:newline (list (newline)))
            (:value (list (apply #'value rest)))
            (:label (list (list :label (format nil "~{~a~}" (mapcar #'text rest)))))
            (:line (list (text (first rest)) ": " (value (second rest)) (newline)))
            (:action (destructuring-bind (label function &key (refreshp t)) rest
                       (list (list :action (text label) (funcall number (list :action function refreshp))))))
            (t (list (text entry))))))))

(defun entries (content start end)
  "The entries of CONTENT from START to END, or fewer."
  (if (and (listp content) (> start (length content)))
      '()
      (content-range content start end)))

(defun line-end-p (entry)
  "True if the text of ENTRY ends a line."
  (if (stringp entry)
      (and (plusp (length entry)) (char= (char entry (1- (length entry))) #\Newline))
      (member (first entry) '(:newline :line))))

(defun page (entries count)
  "The first COUNT of ENTRIES, and those after them up to the end of the line, if it is near."
  (let ((end (and (plusp count) (position-if #'line-end-p entries :start (min (1- count) (length entries))))))
    (subseq entries 0 (if end (1+ end) (min count (length entries))))))

(defun inspected-parts (id start end)
  "The pieces of the entries from START to END, or to the end of that line, on the page of inspection ID.
=> (:parts (PIECE ...) COUNT-OF-ENTRIES MORE-P)"
  (with-inspection (inspection id)
    (multiple-value-bind (content numbers)
        (sb-thread:with-mutex ((inspection-lock inspection))
          (values (inspection-content inspection) (inspection-numbers inspection)))
      (let* ((count (min (- end start) +entries-limit+))
             (entries (entries content start (+ start count +line-limit+ 1)))
             (page (page entries count)))
        (list :parts
              (with-printing-time
                (loop for entry in page
                      for position from start
                      append (entry-pieces entry (lambda (part) (part-number inspection numbers position part)))))
              (length page)
              (> (length entries) (length page)))))))

(defun numbered-part (inspection number kind)
  "The part of KIND that has NUMBER, without its kind, or NIL."
  (let ((part (sb-thread:with-mutex ((inspection-lock inspection))
                (and (< -1 number (length (inspection-parts inspection)))
                     (aref (inspection-parts inspection) number)))))
    (and (eq (first part) kind) part)))

(defun inspect-part (id number)
  "Inspect the value NUMBER of inspection ID. => as OPEN-INSPECTION, or (:no-part)"
  (with-inspection (inspection id)
    (let ((part (numbered-part inspection number :value)))
      (if part (open-inspection (second part)) (list :no-part)))))

(defun call-action (id number)
  "Do the action NUMBER of inspection ID. => whether the page was read again, or (:no-part)"
  (with-inspection (inspection id)
    (let ((part (numbered-part inspection number :action)))
      (if (null part)
          (list :no-part)
          (destructuring-bind (function refreshes) (rest part)
            (with-inspector-of (inspection) (funcall function))
            (when refreshes (read-content inspection))
            (and refreshes t))))))

(defun refresh-inspector (id)
  "Read the page of inspection ID again. => T"
  (with-inspection (inspection id)
    (read-content inspection)
    t))

(defun describe-inspected (id)
  "What DESCRIBE prints for the object of inspection ID."
  (with-inspection (inspection id)
    (with-bounded-printing ()
      (truncated +description-limit+ (lambda (stream) (describe (inspection-object inspection) stream))))))

(defun close-inspector (id)
  "Release the object of inspection ID. => NIL"
  (remhash id (inspections-of (current-session)))
  nil)
