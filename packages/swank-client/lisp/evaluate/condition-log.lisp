;;;; Logs the conditions that an evaluation and the threads that it starts signal, and the handlers that took them. While an evaluation
;;;; has such a log, SBCL's function that finds handlers is encapsulated: it then calls each handler through a function that notes the call.

(in-package #:swank-client/evaluate)

(defconstant +logged-limit+ 40 "Most different conditions logged between two outcomes. Others are counted.")

(defconstant +reports-limit+ 3 "Most reports shown of conditions that differ only in these.")

(defconstant +compared-elements+ 20 "Elements of a list in two conditions that are compared.")

(defconstant +examined-frames+ 100 "Frames examined to find the function that signalled a condition.")

(defstruct (condition-log (:type vector) (:conc-name log-) (:copier nil))
  "The conditions that one evaluation and its threads have signalled since the last outcome."
  ;; only conditions of this type
  type
  ;; true while the evaluation runs
  (open nil)
  (lock (sb-thread:make-mutex :name "swank-client conditions"))
  ;; latest first
  (entries '() :type list)
  ;; conditions that are not in ENTRIES, and those that Lisp's own functions signalled and handled
  (others 0 :type fixnum)
  (internal 0 :type fixnum))

(defstruct (logged (:type vector) (:copier nil))
  "Conditions that differ only in their reports."
  class
  ;; the name of the function that signalled them, and that of the program's function that called it, or NIL
  place
  caller
  ;; the type in the clause of the handler that took them, and the name of the function that the clause is in; both NIL if none did
  clause
  handler
  (count 0 :type fixnum)
  ;; the first ones with different parts, latest first, without those that may refer to the stack
  (conditions '() :type list)
  ;; true if there were others
  (more nil))

;;; Where a condition was signalled

(defun no-program-p (name)
  "True if NAME is that of a function of Lisp, of the runtime, or of Lisp's standard."
  (or (system-name-p name)
      (let ((symbol (name-symbol name)))
        (and symbol (eq (symbol-package symbol) (find-package "COMMON-LISP"))))))

(defun top-level-name-p (name)
  "True if NAME is that of a frame below the forms of an evaluation or the function of a thread, or of code without a name in these."
  (or (member name '(eval call-user call-own))
      (let ((symbol (name-symbol name)))
        (or (null symbol) (null (symbol-package symbol))))))

(defun home-of-handler (name)
  "The name to report for the function NAME: for a handler without a name of its own, that of the function around it."
  (if (and (consp name) (stringp (second name)))
      (or (second (member :in name)) name)
      name))

(defun signalling-place ()
  "=> the name of the function that signals a condition now, and that of the program's function that called it if the first one is Lisp's;
:TOP-LEVEL for the forms of the evaluation"
  (loop with place = nil
        repeat +examined-frames+
        for frame = (top-frame) then (frame-down frame)
        for name = (and frame (home-of-handler (frame-name frame)))
        until (null frame)
        unless (system-name-p name)
          do (cond ((top-level-name-p name) (return (if place (values place :top-level) :top-level)))
                   ((no-program-p name) (unless place (setf place name)))
                   (t (return (if place (values place name) name))))
        finally (return place)))

;;; Which handler took it

(defun handler-home (handler)
  "The name of the function that HANDLER belongs to: the one around it, or its own."
  (let* ((name (handler-name handler))
         (home (and (consp name) (second (member :in name)))))
    (cond ((null home) name)
          ((and (symbolp home) (null (symbol-package home))) :top-level)
          ((equal home '(lambda ())) :top-level)
          (t home))))

(defvar *original-handlers* '() "((WATCHED . ORIGINAL) ...) for the handlers that were replaced while this thread signals conditions.")

(defun original-handler (handler)
  "The handler of the program that HANDLER replaces, or HANDLER."
  (let ((entry (assoc handler *original-handlers*)))
    (if entry (cdr entry) handler)))

(defun runtime-handler-p (handler)
  "True if HANDLER belongs to the runtime."
  (let ((symbol (name-symbol (handler-name handler))))
    (and symbol (runtime-symbol-p symbol))))

(defun watched-handler (test handler note)
  "A handler that calls NOTE with TEST and HANDLER, calls HANDLER, and then calls NOTE with NIL."
  (if (runtime-handler-p handler)
      (lambda (condition)
        (let ((*condition-log* nil))
          (funcall note :runtime :runtime)
          (funcall handler condition)
          (funcall note nil nil)))
      (lambda (condition)
        (funcall note test handler)
        (funcall handler condition)
        (funcall note nil nil))))

(defun watched-clusters (note)
  "=> the handlers that are active now, replaced by ones that call NOTE, and the value of *ORIGINAL-HANDLERS* for them"
  (let ((originals '()))
    (flet ((watched (entry)
             (destructuring-bind (test . handler) entry
               (let* ((original (original-handler handler))
                      (watched (watched-handler test original note)))
                 (push (cons watched original) originals)
                 (cons test watched)))))
      (let ((clusters (loop for cluster in *handler-clusters* collect (mapcar #'watched cluster))))
        (values clusters originals)))))

(defun signal-watched (signal condition note)
  "Call SIGNAL, which calls the handlers of CONDITION. When it has returned or was left, call NOTE with the test and the handler that took
CONDITION, or with NIL and NIL if none did."
  (let ((test nil) (handler nil) (returned nil))
    (multiple-value-bind (clusters originals)
        (watched-clusters (lambda (called-test called) (setf test called-test handler called)))
      (unwind-protect
           (let ((*handler-clusters* clusters)
                 (*original-handlers* originals))
             (multiple-value-prog1 (funcall signal condition) (setf returned t)))
        (let ((*condition-log* nil))
          (recording-faults (funcall note (and (not returned) test) (and (not returned) handler))))))))

;;; Adding to the log

(defun kept-safely-p (condition)
  "True if CONDITION can be printed later: neither it nor its parts are on the stack."
  (loop for part in (cons condition (instance-parts condition))
        never (or (on-stack-p part)
                  (loop for rest = part then (cdr rest)
                        repeat 20
                        while (consp rest)
                        thereis (or (on-stack-p rest) (on-stack-p (car rest)))))))

(defun alike-p (one other)
  "True if ONE and OTHER, parts of conditions, probably print alike. Calls no method."
  (typecase one
    (cons (loop repeat +compared-elements+
                for rest = one then (cdr rest)
                for other-rest = other then (cdr other-rest)
                while (and (consp rest) (consp other-rest))
                always (alike-p (car rest) (car other-rest))
                finally (return (eq (consp rest) (consp other-rest)))))
    (string (and (stringp other) (string= one other)))
    (t (eql one other))))

(defun same-report-p (one other)
  "True if ONE and OTHER, conditions of one class, were made with the same arguments."
  ;; the first part holds the slots that SBCL has computed since
  (let ((parts (rest (instance-parts one))) (other-parts (rest (instance-parts other))))
    (and (= (length parts) (length other-parts)) (every #'alike-p parts other-parts))))

(defun keep-report (entry condition)
  "Count CONDITION in ENTRY, and keep it if it may report something new and can be printed later."
  (incf (logged-count entry))
  (unless (member condition (logged-conditions entry) :test #'same-report-p)
    (cond ((>= (length (logged-conditions entry)) +reports-limit+) (setf (logged-more entry) t))
          ((kept-safely-p condition) (push condition (logged-conditions entry))))))

(defun same-entry-p (entry class place caller clause handler)
  "True if ENTRY is for conditions with these facts."
  (and (eq class (logged-class entry))
       (equal place (logged-place entry))
       (equal caller (logged-caller entry))
       (equal clause (logged-clause entry))
       (equal handler (logged-handler entry))))

(defun reported-class (condition)
  "The class to report for CONDITION: that of error reports, unless it says nothing."
  (let ((class (shown-class condition)))
    (if (member (class-name class) '(condition serious-condition error)) (class-of condition) class)))

(defun add-condition (log condition place caller clause handler)
  "Add CONDITION with the other facts to LOG."
  (let ((class (reported-class condition)))
    (with-system-mutex ((log-lock log))
      (let ((known (find-if (lambda (entry) (same-entry-p entry class place caller clause handler)) (log-entries log))))
        (cond (known (keep-report known condition))
              ((>= (length (log-entries log)) +logged-limit+) (incf (log-others log)))
              (t (let ((entry (make-logged :class class :place place :caller caller :clause clause :handler handler)))
                   (keep-report entry condition)
                   (push entry (log-entries log)))))))))

(defun log-condition (log condition place caller test handler)
  "Log CONDITION. The handler HANDLER with TEST took it, or none if both are NIL."
  (cond ((eq handler :runtime))
        ((null handler) (add-condition log condition place caller nil nil))
        ((no-program-p (handler-home handler)) (with-system-mutex ((log-lock log)) (incf (log-internal log))))
        (t (add-condition log condition place caller (handled-type test) (handler-home handler)))))

(defun logged-now-p (log condition)
  "True if CONDITION, which this thread signals, belongs into LOG. There is no stack or memory left to log exhaustion."
  (and (log-open log)
       (zerop *sldb-level*)
       (or *in-user-code* (null *evaluation*))
       (not (typep condition '(or storage-condition sb-ext:step-condition)))
       (typep condition (log-type log))))

(defun signal-and-log (log signal condition)
  "Call SIGNAL, which calls the handlers of CONDITION, and log which one took it."
  (multiple-value-bind (place caller) (let ((*condition-log* nil)) (recording-faults (signalling-place)))
    (signal-watched signal condition
                    (lambda (test handler) (log-condition log condition place caller test handler)))))

(defun log-signal (signal condition)
  "Encapsulates SBCL's function SIGNAL: log CONDITION if this thread has a log."
  (let ((log *condition-log*))
    (if (and log (logged-now-p log condition))
        (signal-and-log log signal condition)
        (funcall signal condition))))

;;; Beginning and ending

(defvar *open-logs* 0 "The number of evaluations with a log. Changed only with *OPEN-LOGS-LOCK* held.")

(defvar *open-logs-lock* (sb-thread:make-mutex :name "swank-client open logs") "Held while *OPEN-LOGS* changes.")

(defun begin-log (log)
  "Open LOG. The first one encapsulates SBCL's function."
  (with-system-mutex (*open-logs-lock*)
    (when (zerop *open-logs*) (encapsulate-function *signal-function* 'condition-log #'log-signal))
    (incf *open-logs*)
    (setf (log-open log) t)))

(defun end-log (log)
  "Close LOG unless an interrupt kept it from being opened. The last one undoes the encapsulation."
  (with-system-mutex (*open-logs-lock*)
    (when (log-open log)
      (setf (log-open log) nil)
      (when (zerop (decf *open-logs*)) (unencapsulate-function *signal-function* 'condition-log)))))

(defun call-with-log (evaluation function)
  "Call FUNCTION, which runs EVALUATION, with the log of EVALUATION if it has one."
  (let ((log (evaluation-condition-log evaluation)))
    (if (null log)
        (funcall function)
        (unwind-protect (progn (begin-log log)
                               (let ((*condition-log* log)) (funcall function)))
          (end-log log)))))

(defun named-condition-type (text)
  "The type of conditions that TEXT names, or NIL."
  (let ((type (symbol-named text *package*)))
    (and type
         (find-class type nil)
         (subtypep type 'condition)
         type)))

;;; The report

(defun place-name (name)
  "NAME, of a place or handler, as text."
  (cond ((null name) nil)
        ((eq name :top-level) "top level")
        (t (line-text-in-time (user-name name) 200))))

(defun logged-messages (entry)
  "The different reports of the conditions in ENTRY, oldest first."
  (remove-duplicates (loop for condition in (reverse (logged-conditions entry))
                           for text = (in-time nil (report-text condition 300))
                           when text collect text)
                     :test #'string= :from-end t))

(defun logged-plist (entry)
  "A plist that describes ENTRY, conditions in a log."
  (list :type (class-name-text (logged-class entry))
        :messages (logged-messages entry)
        :more-messages (logged-more entry)
        :place (place-name (logged-place entry))
        :caller (place-name (logged-caller entry))
        :clause (and (logged-clause entry) (line-text-in-time (logged-clause entry) 200))
        :handler (place-name (logged-handler entry))
        :count (logged-count entry)))

(defun taken-conditions (evaluation)
  "Remove the conditions so far. => (:conditions PLIST), or NIL if EVALUATION has no log"
  (let ((log (evaluation-condition-log evaluation)))
    (when log
      (multiple-value-bind (entries others internal)
          (with-system-mutex ((log-lock log))
            (values (shiftf (log-entries log) '()) (shiftf (log-others log) 0) (shiftf (log-internal log) 0)))
        (let ((*package* (session-package-now (evaluation-session evaluation))))
          (list :conditions (list :entries (with-printing-time (mapcar #'logged-plist (reverse entries)))
                                  :others others
                                  :internal internal)))))))
