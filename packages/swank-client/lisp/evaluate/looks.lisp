;;;; Interrupts the threads of evaluations, and looks at the stacks of threads.

(defpackage #:swank-client/looks
  (:documentation "Interrupts of evaluations, and looks at the stacks of other threads.")
  (:use #:common-lisp #:swank-client/sbcl-stack #:swank-client/sbcl-functions #:swank-client/sbcl-threads #:swank-client/evaluations)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex #:world-lock)
  (:import-from #:swank-client/connection #:+patience+ #:call-in-thread #:debugger-level #:in-foreign-code-p #:interrupt-unless-ended
                                          #:value-in-thread)
  (:import-from #:swank-client/waits #:wait-of)
  (:export #:call-in-any-thread #:call-in-evaluation #:look-in-thread #:own-code #:serving-name-p #:threads-inside))

(in-package #:swank-client/looks)

;;; Interrupts

(defun claim-interrupt (evaluation kind)
  "Note that an interrupt of this KIND is sent to EVALUATION's thread, until RELEASE-INTERRUPT. => NIL if EVALUATION is about to end, or the
last interrupt of this KIND has not ended.
Eight interrupts that are queued while a thread runs without interrupts can crash SBCL, because each of them interrupts the one before."
  (with-system-mutex ((evaluation-lock evaluation))
    (unless (or (evaluation-over evaluation) (member kind (evaluation-pending-interrupts evaluation)))
      (push kind (evaluation-pending-interrupts evaluation)))))

(defun release-interrupt (evaluation kind)
  "Note that the interrupt of this KIND has ended."
  (with-system-mutex ((evaluation-lock evaluation))
    (setf (evaluation-pending-interrupts evaluation) (remove kind (evaluation-pending-interrupts evaluation)))))

(defun interrupt-unless-over (evaluation function)
  "Make EVALUATION's thread call FUNCTION, unless it is about to end: interrupting a thread that ends can crash SBCL. => true if it will"
  (with-system-mutex ((evaluation-lock evaluation))
    (unless (evaluation-over evaluation)
      (interrupt-unless-ended (evaluation-thread evaluation) function))))

(defun call-in-evaluation (evaluation kind function &key (wanted-p (lambda () (eq *evaluation* evaluation))) (patience +patience+))
  "Make the thread of EVALUATION call FUNCTION while WANTED-P is true there. CALL-IN-THREAD explains PATIENCE, CLAIM-INTERRUPT KIND."
  ;; a claim without an interrupt would stay
  (sb-sys:without-interrupts
    (when (claim-interrupt evaluation kind)
      (call-in-thread (evaluation-thread evaluation) wanted-p function
                      :interrupt (lambda (thread call)
                                   (declare (ignore thread))
                                   (interrupt-unless-over evaluation call))
                      :ended (lambda () (release-interrupt evaluation kind))
                      :patience patience))))

;;; Looks

;;; A thread is interrupted briefly, and looks at its stack itself. A thread that may hold a lock of the C library is left alone: reading a stack
;;; calls the C library, too.

(defconstant +look-seconds+ 1/2 "Seconds within which a thread must begin to answer.")

(defvar *looking*
  (or (get :swank-client :looking)
      (setf (get :swank-client :looking) (sb-thread:make-mutex :name "swank-client stacks")))
  "Held while any version of the library reads stacks, because SBCL can hang if two threads are interrupted to read theirs.")

(defstruct look
  "A request to a thread to call FUNCTION."
  function
  ;; the address of the system call that the thread waits in, if it waits in one
  address
  ;; :WANTED until the thread begins, then :RUNNING; :DROPPED if it must not begin
  (state :wanted)
  ;; the value of FUNCTION, or a keyword that says why there is none
  answer
  (done (sb-thread:make-semaphore)))

(defun claim-look (look state)
  "Change the state of LOOK from :WANTED to STATE. => true if it was :WANTED"
  (eq :wanted (sb-ext:compare-and-swap (look-state look) :wanted state)))

;;; In the interrupted thread

(defun in-known-call-p (address)
  "True if the interrupt met the system call at ADDRESS."
  ;; the kernel repeats some calls after an interrupt
  (let ((interrupted (car (first (interrupted-places)))))
    (and address interrupted (<= (abs (- address interrupted)) 16))))

(defun answer-for (look)
  "What this interrupted thread answers to LOOK."
  (if (and (in-foreign-code-p) (not (in-known-call-p (look-address look))))
      :foreign
      (handler-case (let ((*break-on-signals* nil))
                      (sb-sys:with-deadline (:seconds nil :override t) (funcall (look-function look))))
        (serious-condition () :failed))))

(defun answer-look (look)
  "Answer LOOK in this interrupted thread, unless it is too late."
  ;; the handler inside must not see the program's own interrupts, such as a timeout, which SBCL makes up for when interrupts are enabled again
  (sb-sys:without-interrupts
    (when (claim-look look :running)
      (setf (look-answer look) (answer-for look))
      (sb-thread:signal-semaphore (look-done look)))))

;;; Asking

(defun untouchable (thread kind object call)
  "Why THREAD, which waits for OBJECT of KIND in the system call CALL, must not be interrupted: a keyword, or NIL."
  (cond ((plusp (debugger-level thread)) :stopped)
        ((not (interruptible-p thread)) :without-interrupts)
        ((and (world-lock) (eq thread (sb-thread:mutex-owner (world-lock)))) :compiling)
        ((and (eq kind :mutex) (eq object (world-lock))) :world-lock)
        ((member kind '(:c-lock :memory :lock :other)) :foreign)
        ;; an interrupt ends it early
        ((and (eq kind :queue) call (system-call-deadline-p call)) :timed-wait)))

(defun call-in-any-thread (thread kind wanted-p function &rest options)
  "Do what CALL-IN-THREAD does with OPTIONS. A thread that runs an evaluation may be about to end. CLAIM-INTERRUPT explains KIND."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (if evaluation
        (apply #'call-in-evaluation evaluation kind function :wanted-p wanted-p options)
        (apply #'call-in-thread thread wanted-p function options))))

(defun await-look (look)
  "The answer to LOOK, or a keyword that says why there is none."
  (cond ((sb-thread:wait-on-semaphore (look-done look) :timeout +look-seconds+) (look-answer look))
        ((claim-look look :dropped) :silent)
        ((sb-thread:wait-on-semaphore (look-done look) :timeout 2) (look-answer look))
        (t :silent)))

(defun look-at (thread function)
  "The value of FUNCTION, called in THREAD, or a keyword that says why there is none."
  (multiple-value-bind (kind object) (wait-of thread)
    (let ((call (system-call thread)))
      (or (untouchable thread kind object call)
          (let ((look (make-look :function function :address (and call (system-call-address call)))))
            (call-in-any-thread thread :look
                                (lambda () (eq :wanted (look-state look)))
                                (lambda () (answer-look look))
                                :patience 50)
            (await-look look))))))

(defun look-in-thread (thread function)
  "LOOK-AT, repeated if THREAD has just entered C code."
  (sb-thread:with-mutex (*looking*)
    (loop repeat 3
          for answer = (look-at thread function)
          while (eq answer :foreign)
          finally (return answer))))

;;; How many threads are still inside replaced code

(defun own-code (function)
  "The code of FUNCTION if it is that of no other definition; otherwise NIL."
  (let* ((compiled (and (not (typep function 'generic-function)) (or-nil (%fun-fun function))))
         (code (and compiled (fun-code-header compiled))))
    (and code
         (loop for part in (functions-in code)
               never (and (legal-fun-name-p (%fun-name part)) (not (equal (%fun-name compiled) (%fun-name part)))))
         code)))

(defconstant +most-looks+ 100 "Most threads that are asked.")

(defconstant +looking-seconds+ 2 "Seconds in which threads are asked.")

(defconstant +tries+ 10 "How often a thread is asked that must not be interrupted for a moment.")

(defconstant +frames-limit+ 2000 "Frames that a thread looks at.")

(defun frame-code (frame)
  "The code object of the function of FRAME, or NIL."
  (handler-case (compiled-debug-fun-component (frame-debug-fun frame))
    (error () nil)))

(defun replaced-around (table)
  "The values of TABLE, by code, for the code of this thread's frames; and :MORE if it has too many."
  (loop with found = '()
        for frame = (top-frame) then (frame-down frame)
        for count from 0
        while frame
        do (when (= count +frames-limit+) (return (cons :more found)))
           (let ((name (gethash (frame-code frame) table)))
             (when name (pushnew name found :test #'equal)))
        finally (return found)))

(defun serving-name-p (name)
  "True if NAME is that of a thread that serves clients: one of Swank or of this library."
  (and (stringp name)
       (or (member name '("control-thread" "reader-thread" "auto-flush-thread" "swank-indentation-cache-thread")
                   :test #'equal)
           (eql 0 (search "swank-client " name))
           (eql 0 (search "Swank " name :test #'char-equal)))))

(defun running-thread-p (thread)
  "True if THREAD may run code that is to be looked for: not this thread, and none that only serves clients or SBCL."
  (not (or (eq thread sb-thread:*current-thread*)
           (thread-ephemeral-p thread)
           (serving-name-p (sb-thread:thread-name thread)))))

(defun names-inside (thread table end)
  "Ask THREAD until END. => the values of TABLE, by code, for the code that THREAD is inside of; and true if they may not be all"
  (let ((answer (loop repeat +tries+
                      for answer = (look-in-thread thread (lambda () (replaced-around table)))
                      ;; these pass in a moment
                      while (and (member answer '(:foreign :without-interrupts :silent))
                                 (sb-thread:thread-alive-p thread)
                                 (< (get-internal-real-time) end))
                      do (sleep 1/100)
                      finally (return answer))))
    (if (listp answer)
        (values (remove :more answer) (and (member :more answer) t))
        (values '() (sb-thread:thread-alive-p thread)))))

(defun threads-inside (replaced)
  "((NAME COUNT ALL) ...): the number of other threads that are inside the code of each of REPLACED, (NAME . CODE), if any is known. ALL is NIL if there
may be more: some threads must not be interrupted."
  (let ((table (make-hash-table :test 'eq))
        (counts (make-hash-table :test 'equal))
        (threads (remove-if-not #'running-thread-p (sb-thread:list-all-threads)))
        (end (+ (get-internal-real-time) (* +looking-seconds+ internal-time-units-per-second)))
        (all t))
    (loop for (name . code) in replaced do (setf (gethash code table) name))
    (loop for thread in threads
          for asked from 0
          do (when (or (= asked +most-looks+) (> (get-internal-real-time) end))
               (setf all nil)
               (return))
             (multiple-value-bind (names more-p) (names-inside thread table end)
               (when more-p (setf all nil))
               (dolist (name names) (incf (gethash name counts 0)))))
    (loop for name in (remove-duplicates (mapcar #'car (reverse replaced)) :test #'equal :from-end t)
          for count = (gethash name counts)
          when count collect (list name count all))))
