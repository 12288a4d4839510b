;;;; What is kept for each client of the image, and what is known of a running evaluation.

(in-package #:@runtime@)

(defparameter *history-variables* '(* ** *** + ++ +++ / // /// -))

(defparameter *syntax-variables*
  '(*print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym* *print-length* *print-level* *print-lines*
    *print-miser-width* *print-pprint-dispatch* *print-pretty* *print-radix* *print-readably* *print-right-margin*
    *read-base* *read-default-float-format* *read-eval* *read-suppress*)
  "What WITH-STANDARD-IO-SYNTAX binds besides package and readtable: what one client sets is not for the REPL of another.")

(defparameter *session-variables* (append *history-variables* *syntax-variables*))

(defun fresh-values ()
  "Of the *SESSION-VARIABLES*: no history, and the syntax that everybody has."
  (append (mapcar (constantly nil) *history-variables*)
          (mapcar #'sb-ext:symbol-global-value *syntax-variables*)))

(defstruct session
  "What a REPL keeps from one request to the next, for one client."
  connection
  ;; true if its code cannot end the image
  (protects-image nil)
  (package (find-package "COMMON-LISP-USER"))
  (readtable (copy-readtable))
  ;; of the *SESSION-VARIABLES*
  (values (fresh-values) :type list)
  (ledger (make-ledger))
  (evaluations (make-hash-table :synchronized t))
  ;; true once the client is gone
  (departed nil))

(defvar *sessions* (make-hash-table :test 'eq :weakness :key :synchronized t))

(defun session-of (connection)
  (or (gethash connection *sessions*)
      (sb-ext:with-locked-hash-table (*sessions*)
        (or (gethash connection *sessions*)
            (setf (gethash connection *sessions*) (new-session connection))))))

(defun connection-open-p (connection)
  (member connection swank::*connections*))

(defun new-session (connection)
  "A session for CONNECTION, whose client may have gone since it asked for what needs one."
  (let ((open (connection-open-p connection)))
    (when open (add-hooks))
    (make-session :connection connection :departed (not open))))

;;; Nothing of ours is called when no client of ours is there

(defparameter *closing-hooks* '(give-back-output clean-up))

(defun without-closing-hooks (hooks)
  (remove-if (lambda (hook) (member hook *closing-hooks*)) hooks))

(defun add-hooks ()
  "Others add and remove theirs at the same time, so that each change is made in one step, here and in LEAVE-UNLESS-NEEDED."
  (sb-ext:atomic-update (symbol-value 'swank::*connection-closed-hook*)
                        (lambda (hooks) (append *closing-hooks* (without-closing-hooks hooks))))
  ;; the Emacs that has the output may have gone before
  (give-back-output)
  (encapsulate-lisp)
  (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (adjoin 'send-last-words hooks)))
  (guard-c-locks))

(defun clients-p ()
  "True while anybody has a session."
  (sb-ext:with-locked-hash-table (*sessions*)
    (loop for session being the hash-values of *sessions* thereis (not (session-departed session)))))

(defun leave-unless-needed ()
  (sb-ext:with-locked-hash-table (*sessions*)
    (unless (clients-p)
      (unencapsulate-lisp)
      (sb-ext:atomic-update (symbol-value 'swank::*connection-closed-hook*) #'without-closing-hooks)
      (sb-ext:atomic-update (symbol-value 'sb-ext:*exit-hooks*) (lambda (hooks) (remove 'send-last-words hooks)))
      (unguard-c-locks)
      ;; which then finds that nothing will come any more
      (sb-thread:signal-semaphore *flusher-wakeup*))))

(defun current-session ()
  (session-of swank::*emacs-connection*))

(defmacro with-session-variables ((session) &body body)
  `(progv *session-variables* (session-values ,session)
     ,@body))

(defstruct evaluation
  id
  (thread sb-thread:*current-thread*)
  session
  stdout
  stderr
  ;; latest first
  (warnings '() :type list)
  (warning-count 0 :type fixnum)
  (warnings-dropped 0 :type fixnum)
  (form 0 :type fixnum)
  ;; held while its thread is interrupted, and while OVER becomes true
  (lock (sb-thread:make-mutex :name "swank-client evaluation"))
  (over nil)
  ;; kinds of what its thread was interrupted for and has not come to yet
  (on-the-way '() :type list)
  ;; numbers of the last interrupt that took effect, and of the last that was asked for
  (interrupts 0 :type fixnum)
  (interrupts-wanted 0 :type fixnum)
  ;; true if errors end the evaluation rather than stop it
  (unwind nil)
  ;; true if the session's package follows the code's
  (moves-session t))

(defmethod print-object ((evaluation evaluation) stream)
  (print-unreadable-object (evaluation stream :type t)
    (prin1 (evaluation-id evaluation) stream)))

(defmethod print-object ((session session) stream)
  (print-unreadable-object (session stream :type t :identity t)))

(defvar *evaluation* nil "The evaluation that this thread runs.")
(defvar *source* nil "The stream that the forms are read from.")
(defvar *input* nil "The stream that the code reads its standard input from.")
(defvar *outermost-restart* nil "The restart behind which Swank's own begin.")

(define-condition interrupted (condition) ()
  (:report "The evaluation was interrupted."))

(define-condition breakpoint-reached (condition)
  ((id :initarg :id :reader reached-breakpoint)
   (text :initarg :text :reader reached-text))
  (:report (lambda (condition stream) (write-string (reached-text condition) stream))))

(defvar *breakpoint-call* nil "(NAME . ARGUMENTS) of the call that a breakpoint stopped before it began.")
(defvar *breakpoint-variables* '() "((NAME . VALUE) ...) of that call's arguments.")
(defvar *in-user-code* nil "True while a form of the client runs, as opposed to what is ours around it.")
(defvar *departure-hooks* '() "Functions of a session whose client has gone.")
