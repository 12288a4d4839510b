;;;; The threads of the image: whose code each runs, and what it waits for.

(in-package #:swank-client/program)

(defconstant +most-threads+ 500 "Threads that one answer describes.")

(defconstant +stack-seconds+ 4 "Seconds in which an answer begins to read stacks.")

;;; Whose

(defun serving-name-p (name)
  "True if NAME is that of a thread that serves clients: one of Swank or of this library."
  (and (stringp name)
       (or (member name '("control-thread" "reader-thread" "auto-flush-thread") :test #'equal)
           (eql 0 (search "swank-client " name))
           (eql 0 (search "Swank " name :test #'char-equal)))))

(defun image-keeper-p (thread)
  "True if THREAD is the main thread of an image that this library has launched."
  (and (eq thread (sb-thread:main-thread)) (find-package "SWANK-CLIENT/LAUNCH")))

(defun service-p (thread)
  "True if THREAD runs no code of the program or of a client."
  (or (serving-name-p (sb-thread:thread-name thread))
      (image-keeper-p thread)
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
          ((and connection (eq connection *emacs-connection*)) '(:service))
          ((member connection *connections*) (list :client :owner (owner-plist connection)))
          (t '(:program)))))

;;; State

(defun thread-name-text (thread)
  "The name of THREAD, or the empty string."
  (let ((name (sb-thread:thread-name thread)))
    (cond ((null name) "")
          ((stringp name) (on-one-line (subseq name 0 (min 200 (length name)))))
          (t (line-text name 200)))))

(defun object-text (kind object)
  "OBJECT, which a thread waits for in a wait of KIND, as text, or NIL."
  (case kind
    (:mutex (named-text "MUTEX" (sb-thread:mutex-name object)))
    (:queue (and (sb-thread:waitqueue-name object) (line-text (sb-thread:waitqueue-name object) 100)))
    (:semaphore (named-text "SEMAPHORE" (sb-thread:semaphore-name object)))))

(defun optional (key value)
  "(KEY VALUE), or NIL if VALUE is NIL."
  (and value (list key value)))

(defun wait-plist (thread)
  "A plist of what THREAD does or waits for."
  (multiple-value-bind (kind object) (wait-of thread)
    (let ((blocker (blocker kind object)))
      (append (list :state (or kind :unknown))
              (optional :what (object-text kind object))
              (optional :descriptor (and (integerp object) object))
              (optional :holder (and blocker (thread-number blocker)))))))

(defun evaluation-seconds (thread)
  "Seconds since the evaluation that THREAD runs has begun, or NIL. Neither SBCL nor Linux records when a thread has begun to wait: the times of
its task are those of the last garbage collection or look at its stack, and of its processor's clock."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (and evaluation
         (floor (- (get-internal-real-time) (evaluation-started evaluation)) internal-time-units-per-second))))

(defun thread-entry (thread)
  "A plist that describes THREAD, made without disturbing it."
  (let ((wait (wait-plist thread)))
    (append (list :id (thread-number thread)
                  :name (thread-name-text thread)
                  :level (debugger-level thread))
            (optional :seconds (evaluation-seconds thread))
            wait
            (list* :whose (whose thread)))))

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
    (append entry (if (listp names) (list :frames (name-texts names)) (list :unread names)))))

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
           (entries (mapcar #'thread-entry threads)))
      (list :threads (if (plusp frames) (with-stacks threads entries frames) entries)
            :count (length wanted)
            :deadlocks (mapcar #'deadlock-text (wait-cycles all))))))
