;;;; The frames of a stopped thread, with their variables, and how a frame is left. All functions here run in that thread.

(in-package #:swank-client/debug)

(defconstant +local-text-limit+ 500 "Characters shown of a variable's value.")

(defconstant +locals-limit+ 100 "Variables shown of one frame.")

(defconstant +output-limit+ 20000 "Characters kept of the output of an evaluation in a frame.")

;;; Variables

(defun local-entry (index variable)
  "(NAME VALUE NUMBER MARK ...) for VARIABLE of frame INDEX. NUMBER is NIL for a variable without a value."
  (destructuring-bind (&key name id value unavailable &allow-other-keys) variable
    (list* (variable-text name)
           (variable-value-text variable +local-text-limit+)
           (unless unavailable (object-number (list index name id) value))
           (variable-marks variable))))

(defun local-entries (index)
  "=> the first +LOCALS-LIMIT+ variables of frame INDEX, and their total number"
  (let ((variables (frame-variables index)))
    (values (loop for variable in variables
                  repeat +locals-limit+
                  collect (local-entry index variable))
            (length variables))))

;;; Evaluating a form

(defun eval-form-in-frame (form index)
  "The values of FORM in frame INDEX."
  (let ((frame (nth-frame index)))
    (cond ((breakpoint-wrapper-p (frame-name frame)) (eval-with-arguments form))
          ((unread-frame-p frame) (eval form))
          (t (swank/backend:eval-in-frame form index)))))

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
  (length (stack-frames)))

(defun frame-entry (frame index kind)
  "A plist that describes FRAME, which has INDEX and KIND."
  (list* :index index
         :function (called-function-text frame)
         :call (frame-text frame *swank-debugger-condition*)
         :kind kind
         :restartable (restartable-frame-p frame)
         :source (frame-source index kind)
         :methods (frame-methods frame)
         (multiple-value-bind (locals total) (local-entries index)
           (list :locals locals :total-locals total))))

(defun frames-between (start end)
  "((INDEX . FRAME) ...) of the frames from START to END."
  (loop for frame in (swank/backend:compute-backtrace start end)
        for index from start
        collect (cons index frame)))

