;;;; Describes stopped threads, evaluates in their frames, and leaves their stops. These functions run in the stopped thread.

(in-package #:swank-client/portable)

(defconstant +frames-of-report+ 200 "Frames that a report has.")

(defconstant +call-limit+ 300 "Characters of a frame's call.")

(defconstant +locals-limit+ 100 "Variables shown of one frame.")

;;; Which stop it is

(defvar *stop-numbers* '() "((RESTARTS . NUMBER) ...) of the latest stops. Each stop has its own list of restarts.")

(defvar *last-stop* 0 "The number of the latest stop.")

(defun stop-number ()
  "The number of this thread's stop."
  (with-lock (*lock*)
    (let ((known (assoc *sldb-restarts* *stop-numbers* :test #'eq)))
      (cond (known (cdr known))
            (t (push (cons *sldb-restarts* (incf *last-stop*)) *stop-numbers*)
               (setf *stop-numbers* (subseq *stop-numbers* 0 (min 500 (length *stop-numbers*))))
               *last-stop*)))))

(defun at-stop (number call)
  "Evaluate CALL if this thread is in stop NUMBER, else return (:stale): the thread may have resumed while the request waited."
  (if (eql number (stop-number)) (eval call) '(:stale)))

(defun thread-name-text (thread)
  "The name of THREAD, which can be any object."
  (or (or-nil (princ-to-string (swank/backend:thread-name thread))) "<error printing the name>"))

(defun stop-identity ()
  "A plist of the number of this thread's stop, and of the thread's name."
  (list :number (stop-number)
        :thread-name (thread-name-text (swank/backend:current-thread))
        :own nil))

;;; Frames

(defun all-frames ()
  "The frames of this stopped thread, innermost first."
  (swank/backend:compute-backtrace 0 nil))

(defun frame-call (frame)
  "The call of FRAME on one line."
  (let ((text (or-nil (with-bounded-printing (:length 10 :level 4)
                        (let ((*package* *buffer-package*))
                          (truncated 2000 (lambda (stream) (swank/backend:print-frame frame stream))))))))
    (if text
        (let ((line (bare-call (on-one-line text)))) (subseq line 0 (min +call-limit+ (length line))))
        "<error printing frame>")))

(defun runtime-call-p (call)
  "True if CALL, the text of a frame, is of CALL-USER, below which the frames belong to the runtime, or of a form in it, which CLISP shows."
  (or (search "CALL-USER" call) (search "SWANK-CLIENT/PORTABLE" call)))

(defun frame-kinds (calls)
  "The kinds of the frames with CALLS. Those from CALL-USER on are below the user's code; without it, all are the user's."
  (let ((border (position-if #'runtime-call-p calls)))
    (loop for call in calls
          for index from 0
          collect (cond ((and border (>= index border)) :toplevel)
                        ((machinery-p index call) :system)
                        (t :user)))))

(defun own-frame-p (index)
  "True if the frame INDEX is of a function of Swank or of this runtime that has no name, such as the one that interrupts a thread."
  (loop for (name) in (frame-variables index) thereis (eql 0 (search "SWANK" name))))

(defun frame-lists ()
  "=> ((INDEX CALL KIND) ...) of all frames"
  (let ((calls (mapcar #'frame-call (all-frames))))
    (loop with outermost-p = t
          for call in calls
          for kind in (frame-kinds calls)
          for index from 0
          do (when outermost-p (setf outermost-p (or (eq kind :system) (own-frame-p index))))
          collect (list index call (if (and outermost-p (eq kind :user)) :system kind)))))

(defun variable-name (name)
  "NAME of a variable, as the Lisp's debugger has it, as text: native code of ECL has strings such as \"\\\"PKG::X\\\"\"."
  (let ((text (if (stringp name) name (or-nil (let ((*package* *buffer-package*)) (prin1-to-string name))))))
    (string-left-trim "|" (string-trim "\"" (or text "?")))))

(defun frame-variables (index)
  "((NAME . VALUE) ...) of frame INDEX, or none where this Lisp cannot tell them."
  (or-nil
    (loop for local in (swank/backend:frame-locals index)
          collect (cons (variable-name (getf local :name)) (getf local :value)))))

(defun local-texts (index)
  "((NAME VALUE) ...) of the variables of frame INDEX, for a report."
  (loop for (name . value) in (frame-variables index)
        repeat +locals-limit+
        collect (list name (line-text value 500))))

;;; The report

(defun stop-reason (condition)
  "The reason for a stop at CONDITION."
  (cond ((typep condition 'interrupted) :interrupt)
        ((eq (type-of condition) 'simple-condition) :break)
        (t :error)))

(defun offered-restarts ()
  "The restarts of this stop without Swank's own, which are outside of the evaluation."
  (let ((last (and *outermost-restart* (position *outermost-restart* *sldb-restarts*))))
    (subseq *sldb-restarts* 0 (and last (1+ last)))))

(defun restart-texts (restarts)
  "((NAME TEXT) ...) of RESTARTS."
  (loop for restart in restarts
        collect (list (princ-to-string (or (restart-name restart) ""))
                      (or (or-nil (values (truncated 500 (lambda (stream) (princ restart stream))))) "<error printing restart>"))))

(defun snapshot (condition restarts)
  "A plist that describes CONDITION and the stack, with RESTARTS."
  (let* ((frames (or-nil (frame-lists)))
         (users (remove :user frames :key #'third :test-not #'eq))
         (*package* *buffer-package*))
    (list :reason (stop-reason condition)
          :detail '()
          :type (class-text (shown-class condition))
          :class (class-text (class-of condition))
          :supertypes (supertype-texts condition)
          :message (message-text condition)
          :slots (slot-texts condition)
          :restarts (restart-texts restarts)
          :frames (subseq frames 0 (min +frames-of-report+ (length frames)))
          :total (length frames)
          :locals (and users (local-texts (first (first users))))
          :caller-locals (and (rest users) (local-texts (first (second users)))))))

(defun stop ()
  "A report of this thread's stop, with the warnings before it."
  (note-level *sldb-level*)
  (when *evaluation* (flush-outputs *evaluation*))
  (append (stop-identity)
          (snapshot *swank-debugger-condition* (offered-restarts))
          (and *evaluation* (taken-facts *evaluation*))))

(defmacro with-frame ((level index) &body body)
  "Run BODY, or return the reason if there is no such frame."
  `(cond ((/= ,level *sldb-level*) '(:stale))
         ((not (< -1 ,index (length (all-frames)))) (list :no-frame (length (all-frames))))
         (t ,@body)))

(defun function-text (call)
  "The name of the function in CALL, the text of a frame."
  (let* ((start (if (eql #\( (and (plusp (length call)) (char call 0))) 1 0)))
    (subseq call start (or (position-if (lambda (char) (find char " )")) call :start start) (length call)))))

(defun frames (level start end)
  "Describe the frames from START to END. => (:stale) | (:frames (PLIST ...) TOTAL DIRECTORY NIL)"
  (if (/= level *sldb-level*)
      '(:stale)
      (let ((all (frame-lists)))
        (list :frames
              (loop for (index call kind) in all
                    when (<= start index (1- end))
                      collect (let ((variables (frame-variables index)))
                                (list :index index :call call :kind kind :function (function-text call)
                                      :restartable nil :source nil :methods '()
                                      :locals (variable-entries variables) :total-locals (length variables))))
              (length all)
              (current-folder)
              nil))))

(defun variable-entries (variables)
  "((NAME VALUE NIL) ...) of VARIABLES. Objects have no ids here."
  (loop for (name . value) in variables
        repeat +locals-limit+
        collect (list name (line-text value 500) nil)))

(defun frame-locals (level index)
  "The variables of frame INDEX. => (:stale) | (:no-frame TOTAL) | (:locals ((NAME VALUE NIL) ...) TOTAL (CATCH-TAG ...) NIL)"
  (with-frame (level index)
    (let ((variables (frame-variables index)))
      (list :locals (variable-entries variables) (length variables)
            (or-nil (mapcar (lambda (tag) (line-text tag 100)) (swank/backend:frame-catch-tags index)))
            nil))))

;;; Evaluating in a stop. The stopped thread must not stop one level deeper.

(defvar *attempts* '() "The tokens of the evaluations that clients make in this stopped thread, innermost first.")

(defun error-entry (condition)
  "(:error TYPE MESSAGE) for CONDITION."
  (list :error (class-text (shown-class condition)) (message-text condition)))

(defun call-attempt (token function)
  "=> the result of FUNCTION | (:error TYPE MESSAGE) | (:interrupted) if END-ATTEMPT was called with TOKEN"
  (catch 'attempt
    (let ((*attempts* (cons token *attempts*)))
      (call-with-debugger-hook (lambda (condition hook)
                                 (declare (ignore hook))
                                 (throw 'attempt (error-entry condition)))
                               (lambda ()
                                 (handler-case (funcall function)
                                   (serious-condition (condition) (error-entry condition))))))))

(defun end-attempt (thread-id token)
  "Cancel the attempt with TOKEN in the stopped thread THREAD-ID. False if there is no such thread."
  (let ((thread (swank/backend:find-thread thread-id)))
    (when thread
      (swank/backend:interrupt-thread thread
                                      (lambda ()
                                        (when (member token *attempts* :test #'equal) (throw 'attempt '(:interrupted)))))
      t)))

(defun one-form (source)
  "The form of SOURCE, one expression."
  (let* ((eof (list nil))
         (stream (make-string-input-stream source))
         (form (read stream nil eof)))
    (when (or (eq form eof) (not (eq eof (read stream nil eof)))) (error "Expected one expression."))
    form))

(defun forms-of (source)
  "The forms of SOURCE as one form."
  (let ((stream (make-string-input-stream source)) (eof (list nil)))
    (cons 'progn (loop for form = (read stream nil eof) until (eq form eof) collect form))))

(defun set-names (index before)
  "The names of the variables of frame INDEX that had other values BEFORE, as FRAME-VARIABLES gives them."
  (loop for (name . value) in (frame-variables index)
        for (nil . old) in before
        unless (eql value old) collect name))

(defun eval-in-frame (level index attempt source package-name &optional (limit 20000))
  "Evaluate SOURCE in frame INDEX. It is read in the package PACKAGE-NAME or, if that is NIL, in the session's.
=> (:stale) | (:no-frame TOTAL) | (:no-such-package) | (:error TYPE MESSAGE PACKAGE-NAME SET) | (:interrupted SET)
| (:values PLIST (STDOUT OMITTED) (STDERR OMITTED) PACKAGE-NAME SET)"
  (with-frame (level index)
    (let ((package (if package-name (find-package-named package-name) *buffer-package*)))
      (if (null package)
          '(:no-such-package)
          (let* ((*package* package)
                 (stdout (make-string-output-stream))
                 (stderr (make-string-output-stream))
                 (before (frame-variables index))
                 (result (call-attempt attempt
                                       (lambda ()
                                         (let* ((*standard-output* stdout)
                                                (*error-output* stderr)
                                                (values (multiple-value-list (evaluate-in-frame (forms-of source) index *buffer-package*))))
                                           (texts-of-values values (or limit 20000)
                                                            (lambda (value each) (value-text value each 200 20)))))))
                 (set (set-names index before)))
            (case (first result)
              (:error (append result (list (package-name package) set)))
              (:interrupted (list :interrupted set))
              (t (list :values result (kept-text stdout) (kept-text stderr) (package-name package) set))))))))

(defun kept-text (stream)
  "(TEXT OMITTED) of what was written to the string stream STREAM."
  (let* ((text (get-output-stream-string stream)) (shown (min 20000 (length text))))
    (list (subseq text 0 shown) (- (length text) shown))))

;;; Leaving a stop

(defun note-level (level)
  "Note for other threads that the evaluation of this thread is stopped in LEVEL of the debugger, or runs if that is 0."
  (when *evaluation* (setf (evaluation-level *evaluation*) level)))

(defun leave-through (restart &rest values)
  "Leave the stop by invoking RESTART with VALUES. => (:returned) if it transfers no control, or does not return"
  (note-level (1- *sldb-level*))
  (apply #'invoke-restart restart values)
  (note-level *sldb-level*)
  '(:returned))

(defun wrong-count (restart count)
  "(:wrong-count FEWEST MOST ASKS-P) if RESTART is a standard one, or RETRY, and does not take COUNT arguments, or NIL.
A wrong call would replace the stop by another one. Of other restarts the number of arguments is not known."
  (let ((expected (case (restart-name restart)
                    ((use-value store-value) 1)
                    ((abort continue muffle-warning retry) 0)
                    (t count))))
    (unless (= count expected) (list :wrong-count expected expected nil))))

(defun argument-values (attempt sources)
  "(:values VALUE ...) of the expressions SOURCES, or a failure of CALL-ATTEMPT."
  (call-attempt attempt (lambda ()
                          (let ((*package* *buffer-package*))
                            (cons :values (mapcar (lambda (source) (eval (one-form source))) sources))))))

(defun invoke-offered-restart (level index attempt sources &optional stdin)
  "Leave the stop at LEVEL through its restart INDEX, with the values of SOURCES as arguments.
=> (:stale) | (:no-restart) | (:cannot-ask) | (:wrong-count FEWEST MOST ASKS-P) | (:error TYPE MESSAGE) | (:interrupted) | (:returned), or does
not return"
  (let ((restart (nth index *sldb-restarts*)))
    (cond ((/= level *sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          (stdin '(:cannot-ask))
          ((wrong-count restart (length sources)))
          (t (let ((given (argument-values attempt sources)))
               (if (eq :values (first given))
                   (apply #'leave-through restart (rest given))
                   given))))))

(defun continue-stop (level &optional stdin)
  "Continue from this stop. => (:stale) | (:no-restart) | (:cannot-ask), or does not return"
  (let ((restart (find 'continue (offered-restarts) :key #'restart-name)))
    (cond ((/= level *sldb-level*) '(:stale))
          ((null restart) '(:no-restart))
          (stdin '(:cannot-ask))
          (t (leave-through restart)))))

(defun abort-stop ()
  "Unwind this stopped thread. => (:no-restart) | (:returned) if the restart transfers no control, or does not return"
  (let ((restart (or (and *sldb-quit-restart* (find-restart *sldb-quit-restart*))
                     (first (last (compute-restarts))))))
    (cond ((null restart) '(:no-restart))
          (t (when *evaluation* (note-unwinding *evaluation*))
             (leave-through restart)))))

(defun return-from-frame (level index attempt source)
  "Return from frame INDEX with the values of SOURCE, where this Lisp can."
  (with-frame (level index)
    (let ((form (call-attempt attempt (lambda () (list :form (forms-of source))))))
      (if (eq :form (first form))
          (let ((refusal (call-attempt attempt (lambda () (swank/backend:return-from-frame index (second form))))))
            (if (eq :error (first refusal)) refusal (list :error "ERROR" "The frame cannot be left.")))
          form))))

(defun restart-frame (level index)
  "Call the function of frame INDEX again, where this Lisp can."
  (with-frame (level index)
    (let ((refusal (call-attempt "" (lambda () (swank/backend:restart-frame index)))))
      (if (and (consp refusal) (eq :error (first refusal))) refusal (list :error "ERROR" "The frame cannot be restarted.")))))
