;;;; The state of each running evaluation.

(in-package #:swank-client/evaluations)

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
  ;; those of files that it loads or compiles: see evaluate/warnings.lisp; latest first
  (file-warnings '() :type list)
  (file-warning-count 0 :type fixnum)
  ;; ((NAME-TEXT FILE) ...) of the redefinitions, and of what still uses a redefined macro: see evaluate/definitions.lisp; latest first
  (redefinitions '() :type list)
  (redefinition-count 0 :type fixnum)
  (stale-users '() :type list)
  ;; ((NAME . CODE) ...) of functions and methods that it has replaced; latest first
  (replaced '() :type list)
  ;; a list of the table of the program's macros by the functions that they call, or of NIL while nobody has asked
  (macros (list nil) :type list)
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
  ;; kinds of interrupts that were sent to its thread and have not ended
  (pending-interrupts '() :type list)
  ;; numbers of the last interrupt that took effect, and of the last one requested
  (interrupts 0 :type fixnum)
  (interrupts-wanted 0 :type fixnum)
  ;; true after its code has started a thread
  (threaded nil)
  ;; lines that the client has given since the start and that the code has not read
  (given-input '() :type list)
  ;; lists of values that the code gets when it reads the calls of GIVEN-VALUE in those lines
  (given-values '() :type list)
  ;; true if its client gives input when the code asks for it
  (prompted nil)
  ;; true if errors end the evaluation instead of stopping it
  (unwind nil)
  ;; true if the session's package becomes the package that the code sets
  (updates-package t))

(defmethod print-object ((evaluation evaluation) stream)
  (print-unreadable-object (evaluation stream :type t)
    (prin1 (evaluation-id evaluation) stream)))

(defvar *evaluation* nil "The evaluation that this thread runs.")

(defvar *starting-evaluation* nil "The evaluation whose code started this thread, or NIL.")

(defvar *return-hooks* '() "Functions of an evaluation and its code, which has returned. Each returns a plist for the client, or NIL.")
