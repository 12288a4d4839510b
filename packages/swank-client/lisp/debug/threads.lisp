;;;; The threads of the image: whose code each runs, what it waits for, and how it is stopped or ended.

(in-package #:swank-client/debug)

;;; The stacks of running threads. A thread names the functions of its innermost frames.

(defun delivery-name-p (name)
  "True if NAME is that of a frame between an interrupt and the frame that it met."
  (or (stringp name)
      (string= "%INSTALL-HANDLER" (name-symbol name))))

(defun interrupted-frame ()
  "The frame that the interrupt of this thread met, or NIL."
  (loop with met = nil
        for frame = (top-frame) then (frame-down frame)
        while frame
        do (cond ((eq (frame-name frame) 'sb-sys:invoke-interruption) (setf met t))
                 ((and met (not (delivery-name-p (frame-name frame)))) (return frame)))))

(defun local-name-p (name)
  "True if NAME is that of a local function of Lisp, such as the body of WITHOUT-INTERRUPTS."
  (and (consp name) (member (first name) '(flet labels lambda)) (system-name-p name)))

(defun innermost-names (count)
  "The names of the functions in the COUNT innermost frames that the interrupt of this thread met, without local functions of Lisp."
  (loop with left = count
        for frame = (interrupted-frame) then (frame-down frame)
        while (and frame (plusp left))
        unless (local-name-p (frame-name frame))
          collect (frame-name frame)
          and do (decf left)))

(defun innermost-frames (thread count)
  "The names of the functions in the COUNT innermost frames of THREAD, or a keyword that says why there are none."
  (look-in-thread thread (lambda () (innermost-names count))))

(defun own-names (names)
  "NAMES without those of the functions of Lisp and Swank with which a thread begins."
  (loop for name in names
        for kind in (frame-kinds names nil)
        unless (eq kind :toplevel) collect name))

(defun function-texts (names)
  "NAMES, those of functions in frames, innermost first, as text."
  (mapcar (lambda (name) (line-text name 200)) (or (own-names names) names)))

(defun defined-name (name)
  "NAME, that of a function in a frame, or that of the definition around it for an anonymous function or a local one that a macro of Lisp has made; or NIL."
  (if (and (consp name) (member (first name) '(flet labels lambda)))
      (let ((home (second (member :in name))))
        (if (and (not (eq (first name) 'lambda)) (not (system-name-p (second name))))
            name
            (and home (defined-name home))))
      name))

(defun program-function (names)
  "The innermost of NAMES, those of functions in frames, that is the program's, as text, or NIL."
  (let ((name (defined-name (find-if-not #'system-name-p names))))
    (and name (line-text name 200))))

(defconstant +most-threads+ 500 "Threads that one answer describes.")

(defconstant +stack-seconds+ 4 "Seconds in which an answer begins to read stacks.")

;;; Whose

(defun service-p (thread)
  "True if THREAD runs no code of the program or of a client."
  (or (serving-name-p (sb-thread:thread-name thread))
      (and (eq thread (sb-thread:main-thread)) (find-package "SWANK-CLIENT/LAUNCH"))
      (thread-ephemeral-p thread)))

(defun session-whose (session)
  "Whose code of SESSION is: a list to append to :WHOSE."
  (if (eq session (current-session))
      '(:code)
      (list :client :owner (owner-plist (session-connection session)))))

(defun whose (thread)
  "Whose code THREAD runs, as a plist without its first key: (:EVALUATION :EVALUATION ID), (:CODE), (:CLIENT :OWNER PLIST), (:SERVICE) or
(:PROGRAM)."
  (let ((evaluation (value-in-thread '*evaluation* thread))
        (session (value-in-thread '*code-session* thread))
        (connection (value-in-thread '*emacs-connection* thread)))
    (cond ((and evaluation (eq (evaluation-session evaluation) (current-session)))
           (list :evaluation :evaluation (evaluation-id evaluation)))
          ((and session (not (session-departed session))) (session-whose session))
          ((service-p thread) '(:service))
          ((and connection (eq connection *emacs-connection*))
           ;; the debugger gives its connection to a thread of the program
           (if (value-in-thread '*stopped-outside-requests* thread) '(:program) '(:service)))
          ((member connection *connections*) (list :client :owner (owner-plist connection)))
          (t '(:program)))))

;;; State

(defun thread-name-text (thread)
  "The name of THREAD, or the empty string."
  (let ((name (sb-thread:thread-name thread)))
    (cond ((null name) "")
          ((stringp name) (on-one-line (subseq name 0 (min 200 (length name)))))
          (t (line-text name 200)))))

(defun waited-text (kind object)
  "OBJECT, which a thread waits for in a wait of KIND, as text, or NIL."
  (case kind
    (:mutex (named-text "MUTEX" (sb-thread:mutex-name object)))
    (:queue (and (sb-thread:waitqueue-name object) (line-text (sb-thread:waitqueue-name object) 100)))
    (:semaphore (named-text "SEMAPHORE" (sb-thread:semaphore-name object)))))

(defun optional (key value)
  "(KEY VALUE), or NIL if VALUE is NIL."
  (and value (list key value)))

(defun wait-plist (kind object)
  "A plist of the wait of KIND for OBJECT, values of WAIT-OF."
  (let ((blocker (blocker kind object)))
    (append (list :state (or kind :unknown))
            (optional :what (waited-text kind object))
            (optional :descriptor (and (integerp object) object))
            (optional :holder (and blocker (thread-number blocker))))))

(defun evaluation-seconds (thread)
  "Seconds since the evaluation that THREAD runs has begun, or NIL. Neither SBCL nor Linux records when a thread has begun to wait: the times of
its task are those of the last garbage collection or look at its stack, and of its processor's clock."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (and evaluation
         (floor (- (get-internal-real-time) (evaluation-started evaluation)) internal-time-units-per-second))))

(defun thread-entry (thread wait place)
  "A plist that describes THREAD, made without disturbing it. WAIT is a value of LOCATED-WAIT, and PLACE an element of WAIT-PLACES."
  (append (list :id (thread-number thread)
                :name (thread-name-text thread)
                :level (debugger-level thread))
          (optional :seconds (evaluation-seconds thread))
          (wait-plist (first wait) (second wait))
          place
          (list* :whose (whose thread))))

;;; The answer

(defun wanted-thread-p (thread id name)
  "True if THREAD is not this one, has begun, has the number ID, and has NAME in its name, in upper or lower case. NIL allows all."
  (and (not (eq thread sb-thread:*current-thread*))
       (plusp (thread-number thread))
       (or (null id) (= id (thread-number thread)))
       (or (null name)
           (search name (thread-name-text thread) :test #'char-equal))))

(defun with-stack (thread entry count end)
  "ENTRY, that of THREAD, with its COUNT innermost frames, or why there are none. Reads none after END."
  (let ((names (cond ((eq (getf entry :whose) :service) :service)
                     ((> (get-internal-real-time) end) :late)
                     (t (innermost-frames thread count)))))
    (append entry (if (listp names)
                      (append (list :frames (function-texts names)) (optional :function (program-function names)))
                      (list :unread names)))))

(defun with-stacks (threads entries count)
  "ENTRIES, those of THREADS, with COUNT frames each."
  (loop with end = (+ (get-internal-real-time) (* +stack-seconds+ internal-time-units-per-second))
        for thread in threads
        for entry in entries
        collect (with-stack thread entry count end)))

(defun list-threads (&key id name (frames 0))
  "Describe the thread ID, the threads with NAME in their names, or all, with FRAMES frames each, and the deadlocks. Threads are interrupted only if FRAMES
is positive. => (:threads (PLIST ...) :count NUMBER :deadlocks (TEXT ...))"
  (reset-guard-pages)
  (number-connections)
  (with-printing-time
    (let* ((*package* (session-package-now (current-session)))
           (all (sb-thread:list-all-threads))
           (wanted (remove-if-not (lambda (thread) (wanted-thread-p thread id name)) all))
           (threads (subseq wanted 0 (min +most-threads+ (length wanted))))
           (programs (mapcar (complement #'service-p) threads))
           (waits (mapcar #'located-wait threads programs))
           (places (or (recording-faults (wait-places (mapcar (lambda (wait programp) (and programp wait)) waits programs)))
                       (mapcar (constantly '()) threads)))
           (entries (mapcar #'thread-entry threads waits places)))
      (list :threads (if (plusp frames) (with-stacks threads entries frames) entries)
            :count (length wanted)
            :deadlocks (mapcar #'deadlock-text (wait-cycles all))))))

;;; Stops, unwinds and ends running threads.

(defconstant +ending-seconds+ 2 "Seconds that the cleanup forms of a thread have before an answer says that it still runs.")

;;; In the interrupted thread

(defun stop-for-owner (owner condition)
  "Stop this thread at CONDITION in the debugger of OWNER, the connection of another client, whose code it runs."
  (with-connection (owner)
    (let ((*buffer-package* *package*))
      (with-fresh-printer-state (invoke-slime-debugger condition)))))

(defun stop-here (session)
  "Stop this thread, which runs no evaluation of SESSION. It stops in the debugger of SESSION's client unless it runs code of another client,
whose user must be able to resume it."
  (unless (or (plusp *sldb-level*) (must-not-stop-here-p))
    (let ((owner (served-connection))
          (condition (make-condition 'interrupted :activity "thread"))
          (*interrupted-wait* nil))
      (with-simple-restart (continue "Continue the thread")
        (if (and owner (not (eq owner (session-connection session))))
            (stop-for-owner owner condition)
            (stop-own-thread session condition nil))))))

(defun unwind-here ()
  "Unwind this thread to where its request or its code began. A thread without a request ends."
  ;; no client acknowledges messages sent from here
  (setf *send-counter* 0)
  (invoke-restart (or *outermost-restart* (abort-restart))))

;;; The calls

(defun untouchable-thread (thread action)
  "Why THREAD must not be changed by ACTION: (:GONE), (:SERVICE), (:MAIN), (:STOPPED) or NIL."
  (cond ((null thread) '(:gone))
        ((or (eq thread sb-thread:*current-thread*) (equal '(:service) (whose thread))) '(:service))
        ((and (eq thread (sb-thread:main-thread)) (not (eq action :stop))) '(:main))
        ((and (plusp (debugger-level thread)) (not (eq action :kill))) '(:stopped))))

(defun own-evaluation (thread)
  "The evaluation of this session that THREAD runs, or NIL."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (and evaluation (eq (evaluation-session evaluation) (current-session)) evaluation)))

(defun stop-thread (id)
  "Stop thread ID in the debugger, soon. => (:stopping) | a value of UNTOUCHABLE-THREAD"
  (let* ((thread (swank/backend:find-thread id))
         (session (current-session))
         (evaluation (and thread (own-evaluation thread))))
    (or (untouchable-thread thread :stop)
        (progn
          (if evaluation
              (call-in-evaluation evaluation :interrupt
                                  (lambda () (when (zerop *sldb-level*) (enter-interrupt evaluation))))
              (call-in-any-thread thread :stop
                                  (lambda () (not (session-departed session)))
                                  (lambda () (stop-here session))))
          '(:stopping)))))

(defun await-end (thread)
  "Wait for the end of THREAD, but not long. => :ENDED or :RUNNING"
  (if (loop repeat (* 50 +ending-seconds+)
            thereis (not (sb-thread:thread-alive-p thread))
            do (sleep 1/50))
      :ended
      :running))

(defun end-evaluation-thread (evaluation action)
  "Unwind EVALUATION, of this session, if ACTION is :ABORT, or end its thread. => :ENDED, :RUNNING, or :SILENT if it allows no interrupts"
  (if (eq action :kill) (end-thread evaluation) (unwind-evaluation evaluation))
  (let ((fate (await-end (evaluation-thread evaluation))))
    (if (and (eq fate :running) (member action (evaluation-pending-interrupts evaluation))) :silent fate)))

(defun end-foreign-thread (thread way)
  "Make THREAD, which runs no evaluation of this session, call WAY when that is safe. => :ENDED, :RUNNING, or :SILENT if it was never safe"
  (let ((taken nil))
    (interrupt-when-safe (lambda ()
                           (setf taken t)
                           (funcall way))
                         thread
                         #'sb-thread:thread-alive-p)
    (cond (taken (await-end thread))
          ((sb-thread:thread-alive-p thread) :silent)
          (t :ended))))

(defun end-thread-by (id action)
  "Unwind thread ID if ACTION is :ABORT, or end it if that is :KILL.
=> (:done :ended) | (:done :running) if it goes on | (:done :silent) if it does not react | a value of UNTOUCHABLE-THREAD"
  (let* ((thread (swank/backend:find-thread id))
         (evaluation (and thread (own-evaluation thread))))
    (cond ((untouchable-thread thread action))
          (evaluation (list :done (end-evaluation-thread evaluation action)))
          (t (list :done (end-foreign-thread thread (if (eq action :kill) #'end-this-thread #'unwind-here)))))))
