;;;; The frames of a stopped thread, with their variables and sources. All functions here run in that thread.

(in-package #:swank-client/debugger)

(defconstant +local-text-limit+ 500 "Characters shown of a variable's value.")

(defconstant +locals-limit+ 100 "Variables shown of one frame.")

(defconstant +form-text-limit+ 2000 "Characters shown of the source of a frame that is in no file.")

(defconstant +output-limit+ 20000 "Characters kept of the output of an evaluation in a frame.")

;;; Source

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
                    (if (breakpoint-wrapper-p (frame-name frame))
                        (described-location (called-location (first *breakpoint-call*)))
                        (described-location (swank/backend:frame-source-location index)))))))
    ;; the evaluator's source text would hide the evaluated code
    (unless (and (eq kind :toplevel) (eq (first source) :form)) source)))

;;; Variables

(defun local-entry (index variable)
  "(NAME VALUE NUMBER) for VARIABLE of frame INDEX."
  (destructuring-bind (&key name id value) variable
    (list (variable-text name)
          (line-text-in-time value +local-text-limit+)
          (object-number (list index name id) value))))

(defun local-entries (index)
  "=> the first +LOCALS-LIMIT+ variables of frame INDEX, and their total number"
  (let ((variables (frame-variables index)))
    (values (loop for variable in variables
                  repeat +locals-limit+
                  collect (local-entry index variable))
            (length variables))))

;;; A call that a breakpoint stopped has no frame yet: its variables are the arguments, with the names in the lambda list

(defun parameter-name (parameter)
  "The variable that PARAMETER of a lambda list binds."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (second name) name)))

(defun parameter-key (parameter)
  "The keyword of PARAMETER, a parameter after &KEY."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (first name) (intern (symbol-name name) "KEYWORD"))))

