;;;; The state of a running evaluation, and of the thread that runs it.

(in-package #:swank-client/sessions)

(defstruct (evaluation (:copier nil) (:predicate nil))
  "A request to evaluate code, from its start to its reply."
  id
  (thread sb-thread:*current-thread*)
  session
  (started (get-internal-real-time) :type integer)
  stdout
  stderr
  ;; latest first
  (warnings '() :type list)
  (warning-count 0 :type fixnum)
  (warnings-dropped 0 :type fixnum)
  ;; those of files that it loads or compiles: see evaluate/file-warnings.lisp; latest first
  (file-warnings '() :type list)
  (file-warning-count 0 :type fixnum)
  ;; ((NAME-TEXT FILE) ...) of the redefinitions, and of what still uses a redefined macro: see evaluate/redefinitions.lisp; latest first
  (redefinitions '() :type list)
  (redefinition-count 0 :type fixnum)
  (stale-users '() :type list)
  ;; truenames of the files that it has begun to compile, latest first
  (compiled-files '() :type list)
  ;; the log of conditions, if the client wants one: see evaluate/condition-log.lisp
  (condition-log nil)
  (form 0 :type fixnum)
  ;; held while its thread is interrupted, and while OVER becomes true
  (lock (sb-thread:make-mutex :name "swank-client evaluation"))
  (over nil)
  ;; the internal real time at which it was first unwound, or NIL
  (unwound-at nil :type (or null integer))
  ;; kinds of interrupts that were sent to its thread and have not run yet
  (pending-interrupts '() :type list)
  ;; numbers of the last interrupt that took effect, and of the last one requested
  (interrupts 0 :type fixnum)
  (interrupts-wanted 0 :type fixnum)
  ;; true after its code has started a thread
  (threaded nil)
  ;; lines that the client has given since the start and that the code has not read
  (given-input '() :type list)
  ;; values that the code gets when it reads the calls of GIVEN-VALUE in those lines
  (given-values '() :type list)
  ;; true if errors end the evaluation instead of stopping it
  (unwind nil)
  ;; true if the session's package becomes the package that the code sets
  (updates-package t))

(defmethod print-object ((evaluation evaluation) stream)
  (print-unreadable-object (evaluation stream :type t)
    (prin1 (evaluation-id evaluation) stream)))

(defvar *evaluation* nil "The evaluation that this thread runs.")

(defvar *starting-evaluation* nil "The evaluation whose code started this thread, or NIL.")

(defvar *condition-log* nil "The log of the conditions that this thread signals, or NIL.")

(defvar *source* nil "The stream that the forms are read from.")

(defvar *input* nil "The stream that the code reads its standard input from.")

(defvar *stop-hook* nil "A function that this thread calls before it stops in the debugger, or NIL.")

(defvar *outermost-restart* nil "The last restart before those of Swank.")

(defvar *breakpoint-call* nil "(NAME . ARGUMENTS) of the call that a breakpoint stopped before it began.")

(defvar *breakpoint-variables* '() "((NAME . VALUE) ...) of that call's arguments.")

(defvar *breakpoint-lambda-list* '() "The lambda list of the function of that call.")

(defvar *in-user-code* nil "True while a form of the client runs, false in the runtime's own code.")

(defvar *for-stepping* nil "True if the code that is evaluated is compiled with stepping information.")
