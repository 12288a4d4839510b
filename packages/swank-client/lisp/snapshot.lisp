;;;; What is known of a condition and the stack under it, as plain data for the wire.

(in-package #:@runtime@)

(defconstant +snapshot-frames+ 200)
(defconstant +frame-text-limit+ 300)
(defconstant +slot-text-limit+ 500)

;;; Types

(defun standard-class-p (class)
  (eq (symbol-package (class-name class)) (find-package "COMMON-LISP")))

(defun implementation-class-p (class)
  (let ((package (symbol-package (class-name class))))
    (or (null package)
        (eq package (find-package "COMMON-LISP"))
        (eql 0 (search "SB-" (package-name package))))))

(defun broad-class-p (class)
  (member (class-name class) '(error serious-condition condition simple-condition)))

(defun shown-class (condition)
  "The user's own class, or the most telling standard superclass of one of Lisp's own. A step has no such superclass."
  (let ((classes (sb-mop:class-precedence-list (class-of condition))))
    (if (and (implementation-class-p (first classes)) (not (typep condition 'sb-ext:step-condition)))
        (or (find-if (lambda (class) (and (standard-class-p class) (not (broad-class-p class))
                                          (subtypep class 'condition)))
                     classes)
            (find 'error classes :key #'class-name)
            (find-if #'standard-class-p classes))
        (first classes))))

(defun class-name-text (class)
  (if (or (standard-class-p class) (member (class-name class) '(interrupted breakpoint-reached exit-refused sb-ext:step-form-condition)))
      (symbol-name (class-name class))
      (with-standard-io-syntax
        (let ((*package* (find-package "KEYWORD")) (*print-readably* nil))
          (prin1-to-string (class-name class))))))

(defun supertype-texts (condition)
  (loop for class in (sb-mop:class-precedence-list (class-of condition))
        until (eq (class-name class) 'sb-pcl::slot-object)
        unless (eq class (find-class t)) collect (class-name-text class)))

;;; Slots and message

(defun slot-texts (condition)
  "((NAME VALUE) ...) of the bound slots of CONDITION."
  (ignore-errors
   (loop for slot in (sb-mop:class-slots (class-of condition))
         for name = (sb-mop:slot-definition-name slot)
         repeat 20
         when (and (slot-boundp condition name)
                   (not (member name '(sb-kernel::hash sb-kernel::assigned-slots)))
                   (not (source-stream-p (slot-value condition name))))
           collect (list (string name) (line-text-in-time (slot-value condition name) +slot-text-limit+)))))

(defun source-stream-p (object)
  "True of the stream that the code was read from, which means nothing to whoever sent the code."
  (and *source* (eq object *source*)))

(defun standard-input-p (stream)
  "True of the evaluation's input, and of the streams that it can be asked for through."
  (and *input*
       (or (eq stream *input*)
           (and (typep stream 'two-way-stream) (eq (two-way-stream-input-stream stream) *input*)))))

(defun message-text (condition)
  "What CONDITION says, without the streams that SBCL adds and that mean nothing to whoever sent the code."
  (with-printing-time
    (in-time (unprinted-text condition)
      (or (ignore-errors (stream-condition-text condition))
          (report-text condition)))))

(defun stream-condition-text (condition)
  "Text for conditions about the source or the standard input, NIL for others."
  (typecase condition
    ((and reader-error simple-condition)
     (string-capitalize-first
      (with-bounded-printing ()
        (truncated 2000 (lambda (stream)
                          (apply #'format stream (simple-condition-format-control condition)
                                 (simple-condition-format-arguments condition)))))))
    (end-of-file
     (cond ((source-stream-p (stream-error-stream condition)) "Unexpected end of file.")
           ((standard-input-p (stream-error-stream condition)) "End of file on standard input.")))))

(defun string-capitalize-first (text)
  (if (plusp (length text))
      (concatenate 'string (string-upcase (subseq text 0 1)) (subseq text 1))
      text))

;;; Restarts

(defconstant +restart-text-limit+ 300)

(defun restart-report (restart)
  "What RESTART says of itself, or NIL where that fails or never comes to an end."
  (in-time nil
    (handler-case (on-one-line (truncated +restart-text-limit+ (lambda (stream) (princ restart stream))))
      (serious-condition () nil))))

(defun restart-text (restart)
  (list (let ((name (restart-name restart))) (if name (string name) ""))
        (or (restart-report restart) "<<error printing restart>>")))

(defun restart-texts (restarts)
  "((NAME TEXT) ...), the evaluation's own, which are the outermost, in any case."
  (with-printing-time (reverse (mapcar #'restart-text (reverse restarts)))))

(defun shorten-reports (restarts)
  "Swank prints restarts without any limit: those that would keep it busy, or take it elsewhere, are to say no more than they do here."
  (with-printing-time
    (dolist (restart (reverse restarts))
      (let ((text (restart-report restart)))
        (unless (and text (<= (length text) +restart-text-limit+))
          (setf (slot-value restart 'sb-kernel::report-function)
                (lambda (stream) (write-string (or text "<<error printing restart>>") stream))))))))

(defun stop-message (condition)
  "For Swank, which asks for this before it prints the restarts."
  (shorten-reports swank::*sldb-restarts*)
  (message-text condition))

(defun offered-restarts (restarts)
  "RESTARTS without those that Swank itself needs below the evaluation's own way out."
  (let ((last (and *outermost-restart* (position *outermost-restart* restarts))))
    (subseq restarts 0 (if last (1+ last) nil))))

;;; Frames

(defun frame-name (frame)
  (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))

(defun name-symbol (name)
  "The symbol that says whose function NAME is; of a function inside another one, that of the other."
  (typecase name
    (symbol name)
    (cons (loop for part in (or (rest (member :in name)) (rest name))
                when (and part (symbolp part) (not (keywordp part)) (not (member part lambda-list-keywords))) return part
                when (consp part) do (let ((found (name-symbol (cons nil part)))) (when found (return found)))))))

(defun machinery-name-p (name)
  "True of functions that stand between the error and the code that caused it."
  (let ((symbol (name-symbol name)))
    (or (stringp name)
        (member symbol '(error cerror warn signal break invoke-debugger no-applicable-method no-next-method
                         slot-unbound slot-missing update-instance-for-different-class))
        (let ((package (and symbol (symbol-package symbol))))
          (and package
               (some (lambda (prefix) (eql 0 (search prefix (package-name package)))) '("SB-" "SWANK")))))))

(defun evaluator-name-p (name)
  (member name '(sb-int:simple-eval-in-lexenv sb-impl::%simple-eval sb-impl::simple-eval-progn-body
                 sb-impl::simple-eval-locally)))

(defun breakpoint-wrapper-p (name)
  "True of the frame that stands where the call that a breakpoint stopped will be."
  (and *breakpoint-call* (consp name) (eq (first name) 'lambda)
       (symbolp (car (last name)))
       (string= (car (last name)) "MAKE-WRAPPER")))

(defun frame-text (frame condition)
  (in-time (format nil "(~a ...)" (line-text (frame-name frame) +frame-text-limit+))
    (if (breakpoint-wrapper-p (frame-name frame))
        (line-text *breakpoint-call* +frame-text-limit+)
        (handler-case (printed-frame frame condition)
          (serious-condition () "[error printing frame]")))))

(defun frame-arguments (frame)
  (ignore-errors (nth-value 1 (sb-debug::frame-call frame))))

(defun printed-frame (frame condition)
  (with-bounded-printing (:length 6 :level 4)
    (with-swift-numbers ((frame-arguments frame))
      (let ((text (on-one-line (truncated +frame-text-limit+
                                          (lambda (stream) (swank/backend:print-frame frame stream))))))
        (if (and (typep condition 'undefined-function) (eql 0 (search "(\"undefined function\"" text)))
            ;; the call that failed has no frame of its own
            (format nil "(~a~a" (line-text (cell-error-name condition) 100) (subseq text 21))
            text)))))

(defun host-start (names)
  "Where in NAMES, innermost first, the evaluator's own frames begin that lie between user code and this runtime."
  (let* ((base (position-if (lambda (name) (member name '(call-user call-own read-user bounded-text))) names))
         (end (and base
                   (not (eq (nth base names) 'call-own))
                   (position 'eval names :end base :from-end t))))
    (cond ((null base) (length names))
          ((null end) base)
          (t (loop while (and (plusp end) (evaluator-name-p (nth (1- end) names))) do (decf end))
             end))))

(defun point-of-stop-p (name condition)
  "True of frames that look like machinery and yet are the call that it is about."
  (or (and (equal name "undefined function") (typep condition 'undefined-function))
      (breakpoint-wrapper-p name)))

(defun between-calls-p (name)
  "True of the stepper's and a breakpoint's own frames between a caller and what it calls."
  (and (consp name)
       (symbolp (car (last name)))
       (member (car (last name)) '("HANDLE-SINGLE-STEP-AROUND-TRAP" "MAKE-WRAPPER") :test #'string=)))

(defun frame-kinds (names condition)
  (let* ((host (host-start names))
         (first (or (position-if-not (lambda (name) (and (machinery-name-p name)
                                                         (not (point-of-stop-p name condition))))
                                     names :end host)
                    host)))
    (loop for index from 0
          for name in names
          collect (cond ((>= index host) :host)
                        ((or (< index first) (and (> index first) (between-calls-p name))) :machinery)
                        (t :user)))))

(defun stack-frames (limit)
  (loop for frame = swank/sbcl::*sldb-stack-top* then (sb-di:frame-down frame)
        repeat limit
        while frame collect frame))

(defun count-frames (last counted)
  "COUNTED plus the number of frames below LAST."
  (loop for frame = (and last (sb-di:frame-down last)) then (sb-di:frame-down frame)
        while frame do (incf counted))
  counted)

(defun frame-list (condition)
  "((INDEX TEXT KIND) ...) without the host's, the total, and the index of the first frame that is the user's own."
  (let* ((frames (stack-frames +snapshot-frames+))
         (names (mapcar #'frame-name frames))
         (kinds (frame-kinds names condition))
         ;; one frame at least: the evaluator's, with the form, where nothing else is left
         (only (when (eq (first kinds) :host) (or (position 'eval names) 0))))
    (values (loop for frame in frames
                  for kind in kinds
                  for index from 0
                  when (if only (eql index only) (not (eq kind :host)))
                    collect (list index (frame-text frame condition) kind))
            (count-frames (car (last frames)) (length frames))
            (position :user kinds))))

;;; The whole

(defun stop-reason (condition)
  (cond ((typep condition 'interrupted) :interrupt)
        ((typep condition 'breakpoint-reached) :breakpoint)
        ((typep condition 'sb-ext:step-condition) :step)
        ((eq (type-of condition) 'simple-condition) :break)
        (t :error)))

(defun stop-detail (condition)
  "The call that a step is about to make; the breakpoint that was reached."
  (typecase condition
    (sb-ext:step-form-condition (list :form (sb-ext:step-condition-form condition)))
    (breakpoint-reached (list :breakpoint (reached-breakpoint condition)))))

(defun condition-plist (condition restart-texts &key (message (message-text condition)) frames (total 0) locals)
  (list :reason (stop-reason condition)
        :detail (stop-detail condition)
        :type (class-name-text (shown-class condition))
        :class (class-name-text (class-of condition))
        :supertypes (supertype-texts condition)
        :message message
        :slots (slot-texts condition)
        :restarts restart-texts
        :frames frames
        :total total
        :locals locals))

(defun snapshot-plist (condition restarts)
  "Everything that is told of CONDITION. Runs in its thread, inside Swank's debugging environment."
  (take-over-stack)
  (let ((restarts (restart-texts (offered-restarts restarts))))
    (with-printing-time
      ;; the message first: it is what the time should last for
      (let ((message (message-text condition)))
        (multiple-value-bind (frames total first-user) (frame-list condition)
          (condition-plist condition restarts :message message :frames frames :total total
                                              :locals (and first-user (local-texts first-user))))))))

(defun capture (condition)
  "A snapshot for a condition whose thread will not stay stopped."
  (swank/backend:call-with-debugging-environment
   (lambda () (snapshot-plist condition (compute-restarts condition)))))