(defun named-arguments (lambda-list arguments)
  "((NAME . VALUE) ...) for those ARGUMENTS that have a name in LAMBDA-LIST."
  (let ((place nil) (bindings '()) (rest arguments))
    (dolist (item lambda-list (nreverse bindings))
      (cond ((member item lambda-list-keywords) (setf place item))
            ((member place '(&rest &body)) (push (cons item rest) bindings))
            ((eq place '&key)
             (let ((found (member (parameter-key item) rest)))
               (when (and found (rest found)) (push (cons (parameter-name item) (second found)) bindings))))
            ((and rest (member place '(nil &optional)))
             (push (cons (parameter-name item) (pop rest)) bindings))))))

(defun argument-bindings (lambda-list arguments)
  "((NAME . VALUE) ...) for the ARGUMENTS in a call of a function with LAMBDA-LIST."
  (or (ignore-errors (named-arguments lambda-list arguments))
      (loop for argument in arguments
            for index from 0
            collect (cons (intern (format nil "ARG-~d" index) "KEYWORD") argument))))

(defun eval-with-arguments (form)
  "The values of FORM, with the arguments of the stopped call bound."
  (let ((bindings (remove-if #'keywordp *breakpoint-variables* :key #'car)))
    (eval `(let ,(loop for (name . value) in bindings collect `(,name ',value))
             (declare (ignorable ,@(mapcar #'car bindings)))
             ,form))))

(defun eval-form-in-frame (form index)
  "The values of FORM in frame INDEX."
  (if (breakpoint-wrapper-p (frame-name (nth-frame index)))
      (eval-with-arguments form)
      (swank/backend:eval-in-frame form index)))

;;; Frames

(defun function-text (name)
  "The function's NAME as text with its package: MY-APP:COMPUTE."
  (flet ((text (package)
           (handler-case (with-bounded-printing (:length 10 :level 5)
                           (let ((*package* (find-package package))) (on-one-line (prin1-to-string name))))
             (serious-condition () "?"))))
    (typecase name
      (string (on-one-line name))
      (symbol (text "KEYWORD"))
      ;; names of methods can hold objects
      (t (with-printing-time (in-time "?" (text "COMMON-LISP")))))))

(defun called-function-text (frame)
  "The name of FRAME's function as text, with its package."
  (function-text (called-name frame)))

(defun frame-count ()
  "The number of frames of the stopped thread."
  (count-frames *sldb-stack-top* 1))

(defun frame-entry (frame index kind)
  "A plist that describes FRAME, which has INDEX and KIND."
  (list* :index index
         :function (called-function-text frame)
         :call (frame-text frame *swank-debugger-condition*)
         :kind kind
         :restartable (and (swank/backend:frame-restartable-p frame) t)
         :source (frame-source index kind)
         (multiple-value-bind (locals total) (local-entries index)
           (list :locals locals :total-locals total))))

(defun frames-between (start end)
  "((INDEX . FRAME) ...) of the frames from START to END."
  (loop for frame in (swank/backend:compute-backtrace start end)
        for index from start
        collect (cons index frame)))

(defun stack-kinds (end)
  "The kinds of the frames up to END."
  (frame-kinds (mapcar #'frame-name (swank/backend:compute-backtrace 0 end)) *swank-debugger-condition*))

(defun frames (level start end)
  "Describe the frames from START to END. => (:stale) | (:frames (PLIST ...) TOTAL)"
  (if (/= level *sldb-level*)
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
  "Run BODY, or return the reason if there is no such frame. Otherwise a bad index would be an error one level deeper."
  `(cond ((/= ,level *sldb-level*) '(:stale))
         ((not (< -1 ,index (frame-count))) (list :no-frame (frame-count)))
         (t ,@body)))

(defun frame-locals (level index)
  "The variables and catch tags of frame INDEX.
=> (:stale) | (:no-frame TOTAL) | (:locals ((NAME VALUE NUMBER) ...) TOTAL (CATCH-TAG ...) UNREAD)"
  (with-frame (level index)
    (with-printing-time
      (multiple-value-bind (locals total) (local-entries index)
        (list :locals locals total
              (ignore-errors (mapcar (lambda (tag) (line-text-in-time tag 100)) (swank/backend:frame-catch-tags index)))
              (unread-frame-p (nth-frame index)))))))

;;; Evaluation in a frame

(defclass kept-output (sb-gray:fundamental-character-output-stream)
  ((text :initform (make-string-output-stream) :reader kept-text)
   (room :initform +output-limit+ :accessor kept-room)
   (column :initform 0 :accessor kept-column)
   (left-out :initform 0 :accessor kept-left-out))
  (:documentation "A stream that keeps the first characters written to it, and counts the others."))

(defmethod sb-gray:stream-write-char ((stream kept-output) char)
  (setf (kept-column stream) (if (char= char #\Newline) 0 (1+ (kept-column stream))))
  (cond ((plusp (kept-room stream))
         (decf (kept-room stream))
         (write-char char (kept-text stream)))
        (t (incf (kept-left-out stream))))
  char)

(defmethod sb-gray:stream-line-column ((stream kept-output)) (kept-column stream))

(defun kept-string (stream)
  "The text that STREAM kept, with a note on the characters left out."
  (format nil "~a~@[~&[... ~d characters left out ...]~%~]" (get-output-stream-string (kept-text stream))
          (and (plusp (kept-left-out stream)) (kept-left-out stream))))

(defun read-source (source index)
  "The forms of SOURCE as one PROGN form."
  (let ((*package* (frame-home index)))
    `(progn ,@(source-forms source))))

(defun variable-aliases (index)
  "((SYMBOL VARIABLE) ...) for variables of frame INDEX whose package is not that of the frame's function."
  (let ((names (remove-if-not #'symbolp (mapcar (lambda (variable) (getf variable :name)) (frame-variables index))))
        (home (frame-home index)))
    (loop for name in names
          for alias = (accessible-symbol (symbol-name name) home)
          when (and alias (not (member alias names)) (eq (sb-int:info :variable :kind alias) :unknown))
            collect (list alias name) into aliases
          finally (return (remove-duplicates aliases :key #'first)))))

(defun values-in-frame (source index)
  "The values of SOURCE in frame INDEX, as a list."
  (let ((form (read-source source index)))
    (multiple-value-list
     (eval-form-in-frame `(symbol-macrolet ,(variable-aliases index) ,form) index))))

(defun eval-in-frame (level index attempt source &optional (limit *value-limit*))
  "Evaluate SOURCE in frame INDEX.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:interrupted) | (:values PLIST OUTPUT)"
  (with-frame (level index)
    (let ((output (make-instance 'kept-output)))
      (call-attempt attempt
                    (lambda ()
                      (let* ((*standard-output* output) (*error-output* output) (*trace-output* output)
                             (values (printed-values (values-in-frame source index) limit)))
                        (list :values values (kept-string output))))))))

;;; Leaving through a frame

(defun toplevel-frame-p (index)
  "True if frame INDEX is of kind :TOPLEVEL: one below the user's code."
  (eq :toplevel (nth index (stack-kinds (1+ index)))))

(defun restart-frame (level index)
  "Call the function of frame INDEX again. => (:stale) | (:no-frame TOTAL) | (:not-restartable), or does not return"
  (with-frame (level index)
    (unless (toplevel-frame-p index) (swank/backend:restart-frame index))
    '(:not-restartable)))

(defun return-from-frame (level index attempt source)
  "Return the values of SOURCE, evaluated in frame INDEX, from it.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:interrupted) | (:not-restartable), or does not return"
  (with-frame (level index)
    (let ((frame (nth-frame index)))
      (if (and (sb-debug:frame-has-debug-tag-p frame) (not (toplevel-frame-p index)))
          (destructuring-bind (status . values)
              (call-attempt attempt (lambda () (cons :values (values-in-frame source index))))
            (if (eq status :values)
                (sb-debug:unwind-to-frame-and-call frame (lambda () (values-list values)))
                (cons status values)))
          '(:not-restartable)))))
