;;;; Objects in a report of a stop. A report shows a large object once, and then refers to that place. Of a large array it shows a part.

(in-package #:swank-client/stops)

(defconstant +large-text+ 60 "An object whose text has more characters is large.")

(defconstant +visible-text+ 100 "Characters of a large object's text that must be visible at the place that others refer to.")

(defvar *shown-objects* nil "In a report, a table of the large objects that it has shown, with the place of each as text.")

(defvar *report-place* nil "The place in the report that is being printed, as text, or NIL where objects are neither remembered nor referred to.")

(defun reference-to (object)
  "The text that refers to OBJECT if this report has shown it, else NIL."
  (let ((place (and *shown-objects* *report-place* (gethash object *shown-objects*))))
    (and place (format nil "#<see ~a>" place))))

(defun remember-shown (object text room)
  "Remember that *REPORT-PLACE* shows OBJECT as TEXT, of which ROOM characters are visible, if it is large."
  (when (and *shown-objects* *report-place*
             (> (length text) +large-text+)
             (>= room (min (length text) +visible-text+))
             (not (typep object '(or number character symbol function))))
    (setf (gethash object *shown-objects*) *report-place*)))

(defun indexed-array (condition)
  "The array, index and axis that CONDITION reports as wrong, or NIL."
  (ignore-errors
   (flet ((slot (name)
            (let ((slot (find name (sb-mop:class-slots (class-of condition))
                              :key #'sb-mop:slot-definition-name :test #'string=)))
              (and slot (slot-value condition (sb-mop:slot-definition-name slot))))))
     (when (and (typep condition 'type-error) (arrayp (slot "ARRAY")))
       (list (slot "ARRAY") (type-error-datum condition) (slot "AXIS"))))))

(defun part-text (array)
  "The text for ARRAY, with its elements around the index that this thread's condition mentions, if it does."
  (destructuring-bind (&optional indexed index axis) (indexed-array *swank-debugger-condition*)
    (let ((indexedp (and (eq array indexed) (integerp index))))
      (array-text array (and indexedp index) (and indexedp (or axis 0))))))

(defconstant +elements-looked-at+ 6 "Elements of a list among which objects that the report has shown are looked for.")

(defun list-text (list limit printer)
  "The text for LIST with references to those of its elements that the report has shown, or NIL if it has shown none of the first ones."
  (when (and *report-place* (ignore-errors (list-length list)))
    (let* ((elements (subseq list 0 (min (length list) +elements-looked-at+)))
           (references (mapcar #'reference-to elements)))
      (when (some #'identity references)
        (format nil "(~{~a~^ ~}~:[~; ...~])"
                (loop for element in elements
                      for reference in references
                      collect (or reference (funcall printer element limit)))
                (nthcdr +elements-looked-at+ list))))))

(defun partly-shown-p (array text)
  "True if a part of ARRAY says more than TEXT, the beginning of its elements."
  (or (> (length text) +large-text+) (> (array-total-size array) +elements-looked-at+)))

(defun object-text (object limit printer)
  "The text for OBJECT in a report, of at most LIMIT characters, as PRINTER, a function of OBJECT and LIMIT, returns it; or a part, or a reference."
  (or (reference-to object)
      (let* ((plain (or (and (consp object) (list-text object limit printer))
                        (funcall printer object limit)))
             (text (if (and (typep object '(and array (not string))) (partly-shown-p object plain))
                       (part-text object)
                       plain)))
        (remember-shown object text limit)
        text)))

(defun beginning-text (object limit)
  "At most LIMIT characters of what PRIN1 prints for OBJECT. SBCL would look at every character of a long string."
  (if (and (stringp object) (> (length object) limit))
      (bounded-text (subseq object 0 limit) limit)
      (bounded-text object limit)))

(defun remember-message (condition message)
  "Remember the large objects that MESSAGE, the report of CONDITION, shows."
  (let ((*report-place* "the message"))
    (dolist (object (reported-objects condition))
      (let ((text (in-time "" (ignore-errors (beginning-text object +visible-text+)))))
        ;; without the mark at the end of a cut text
        (when (and (> (length text) +large-text+) (search (subseq text 0 +large-text+) message))
          (remember-shown object text +visible-text+))))))
