;;;; The frames of a stopped thread, with their variables and where their code came from. Everything here runs in that thread.

(in-package #:@module@)

(defconstant +local-text-limit+ 500)
(defconstant +locals-limit+ 100)
(defconstant +form-text-limit+ 2000)

;;; Source

(defun text-before (file position)
  "The text of FILE before POSITION, as Swank counts it, and whether its characters are really bytes."
  (let ((format (swank/backend:guess-external-format file)))
    (with-open-file (stream file :external-format (or format :latin-1))
      (let* ((text (make-string (min (1- position) (file-length stream))))
             (count (read-sequence text stream)))
        (values (subseq text 0 count) (null format))))))

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
    (error () (if snippet (list :form (shortened snippet +form-text-limit+)) (list :file file nil nil)))))

(defun described-location (location)
  "(:file FILE LINE COLUMN), (:form TEXT) or NIL."
  (when (eq (first location) :location)
    (destructuring-bind (buffer position &optional hints) (rest location)
      (let ((snippet (getf hints :snippet)))
        (case (first buffer)
          (:file (place-in-file (second buffer) (if (eq (first position) :position) (second position) 1) snippet))
          (:source-form (list :form (shortened (second buffer) +form-text-limit+)))
          (t (and snippet (list :form (shortened snippet +form-text-limit+)))))))))

(defun frame-source (index)
  (ignore-errors
   (described-location
    (if (breakpoint-wrapper-p (frame-name (swank/sbcl::nth-frame index)))
        (second (first (swank/backend:find-definitions (first *breakpoint-call*))))
        (swank/backend:frame-source-location index)))))

;;; Variables

(defun variable-text (name index)
  (let ((*package* (or (ignore-errors (swank/backend:frame-package index)) *package*)))
    (handler-case (prin1-to-string name) (error () "?"))))

(defun local-entry (index variable)
  "(NAME VALUE NUMBER)"
  (destructuring-bind (&key name id value) variable
    (list (variable-text name index)
          (line-text value +local-text-limit+)
          (object-number (list (swank::current-thread-id) swank::*sldb-level* index name id) value))))

(defun local-entries (index)
  (loop for variable in (frame-variables index)
        repeat +locals-limit+
        collect (local-entry index variable)))

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
  (handler-case
      (with-bounded-printing (:length 10 :level 5)
        (let ((*package* (find-package (if (symbolp name) "KEYWORD" "COMMON-LISP"))))
          (on-one-line (if (stringp name) name (prin1-to-string name)))))
    (serious-condition () "?")))

(defun frame-count ()
  (count-frames swank/sbcl::*sldb-stack-top* 1))

(defun frame-entry (frame index kind)
  (list :index index
        :function (function-text (if (breakpoint-wrapper-p (frame-name frame)) (first *breakpoint-call*) (frame-name frame)))
        :call (frame-text frame swank::*swank-debugger-condition*)
        :kind kind
        :restartable (and (swank/backend:frame-restartable-p frame) t)
        :source (frame-source index)
        :locals (local-entries index)))

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
              (loop for (index . frame) in (frames-between (min start end) end)
                    collect (frame-entry frame index (nth index kinds)))
              total))))

(defmacro with-frame ((level index) &body body)
  "BODY, or the reason why there is no such frame: a bad index would otherwise be an error one level deeper."
  `(cond ((/= ,level swank::*sldb-level*) '(:stale))
         ((not (< -1 ,index (frame-count))) (list :no-frame (frame-count)))
         (t ,@body)))

(defun frame-locals (level index)
  "=> (:stale) | (:no-frame TOTAL) | (:locals ((NAME VALUE NUMBER) ...) (CATCH-TAG ...))"
  (with-frame (level index)
    (list :locals (local-entries index)
          (ignore-errors (mapcar (lambda (tag) (line-text tag 100)) (swank/backend:frame-catch-tags index))))))

;;; Evaluation in a frame

(defun read-source (source)
  (let ((*package* swank::*buffer-package*))
    (read-from-string source)))

(defun error-entry (condition)
  (list :error (class-name-text (shown-class condition)) (report-text condition 2000)))

(defun eval-in-frame (level index source)
  "=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:values (VALUE ...) OUTPUT)"
  (with-frame (level index)
    (catch 'end-frame-evaluation
      (handler-case
          (let ((output (make-string-output-stream)))
            (let* ((*standard-output* output) (*error-output* output) (*trace-output* output)
                   (values (multiple-value-list (eval-form-in-frame (read-source source) index))))
              (list :values (mapcar #'value-text values) (shortened (get-output-stream-string output) 20000))))
        (serious-condition (condition) (error-entry condition))))))

;;; Leaving through a frame

(defun restart-frame (level index)
  "Call the function of frame INDEX again. => (:stale) | (:no-frame TOTAL) | (:not-restartable), or does not return"
  (with-frame (level index)
    (swank/backend:restart-frame index)
    '(:not-restartable)))

(defun return-from-frame (level index source)
  "Return the values of SOURCE, evaluated in frame INDEX, from it.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE) | (:not-restartable), or does not return"
  (with-frame (level index)
    (let* ((frame (swank/sbcl::nth-frame index))
           (values (handler-case (multiple-value-list (eval-form-in-frame (read-source source) index))
                     (serious-condition (condition) (return-from return-from-frame (error-entry condition))))))
      (when (sb-debug:frame-has-debug-tag-p frame)
        (sb-debug:unwind-to-frame-and-call frame (lambda () (values-list values))))
      '(:not-restartable))))
