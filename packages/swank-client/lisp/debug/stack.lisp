;;;; The frames of a stopped thread, the kind of each in a report, and their sources: a place in a file, or the text of a form.

(in-package #:swank-client/stack)

(defconstant +snapshot-frames+ 200 "Frames examined for one report.")

(defun loaded-form-name-p (name)
  "True if NAME is that of the code of a top-level form in a compiled file."
  (or (equal name "top level form") ; since SBCL 2.5
      (and (consp name) (symbolp (first name)) (string= "TOP-LEVEL-FORM" (first name)))))

(defun system-name-p (name)
  "True if NAME is that of a function of Lisp or Swank between the user's code and the debugger."
  (let ((symbol (and (not (loaded-form-name-p name)) (name-symbol name))))
    (or (and (stringp name) (not (loaded-form-name-p name)))
        (member symbol '(error cerror warn signal break invoke-debugger no-applicable-method no-next-method
                         slot-unbound slot-missing update-instance-for-different-class))
        (let ((package (and symbol (symbol-package symbol))))
          (and package
               (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

(defun breakpoint-wrapper-p (name)
  "True if NAME is that of the frame of a breakpoint that stopped this thread; it stands in for the call that has not begun."
  (and *breakpoint-call* (consp name) (eq (first name) 'lambda) (eq :breakpoint (frame-role name))))

(defun frame-text (frame condition)
  "The call of FRAME, as text."
  (let ((name-alone (format nil "(~a ...)" (line-text (frame-name frame) +frame-text-limit+))))
    (in-time name-alone
      (cond ((breakpoint-wrapper-p (frame-name frame)) (line-text *breakpoint-call* +frame-text-limit+))
            ((mistaken-frame-p frame) "[unknown function]")
            ((arguments-unread-p frame) name-alone)
            (t (handler-case (printed-frame frame condition)
                 (serious-condition () "[error printing frame]")))))))

(defun printed-frame (frame condition)
  "The call of FRAME."
  (with-bounded-printing (:length 6 :level 4)
    (with-fast-number-printing ((frame-arguments frame))
      (let ((text (on-one-line (truncated +frame-text-limit+
                                          (lambda (stream) (print-call frame stream))))))
        (if (and (typep condition 'undefined-function) (eql 0 (search "(\"undefined function\"" text)))
            ;; the call that failed has no frame of its own
            (format nil "(~a~a" (line-text (cell-error-name condition) 100) (subseq text 21))
            text)))))

(defun evaluator-start (names base)
  "The index in NAMES of the first frame of the evaluator above BASE, that of a frame of the runtime."
  (let ((end (position 'eval names :end base :from-end t)))
    (cond ((null end) base)
          (t (loop while (and (plusp end) (member (nth (1- end) names) *evaluator-functions*)) do (decf end))
             end))))

(defun home-of-name (name)
  "The package that owns the function NAME, or NIL."
  (let ((symbol (name-symbol name))) (and symbol (symbol-package symbol))))

(defun dispatching-name-p (name)
  "True if NAME is that of a frame between a generic function and its methods."
  (or (and (consp name) (eq 'call-next-method (second name)))
      (eq (find-package "SB-PCL") (home-of-name name))))

(defun family-name (package)
  "The part before a slash of the name of PACKAGE: a framework can have several packages."
  (let ((name (package-name package))) (subseq name 0 (position #\/ name))))

(defun framework-start (names base)
  "The index in NAMES of the first of the frames above BASE, that of CALL-FRAMEWORK, that are the framework's."
  (loop with framework = nil
        with start = base
        for index from (1- base) downto 0
        for name = (nth index names)
        unless (dispatching-name-p name)
          do (let ((home (home-of-name name)))
               (unless (and home (string= (family-name home) (or framework (family-name home)))) (return start))
               (setf framework (family-name home)
                     start index))
        finally (return start)))

(defun host-start (names)
  "The index in NAMES, of a thread that the runtime did not start, of the first frame below the user's code; their number if all are Lisp's."
  (let ((last (position-if-not (lambda (name) (or (system-name-p name) (eq name 'eval))) names :from-end t)))
    (if last (1+ last) (length names))))

(defun loader-name-p (name)
  "True if NAME is that of a function with which SBCL or the runtime loads compiled code."
  (or (eq :loads (frame-role name)) (loading-function-p (name-symbol name))))

(defun own-start (names base)
  "The index in NAMES of the first frame above BASE, that of CALL-OWN, with which the runtime loads code for it, or BASE."
  (loop for start = base then (1- start)
        while (and (plusp start) (loader-name-p (nth (1- start) names)))
        finally (return start)))

(defun toplevel-start (names)
  "The index in NAMES, those of all frames, innermost first, of the first frame of the evaluator, the runtime or Swank below the user's code."
  (let ((base (position-if (lambda (name) (and (symbolp name) (member (frame-role name) '(:evaluates :runs :framework)))) names)))
    (if base
        (ecase (frame-role (nth base names))
          (:runs (own-start names base))
          (:framework (framework-start names base))
          (:evaluates (evaluator-start names base)))
        (host-start names))))

(defun point-of-stop-p (name condition)
  "True if NAME looks like machinery, but its frame is the call that caused the stop."
  (or (and (equal name "undefined function") (typep condition 'undefined-function))
      (breakpoint-wrapper-p name)))

(defun between-calls-p (name)
  "True if NAME is that of a frame of the stepper, a breakpoint, a trace, a profile or the running of tests between a caller and the function
that it calls."
  (let ((home (home-of-name name)))
    (or (member (frame-role name) '(:breakpoint :between))
        (and home (runtime-package-p home)))))

(defun frame-kinds (names condition)
  "The kinds of the frames with NAMES, those of all frames, innermost first, in a stop at CONDITION: :USER, :SYSTEM or :TOPLEVEL."
  (let* ((toplevel (toplevel-start names))
         (first (or (position-if-not (lambda (name) (and (system-name-p name)
                                                         (not (point-of-stop-p name condition))))
                                     names :end toplevel)
                    toplevel)))
    (loop for index from 0
          for name in names
          collect (cond ((>= index toplevel) :toplevel)
                        ((or (< index first) (and (> index first) (between-calls-p name))) :system)
                        (t :user)))))

(defun allocator-name-p (name)
  "True if NAME is that of a function of SBCL that allocates memory, or reports that none is left."
  (let ((symbol (name-symbol name)))
    (or (and (stringp name) (not (loaded-form-name-p name)))
        (eq symbol 'heap-exhausted-error)
        (and symbol (eq (symbol-package symbol) (find-package "SB-VM"))))))

(defun stack-top (condition)
  "The value of SB-DEBUG:*STACK-TOP-HINT* for a stop at CONDITION: the frame to show first.
SBCL gives the function that called ERROR. If the heap is exhausted, that is SBCL's allocator; the program called it."
  (or (and (typep condition 'heap-exhausted-error)
           (loop with found = nil
                 for frame = (top-frame) then (frame-down frame)
                 while frame
                 do (when (eq (frame-name frame) 'heap-exhausted-error) (setf found t))
                    (when (and found (not (allocator-name-p (frame-name frame)))) (return frame))))
      (supported *stack-top-hint*)))

(defun stack-frames ()
  "All frames of this stopped thread."
  (loop for frame = *sldb-stack-top* then (frame-down frame)
        while frame collect frame))

(defun stack-kinds (&optional (condition *swank-debugger-condition*))
  "The kinds of all frames of this thread, which is stopped at CONDITION."
  (frame-kinds (mapcar #'frame-name (stack-frames)) condition))

(defun first-frames (frames kinds condition)
  "((INDEX TEXT KIND) ...) of those among the first FRAMES that are not of kind :TOPLEVEL."
  (loop with only = (when (eq (first kinds) :toplevel)
                      ;; at least one frame: that of EVAL, with the form, if there is no other
                      (or (position 'eval frames :key #'frame-name) 0))
        ;; a reference must not lead to a frame that the report leaves out
        with listed = (or (find :user kinds) (first kinds))
        repeat +snapshot-frames+
        for frame in frames
        for kind in kinds
        for index from 0
        when (if only (eql index only) (not (eq kind :toplevel)))
          collect (let ((*report-place* (and (eq kind listed) (format nil "frame ~d" index))))
                    (list index (frame-text frame condition) kind))))

(defun first-users (kinds)
  "The indexes of the first two frames of the user among those of KINDS."
  (loop for kind in kinds
        for index from 0
        when (eq kind :user) collect index into users
        until (= 2 (length users))
        finally (return users)))

;;; The sources of frames: a place in a file, or the text of a form. All functions here run in the stopped thread.

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

(defun line-and-column (file position)
  "The line and column of POSITION in FILE, both from 1, the column in characters."
  (multiple-value-bind (text bytes-p) (text-before file position)
    (let* ((start (1+ (or (position #\Newline text :from-end t) -1)))
           (line (subseq text start)))
      (values (1+ (count #\Newline text :end start))
              (1+ (- (length line) (if bytes-p (count-if (lambda (char) (<= #x80 (char-code char) #xBF)) line) 0)))))))

(defun cut-after (text limit)
  "TEXT, cut after LIMIT characters."
  (if (> (length text) limit) (concatenate 'string (subseq text 0 limit) "...") text))

(defun location-in-file (file position snippet)
  "(:file FILE LINE COLUMN) for POSITION in FILE, or (:form TEXT) of SNIPPET if FILE cannot be read."
  (handler-case
      (multiple-value-bind (line column) (line-and-column file position)
        (list :file file line column))
    ;; the file was deleted or is shorter now
    (error () (if snippet (snippet-form snippet) (list :file file nil nil)))))

(defun first-form-text (text)
  "The first form in TEXT, as text, or TEXT if it cannot be read."
  (handler-case (with-standard-io-syntax
                  (let ((*read-suppress* t))
                    (string-trim '(#\Space #\Newline) (subseq text 0 (nth-value 1 (read-from-string text))))))
    (error () text)))

(defun snippet-form (text)
  "(:form TEXT) for the first form in TEXT."
  (list :form (cut-after (first-form-text text) +form-text-limit+)))

(defun described-location (location)
  "(:file FILE LINE COLUMN), (:form TEXT) or NIL."
  (when (eq (first location) :location)
    (destructuring-bind (buffer position &optional hints) (rest location)
      (let ((snippet (getf hints :snippet)))
        (case (first buffer)
          (:file (location-in-file (second buffer) (if (eq (first position) :position) (second position) 1) snippet))
          (:source-form (snippet-form (or snippet (second buffer))))
          (t (and snippet (snippet-form snippet))))))))

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
                   (or-nil
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
  (let ((location (frame-code-location frame))
        (name (frame-name frame)))
    (cond ((breakpoint-wrapper-p name) (list (called-name frame)))
          ((or (null (frame-file frame)) (sbcl-frame-p frame)) nil)
          ;; the stack of a stop inside another one has frames of Swank, whose files are long
          ((and (not (loaded-form-name-p name))
                (or (system-name-p name) (and (consp name) (system-name-p (second name)))))
           nil)
          (t (list (frame-file frame)
                   (code-location-toplevel-form-offset location)
                   (code-location-form-number location))))))

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
             (let ((key (or-nil (code-key (nth index frames)))))
               (multiple-value-bind (place foundp) (gethash key known)
                 (cond ((null key) nil)
                       (foundp place)
                       ((> (get-internal-real-time) end) nil)
                       (t (setf (gethash key known) (recording-faults (place-of-frame index)))))))))
      (loop for entry in entries
            for (index nil kind) = entry
            collect (if (and (eq kind :user) (<= 0 (decf left)))
                        (append entry (place index))
                        entry)))))

(defun called-name (frame)
  "The name of FRAME's function. For a call that a breakpoint stopped, the name of the called function."
  (if (breakpoint-wrapper-p (frame-name frame))
      (first *breakpoint-call*)
      (frame-name frame)))