(defun without-repeated-methods (entries)
  "ENTRIES, of consecutive frames, with a list of methods only at the innermost frame of those that have the same."
  (loop with known = '()
        for entry in entries
        for methods = (getf entry :methods)
        do (cond ((null methods))
                 ((equal methods known) (setf (getf entry :methods) '()))
                 (t (setf known methods))))
  entries)

(defun current-directory ()
  "The image's current directory, which may have been deleted meanwhile."
  (or (or-nil (swank:default-directory))
      (namestring *default-pathname-defaults*)))

(defun frames (level start end)
  "Describe the frames from START to END. => (:stale) | (:frames (PLIST ...) TOTAL DIRECTORY PACKAGE-NAME), see WITH-REPORT-PACKAGE"
  (if (/= level *sldb-level*)
      '(:stale)
      (let* ((total (frame-count))
             (end (min end total))
             (kinds (stack-kinds)))
        (with-report-package (package-name (stack-frames) kinds)
          (list :frames
                (with-printing-time
                  (without-repeated-methods
                   (loop for (index . frame) in (frames-between (min start end) end)
                         collect (frame-entry frame index (nth index kinds)))))
                total
                (current-directory)
                package-name)))))

(defmacro with-frame ((level index) &body body)
  "Run BODY, or return the reason if there is no such frame. Otherwise a bad index would be an error one level deeper."
  `(cond ((/= ,level *sldb-level*) '(:stale))
         ((not (< -1 ,index (frame-count))) (list :no-frame (frame-count)))
         (t ,@body)))

(defun frame-locals (level index)
  "The variables and catch tags of frame INDEX.
=> (:stale) | (:no-frame TOTAL) | (:locals ((NAME VALUE NUMBER MARK ...) ...) TOTAL (CATCH-TAG ...) UNREAD)"
  (with-frame (level index)
    (with-printing-time
      (multiple-value-bind (locals total) (local-entries index)
        (list :locals locals total
              (recording-faults (mapcar (lambda (tag) (line-text-in-time tag 100)) (swank/backend:frame-catch-tags index)))
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

(defun kept-and-omitted (stream)
  "(TEXT COUNT): the text that STREAM kept, and the number of other characters."
  (list (get-output-stream-string (kept-text stream)) (kept-left-out stream)))

(defun variable-aliases (index home)
  "((SYMBOL VARIABLE) ...) for variables of frame INDEX whose names have another symbol in HOME, the package that the code is read in."
  (let ((names (if (breakpoint-wrapper-p (frame-name (nth-frame index)))
                   (mapcar #'binding-name (stopped-parameters))
                   (loop for variable in (frame-variables index)
                         for name = (getf variable :name)
                         when (symbolp name) collect name))))
    (loop for name in names
          for alias = (accessible-symbol (symbol-name name) home)
          when (and alias (not (member alias names)) (eq (compiler-info :variable :kind alias) :unknown))
            collect (list alias name) into aliases
          finally (return (remove-duplicates aliases :key #'first)))))

(defun values-in-frame (source index package)
  "The values of SOURCE, read in PACKAGE, in frame INDEX, as a list."
  (let ((form `(progn ,@(code-forms source package))))
    (multiple-value-list
     (eval-form-in-frame `(symbol-macrolet ,(append (shadowing-variables index) (valueless-variables index) (variable-aliases index package))
                            ,form)
                         index))))

(defun call-reading (attempt package function)
  "The result of CALL-ATTEMPT for FUNCTION, whose errors name PACKAGE, in which it reads code: (:error TYPE MESSAGE PACKAGE-NAME)."
  (let ((name (package-name package)))
    (destructuring-bind (status . facts) (call-attempt attempt function)
      (cons status (if (eq status :error) (append facts (list name)) facts)))))

(defun name-for-object (source package)
  "SOURCE, code for an object read in PACKAGE, as WITH-NAME-SPELLED writes it."
  (with-code-syntax ((current-session) package) (with-name-spelled source)))

(defun result-in-frame (source index package limit)
  "(:values PLIST (STDOUT OMITTED) (STDERR OMITTED) PACKAGE-NAME) for SOURCE, read in PACKAGE, in frame INDEX. The values are printed as in
PACKAGE or, if LIMIT is NIL, kept under numbers."
  (let* ((name (package-name package))
         (stdout (make-instance 'kept-output))
         (stderr (make-instance 'kept-output))
         (values (let ((*standard-output* stdout) (*trace-output* stdout) (*error-output* stderr))
                   (let ((values (values-in-frame (if limit source (name-for-object source package)) index package))
                         (*package* package))
                     (if limit (printed-values values limit) (numbered-values values))))))
    (list :values values (kept-and-omitted stdout) (kept-and-omitted stderr) name)))

(defun eval-in-frame (level index attempt source package-name &optional (limit *value-limit*))
  "Evaluate SOURCE in frame INDEX. It is read in the package PACKAGE-NAME or, if that is NIL, in that of the frame's function. RESULT-IN-FRAME
explains LIMIT. SET are the names of the frame's variables that have another value afterwards. The compiler may have derived constants and
types from the old one. The arguments of a call that has not begun are not among them.
=> (:stale) | (:no-frame TOTAL) | (:no-such-package) | (:error TYPE MESSAGE PACKAGE-NAME SET) | (:interrupted SET)
| (:values PLIST (STDOUT OMITTED) (STDERR OMITTED) PACKAGE-NAME SET)"
  (with-frame (level index)
    (let* ((home (frame-home index))
           (package (if package-name (find-designated-package package-name home) home)))
      (if package
          (let* ((before (frame-variables index))
                 (result (call-reading attempt package (lambda () (result-in-frame source index package limit)))))
            (append result (list (set-names index before))))
          '(:no-such-package)))))

;;; Leaves a stop through a frame: to call its function again, or to return from it. All functions here run in the stopped thread.

(defun toplevel-frame-p (index)
  "True if frame INDEX is of kind :TOPLEVEL: one below the user's code."
  (eq :toplevel (nth index (stack-kinds))))

;;; Calling a frame's function again

(defun outer-frame (index usablep)
  "(INDEX CALL) of the innermost frame of the user outside frame INDEX of which USABLEP, a function of a frame and its index, is true, or NIL."
  (loop for frame in (nthcdr (1+ index) (stack-frames))
        for kind in (nthcdr (1+ index) (stack-kinds))
        for outer from (1+ index)
        when (and (eq kind :user) (funcall usablep frame outer))
          return (list outer (frame-text frame *swank-debugger-condition*))))

(defun restart-frame (level index)
  "Call the function of frame INDEX again.
=> (:stale) | (:no-frame TOTAL) | (:not-restartable REASON NAME [OUTER-INDEX OUTER-CALL]), or does not return"
  (with-frame (level index)
    (let ((frame (nth-frame index)))
      (multiple-value-bind (function result)
          (if (toplevel-frame-p index) (values nil :toplevel) (restarted-function frame))
        (if function
            (unwind-to-frame-and-call frame (lambda () (apply function result)))
            (list* :not-restartable result (called-function-text frame) (outer-frame index #'restartable-frame-p)))))))

;;; Returning from a frame

(defun return-refusal (frame index)
  "The reason for which FRAME, with INDEX, cannot be returned from, or NIL.
SBCL's UNWIND-TO-FRAME-AND-CALL runs a local function again, on a frame that it has destroyed, or crashes."
  (let ((name (frame-name frame)))
    (cond ((toplevel-frame-p index) :toplevel)
          ((not (frame-has-debug-tag-p frame)) :no-tag)
          ((not (or (breakpoint-wrapper-p name) (legal-fun-name-p name) (method-name-p name) (macro-function-name-p name)))
           :local))))

(defun returnable-frame-p (frame index)
  "True if FRAME, with INDEX, can be returned from."
  (null (return-refusal frame index)))

(defun return-from-frame (level index attempt source)
  "Return the values of SOURCE, evaluated in frame INDEX, from it.
=> (:stale) | (:no-frame TOTAL) | (:error TYPE MESSAGE PACKAGE-NAME) | (:interrupted)
| (:not-returnable REASON NAME [OUTER-INDEX OUTER-CALL]), or does not return"
  (with-frame (level index)
    (let* ((frame (nth-frame index))
           (package (frame-home index))
           (reason (return-refusal frame index)))
      (if reason
          (list* :not-returnable reason (called-function-text frame) (outer-frame index #'returnable-frame-p))
          (destructuring-bind (status . values)
              (call-reading attempt package (lambda () (cons :values (values-in-frame source index package))))
            (if (eq status :values)
                (unwind-to-frame-and-call frame (lambda () (values-list values)))
                (cons status values)))))))
