;;;; The sources of frames: a place in a file, or the text of a form. All functions here run in the stopped thread.

(in-package #:swank-client/stops)

(defconstant +form-text-limit+ 2000 "Characters shown of the source of a frame that is in no file.")

(defun text-before (file position)
  "=> the text of FILE before POSITION, as Swank counts it, and whether its characters are bytes"
  (let ((format (swank/backend:guess-external-format file)))
    (with-open-file (stream file :external-format (or format :latin-1))
      (let* ((text (make-string (min (1- position) (file-length stream))))
             (count (read-sequence text stream))
             ;; Swank counts the white space before a form as part of it
             (space (loop while (member (peek-char nil stream nil) '(#\Space #\Tab #\Newline #\Return))
                          collect (read-char stream))))
        (values (concatenate 'string (subseq text 0 count) space) (null format))))))

(defun continuation-byte-p (char)
  "True if CHAR, a byte of UTF-8 read as Latin-1, is not the first byte of a character."
  (<= #x80 (char-code char) #xBF))

(defun line-and-column (file position)
  "The line and column of POSITION in FILE, both from 1, the column in characters."
  (multiple-value-bind (text bytes-p) (text-before file position)
    (let* ((start (1+ (or (position #\Newline text :from-end t) -1)))
           (line (subseq text start)))
      (values (1+ (count #\Newline text :end start))
              (1+ (- (length line) (if bytes-p (count-if #'continuation-byte-p line) 0)))))))

(defun shortened (text limit)
  "TEXT, cut after LIMIT characters."
  (if (> (length text) limit) (concatenate 'string (subseq text 0 limit) "...") text))

(defun place-in-file (file position snippet)
  "(:file FILE LINE COLUMN) for POSITION in FILE, or (:form TEXT) of SNIPPET if FILE cannot be read."
  (handler-case
      (multiple-value-bind (line column) (line-and-column file position)
        (list :file file line column))
    ;; the file was deleted or is shorter now
    (error () (if snippet (form-source snippet) (list :file file nil nil)))))

(defun first-form-text (text)
  "The first form in TEXT, as text, or TEXT if it cannot be read."
  (handler-case (with-standard-io-syntax
                  (let ((*read-suppress* t))
                    (string-trim '(#\Space #\Newline) (subseq text 0 (nth-value 1 (read-from-string text))))))
    (error () text)))

(defun form-source (text)
  "(:form TEXT) for the first form in TEXT."
  (list :form (shortened (first-form-text text) +form-text-limit+)))

(defun described-location (location)
  "(:file FILE LINE COLUMN), (:form TEXT) or NIL."
  (when (eq (first location) :location)
    (destructuring-bind (buffer position &optional hints) (rest location)
      (let ((snippet (getf hints :snippet)))
        (case (first buffer)
          (:file (place-in-file (second buffer) (if (eq (first position) :position) (second position) 1) snippet))
          (:source-form (form-source (or snippet (second buffer))))
          (t (and snippet (form-source snippet))))))))

(defun called-location (name)
  "Swank's location of the function or method NAME, which a breakpoint stopped."
  (if (method-name-p name)
      (swank/backend:find-source-location (named-method name))
      (second (first (swank/backend:find-definitions name)))))

(defun frame-source (index kind)
  "The source of frame INDEX, of KIND, as DESCRIBED-LOCATION returns it."
  (let* ((frame (nth-frame index))
         ;; code can hold objects with printing methods of the user
         (source (in-time nil
                   (ignore-errors
                    (cond ((breakpoint-wrapper-p (frame-name frame))
                           (described-location (called-location (first *breakpoint-call*))))
                          ((or (mistaken-frame-p frame) (special-file-p (or (frame-file frame) ""))) nil)
                          (t (described-location (swank/backend:frame-source-location index))))))))
    ;; the evaluator's source text would hide the evaluated code
    (unless (and (eq kind :toplevel) (eq (first source) :form)) source)))

;;; The lines of the frames in a report

(defconstant +places-limit+ 20 "Frames of a report whose lines are looked for.")

(defconstant +places-seconds+ 1/4 "Seconds that looking for the lines of one report may take. Finding one in a long file takes 0.1 s.")

(defun code-key (frame)
  "A value that is EQUAL for frames at one place in the source; NIL for one whose function is in no file of the program."
  (let ((location (sb-di:frame-code-location frame))
        (name (frame-name frame)))
    (cond ((breakpoint-wrapper-p name) (list (called-name frame)))
          ((or (null (frame-file frame)) (sbcl-frame-p frame)) nil)
          ;; the stack of a stop inside another one has frames of Swank, whose files are long
          ((and (not (loaded-form-name-p name))
                (or (system-name-p name) (and (consp name) (system-name-p (second name)))))
           nil)
          (t (list (frame-file frame)
                   (sb-di:code-location-toplevel-form-offset location)
                   (sb-di:code-location-form-number location))))))

(defun readtable-of-known-values (note-unknown)
  "The current readtable, except that #. runs no code of the program. It calls NOTE-UNKNOWN if it does not know the value of the form."
  (let ((readtable (copy-readtable)))
    (flet ((read-known-value (stream char parameter)
             (declare (ignore char parameter))
             (let ((form (read stream t nil t)))
               (cond (*read-suppress* nil)
                     ((and (symbolp form) (boundp form)) (symbol-value form))
                     ((constantp form) (eval form))
                     (t (funcall note-unknown) nil)))))
      (set-dispatch-macro-character #\# #\. #'read-known-value readtable))
    readtable))

(defun place-of-frame (index)
  "(SHOWN-FILE LINE FILE) of frame INDEX, or NIL if the line is not known. SHOWN-FILE is relative to the image's directory."
  (let ((known t))
    (destructuring-bind (&optional kind file line column)
        ;; the source of the running code is read again, and the numbers of its forms depend on the values of #.
        (let ((*readtable* (readtable-of-known-values (lambda () (setf known nil))))
              (*read-eval* nil))
          (frame-source index :user))
      (declare (ignore column))
      (when (and known (eq kind :file) line) (list (short-file-name file) line (absolute-file-name file))))))

(defun with-places (entries frames)
  "ENTRIES, ((INDEX TEXT KIND) ...), with the result of PLACE-OF-FRAME at the end of those among the first of kind :USER whose lines are known.
FRAMES are all frames."
  (let ((known (make-hash-table :test 'equal))
        (end (+ (get-internal-real-time) (* +places-seconds+ internal-time-units-per-second)))
        (left +places-limit+))
    (flet ((place (index)
             (let ((key (ignore-errors (code-key (nth index frames)))))
               (multiple-value-bind (place foundp) (gethash key known)
                 (cond ((null key) nil)
                       (foundp place)
                       ((> (get-internal-real-time) end) nil)
                       (t (setf (gethash key known) (ignore-errors (place-of-frame index)))))))))
      (loop for entry in entries
            for (index nil kind) = entry
            collect (if (and (eq kind :user) (<= 0 (decf left)))
                        (append entry (place index))
                        entry)))))
