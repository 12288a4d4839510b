;;;; The frames of a stopped thread, with their variables and where their code came from. Everything here runs in that thread.

(in-package #:@module@)

(defconstant +local-text-limit+ 500)
(defconstant +locals-limit+ 100)
(defconstant +form-text-limit+ 2000)
(defconstant +output-limit+ 20000)

;;; Source

(defun text-before (file position)
  "The text of FILE before POSITION, as Swank counts it, and whether its characters are really bytes."
  (let ((format (swank/backend:guess-external-format file)))
    (with-open-file (stream file :external-format (or format :latin-1))
      (let* ((text (make-string (min (1- position) (file-length stream))))
             (count (read-sequence text stream))
             ;; Swank takes the white space before a form for a part of it
             (space (loop while (member (peek-char nil stream nil) '(#\Space #\Tab #\Newline #\Return))
                          collect (read-char stream))))
        (values (concatenate 'string (subseq text 0 count) space) (null format))))))

(defun continuation-byte-p (char)
  (<= #x80 (char-code char) #xBF))

(defun line-and-column (file position)
  "Both counted from 1, the column in characters."
  (multiple-value-bind (text bytes-p) (text-before file position)
    (let* ((start (1+ (or (position #\Newline text :from-end t) -1)))
           (line (subseq text start)))
      (values (1+ (count #\Newline text :end start))
              (1+ (- (length line) (if bytes-p (count-if #'continuation-byte-p line) 0)))))))

(defun shortened (text limit)
  (if (> (length text) limit) (concatenate 'string (subseq text 0 limit) "...") text))

(defun place-in-file (file position snippet)
  (handler-case
      (multiple-value-bind (line column) (line-and-column file position)
        (list :file file line column))
    ;; the file is gone, or has changed and become shorter
    (error () (if snippet (form-source snippet) (list :file file nil nil)))))

(defun first-form-text (text)
  "TEXT to the end of the form that it begins with, or all of it."
  (handler-case (with-standard-io-syntax
                  (let ((*read-suppress* t))
                    (string-trim '(#\Space #\Newline) (subseq text 0 (nth-value 1 (read-from-string text))))))
    (error () text)))

(defun form-source (text)
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

(defun frame-source (index kind)
  (let* ((frame (swank/sbcl::nth-frame index))
         ;; code holds objects, with printers of their own, too
         (source (in-time nil
                   (ignore-errors
                    (if (breakpoint-wrapper-p (frame-name frame))
                        (described-location (second (first (swank/backend:find-definitions (first *breakpoint-call*)))))
                        (described-location (swank/backend:frame-source-location index)))))))
    ;; the text of what evaluates would drown what is evaluated
    (unless (and (eq kind :host) (eq (first source) :form)) source)))

;;; Variables

(defun local-entry (index variable)
  "(NAME VALUE NUMBER)"
  (destructuring-bind (&key name id value) variable
    (list (variable-text name)
          (line-text-in-time value +local-text-limit+)
          (object-number (list index name id) value))))

(defun local-entries (index)
  "=> the first +LOCALS-LIMIT+ variables of frame INDEX, and how many it has"
  (let ((variables (frame-variables index)))
    (values (loop for variable in variables
                  repeat +locals-limit+
                  collect (local-entry index variable))
            (length variables))))

;;; The call that a breakpoint stopped has no frame yet: its variables are the arguments, named by the lambda list

(defun parameter-name (parameter)
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (second name) name)))

(defun parameter-key (parameter)
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (first name) (intern (symbol-name name) "KEYWORD"))))

(defun named-arguments (lambda-list arguments)
  "((NAME . VALUE) ...) of the arguments given, as far as LAMBDA-LIST names them."
  (let ((place nil) (bindings '()) (rest arguments))
    (dolist (item lambda-list (nreverse bindings))
      (cond ((member item lambda-list-keywords) (setf place item))
            ((member place '(&rest &body)) (push (cons item rest) bindings))
            ((eq place '&key)
             (let ((found (member (parameter-key item) rest)))
               (when (and found (rest found)) (push (cons (parameter-name item) (second found)) bindings))))
            ((and rest (member place '(nil &optional)))
             (push (cons (parameter-name item) (pop rest)) bindings))))))

(defun argument-bindings (name arguments)
  (or (ignore-errors (named-arguments (swank/backend:arglist name) arguments))
      (loop for argument in arguments
            for index from 0
            collect (cons (intern (format nil "ARG-~d" index) "KEYWORD") argument))))

(defun eval-with-arguments (form)
  (let ((bindings (remove-if #'keywordp *breakpoint-variables* :key #'car)))
    (eval `(let ,(loop for (name . value) in bindings collect `(,name ',value))
             (declare (ignorable ,@(mapcar #'car bindings)))
             ,form))))

(defun eval-form-in-frame (form index)
  (if (breakpoint-wrapper-p (frame-name (swank/sbcl::nth-frame index)))
      (eval-with-arguments form)
      (swank/backend:eval-in-frame form index)))

;;; Frames

(defun function-text (name)
  "What the frame's function is called, with its package: MY-APP:COMPUTE."
  (flet ((text (package)
           (handler-case (with-bounded-printing (:length 10 :level 5)
                           (let ((*package* (find-package package))) (on-one-line (prin1-to-string name))))
             (serious-condition () "?"))))
    (typecase name
      (string (on-one-line name))
      (symbol (text "KEYWORD"))
      ;; names of methods hold objects
      (t (with-printing-time (in-time "?" (text "COMMON-LISP")))))))

(defun called-function-text (frame)
  (function-text (called-name frame)))

(defun frame-count ()
  (count-frames swank/sbcl::*sldb-stack-top* 1))

(defun frame-entry (frame index kind)
  (list* :index index
         :function (called-function-text frame)
         :call (frame-text frame swank::*swank-debugger-condition*)
         :kind kind
         :restartable (and (swank/backend:frame-restartable-p frame) t)
         :source (frame-source index kind)
         (multiple-value-bind (locals total) (local-entries index)
           (list :locals locals :total-locals total))))

(defun frames-between (start end)
  (loop for frame in (swank/backend:compute-backtrace start end)
        for index from start
        collect (cons index frame)))

(defun stack-kinds (end)
  "What the frames up to END are, as a report counts them."
  (frame-kinds (mapcar #'frame-name (swank/backend:compute-backtrace 0 end)) swank::*swank-debugger-condition*))

(defun frames (level start end)
  "=> (:stale) | (:frames (PLIST ...) TOTAL)"
  (if (/= level swank::*sldb-level*)
      '(:stale)
      (let* ((total (frame-count))
             (end (min end total))
             (kinds (stack-kinds end)))
        (list :frames
              (with-printing-time
                (loop for (index . frame) in (frames-between (min start end) end)
                      collect (frame-entry frame index (nth index kinds))))
              total))))

(defmacro with-frame ((level index) &body body)
  "BODY, or the reason why there is no such frame: a bad index would otherwise be an error one level deeper."
  `(cond ((/= ,level swank::*sldb-level*) '(:stale))
         ((not (< -1 ,index (frame-count))) (list :no-frame (frame-count)))
         (t ,@body)))

(defun frame-locals (level index)
  "=> (:stale) | (:no-frame TOTAL) | (:locals ((NAME VALUE NUMBER) ...) TOTAL (CATCH-TAG ...))"
  (with-frame (level index)
    (with-printing-time
      (multiple-value-bind (locals total) (local-entries index)
        (list :locals locals total
              (ignore-errors (mapcar (lambda (tag) (line-text-in-time tag 100)) (swank/backend:frame-catch-tags index))))))))

;;; Evaluation in a frame

(defclass kept-output (sb-gray:fundamental-character-output-stream)
  ((text :initform (make-string-output-stream) :reader kept-text)
   (room :initform +output-limit+ :accessor kept-room)
   (column :initform 0 :accessor kept-column)
   (left-out :initform 0 :accessor kept-left-out))
  (:documentation "Keeps the beginning of what is written to it, however much that is."))

(defmethod sb-gray:stream-write-char ((stream kept-output) char)
  (setf (kept-column stream) (if (char= char #\Newline) 0 (1+ (kept-column stream))))
  (cond ((plusp (kept-room stream))
         (decf (kept-room stream))
         (write-char char (kept-text stream)))
        (t (incf (kept-left-out stream))))
  char)

(defmethod sb-gray:stream-line-column ((stream kept-output)) (kept-column stream))

(defun kept-string (stream)
  (format nil "~a~@[~&[... ~d characters left out ...]~%~]" (get-output-stream-string (kept-text stream))
          (and (plusp (kept-left-out stream)) (kept-left-out stream))))

(defun read-source (source index)
  "All forms of SOURCE as one."
  (let ((*package* (frame-home index)))
    `(progn ,@(source-forms source))))

(defun variable-aliases (index)
  "((SYMBOL VARIABLE) ...) for the variables of frame INDEX that are of other packages than its function."
  (let ((names (remove-if-not #'symbolp (mapcar (lambda (variable) (getf variable :name)) (frame-variables index))))
        (home (frame-home index)))
    (loop for name in names
          for alias = (find-symbol (symbol-name name) home)
          when (and alias (not (member alias names)) (eq (sb-int:info :variable :kind alias) :unknown))
            collect (list alias name) into aliases
          finally (return (remove-duplicates aliases :key #'first)))))

(defun values-in-frame (source index)
  (let ((form (read-source source index)))
    (multiple-value-list
     (eval-form-in-frame `(symbol-macrolet ,(variable-aliases index) ,form) index))))

(defun eval-in-frame (level index attempt source &optional (limit *value-limit*))
  "=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:interrupted) | (:values PLIST OUTPUT)"
  (with-frame (level index)
    (let ((output (make-instance 'kept-output)))
      (call-attempt attempt
                    (lambda ()
                      (let* ((*standard-output* output) (*error-output* output) (*trace-output* output)
                             (values (printed-values (values-in-frame source index) limit)))
                        (list :values values (kept-string output))))))))

;;; Leaving through a frame

(defun host-frame-p (index)
  "True of the frames that the evaluation itself stands on."
  (eq :host (nth index (stack-kinds (1+ index)))))

(defun restart-frame (level index)
  "Call the function of frame INDEX again. => (:stale) | (:no-frame TOTAL) | (:not-restartable), or does not return"
  (with-frame (level index)
    (unless (host-frame-p index) (swank/backend:restart-frame index))
    '(:not-restartable)))

(defun return-from-frame (level index attempt source)
  "Return the values of SOURCE, evaluated in frame INDEX, from it.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:interrupted) | (:not-restartable), or does not return"
  (with-frame (level index)
    (let ((frame (swank/sbcl::nth-frame index)))
      (if (and (sb-debug:frame-has-debug-tag-p frame) (not (host-frame-p index)))
          (destructuring-bind (status . values)
              (call-attempt attempt (lambda () (cons :values (values-in-frame source index))))
            (if (eq status :values)
                (sb-debug:unwind-to-frame-and-call frame (lambda () (values-list values)))
                (cons status values)))
          '(:not-restartable)))))
