;;;; What is stopped in the debugger of other clients. Listing it interrupts nobody. To look into a stop its thread is interrupted and
;;;; answers in between: a request put to it as Swank does would be answered to its own client, which never asked.

(in-package #:@module@)

(defconstant +claim-seconds+ 5 "How long a thread has to begin with an answer.")
(defconstant +describing-seconds+ 5 "How long new stops together have for saying what they are about.")
(defconstant +listed-message-limit+ 1000 "Characters of what a stop says in a list of stops: there may be thousands.")
(defconstant +end-seconds+ 3 "How long an answer has to come to its end when it is broken off.")

;;; Which threads

(defun value-in-thread (symbol thread)
  "The thread's own value of SYMBOL, NIL if it has none or is no more."
  (values (sb-thread:symbol-value-in-thread symbol thread nil)))

(defun stop-token (thread)
  "An object that no other stop has."
  (and (plusp (or (value-in-thread 'swank::*sldb-level* thread) 0))
       (or (value-in-thread 'swank::*sldb-restarts* thread)
           (value-in-thread 'swank::*swank-debugger-condition* thread))))

(defvar *descriptions* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "What was found out of each stop, by its token: what it says may take long to print, but only once.")
(defvar *last-stop* (list 0))

(defun foreign-p (thread)
  "True if THREAD stands in a debugger that is not this client's."
  (and (stop-token thread)
       (not (eq (value-in-thread 'swank::*emacs-connection* thread) swank::*emacs-connection*))))

(defun find-stopped-thread (number)
  "The thread that is in the stop of that NUMBER, and the stop's token."
  (dolist (thread (sb-thread:list-all-threads))
    (let ((token (stop-token thread)))
      (when (and token (eql number (getf (gethash token *descriptions*) :number)))
        (return (values thread token))))))

;;; Listing

(defun call-apart (function)
  "Call FUNCTION so that nothing that it prints or reads is the other client's."
  (let* ((out (make-broadcast-stream))
         (in (make-concatenated-stream))
         (both (make-two-way-stream in out))
         (*standard-output* out) (*error-output* out) (*trace-output* out) (*standard-input* in)
         (*query-io* both) (*debug-io* both) (*terminal-io* both))
    (funcall function)))

(defun describe-condition (condition restarts)
  (list :number (1+ (sb-ext:atomic-incf (car *last-stop*)))
        :type (class-name-text (shown-class condition))
        :class (class-name-text (class-of condition))
        :message (let ((text (message-text condition))) (subseq text 0 (min +listed-message-limit+ (length text))))
        :restarts (restart-texts (offered-restarts restarts))))

(defun describe-stop (token thread)
  (let* ((condition (value-in-thread 'swank::*swank-debugger-condition* thread))
         (restarts (value-in-thread 'swank::*sldb-restarts* thread))
         (*outermost-restart* (value-in-thread '*outermost-restart* thread)))
    (when (and (typep condition 'condition) (eq token (stop-token thread)))
      (let ((new (call-apart (lambda () (with-printing-time (describe-condition condition restarts))))))
        ;; somebody else may have been quicker
        (sb-ext:with-locked-hash-table (*descriptions*)
          (or (gethash token *descriptions*)
              (setf (gethash token *descriptions*) new)))))))

(defun describe-unprinted (token thread)
  (let ((*printing-time* t) (*late-p* t))
    (describe-stop token thread)))

(defun start-describing (thread)
  "A thread that finds out what is not known of the stop of THREAD, or NIL."
  (let ((token (stop-token thread)))
    (when (and token (not (gethash token *descriptions*)))
      (start-helper (lambda () (ignore-errors (describe-stop token thread))) "swank-client description"))))

(defun describe-new-stops (threads)
  "All at once: what one says may take all the time that it has."
  (loop with end = (+ (get-internal-real-time) (* +describing-seconds+ internal-time-units-per-second))
        for describer in (remove nil (mapcar #'start-describing threads))
        for left = (/ (- end (get-internal-real-time)) internal-time-units-per-second)
        do (sb-thread:join-thread describer :default nil :timeout (max left 0))))

(defun stop-entry (thread)
  "What is known of the stop of THREAD without asking it, or NIL if it has just left."
  (let* ((token (stop-token thread))
         (level (value-in-thread 'swank::*sldb-level* thread))
         (connection (value-in-thread 'swank::*emacs-connection* thread))
         (description (and token connection
                           (or (gethash token *descriptions*) (describe-unprinted token thread)))))
    (when description
      (list* :thread (swank/backend:thread-id thread)
             :level level
             :name (princ-to-string (sb-thread:thread-name thread))
             :owner (owner-plist connection)
             description))))

(defun foreign-stops ()
  "A plist for each thread that is stopped in another client's debugger."
  (number-connections)
  (let ((threads (remove-if-not #'foreign-p (sb-thread:list-all-threads))))
    (describe-new-stops threads)
    (loop for thread in threads
          for entry = (stop-entry thread)
          when entry collect entry)))

(defun describe-foreign-stop ()
  "In the stopped thread. Unlike what its own client gets, this takes nothing that is told once only."
  (snapshot-plist swank::*swank-debugger-condition* swank::*sldb-restarts*))

;;; Asking

(defstruct ask
  token
  ;; of the client that asks
  session
  form
  ;; true if the form may make the thread leave
  leaving-p
  ;; :WANTED until the thread begins with it, then :UNDER-WAY; :DROPPED if it is not to begin, :BROKEN-OFF if it is to end
  (state :wanted)
  reply
  (answered (sb-thread:make-semaphore)))

(defvar *ask* nil "What this stopped thread answers now.")

(defun claim (ask state)
  "True if ASK was wanted; it is in STATE from then on."
  (eq :wanted (sb-ext:compare-and-swap (ask-state ask) :wanted state)))

(defun error-reply (condition)
  (cons :failed (rest (error-entry condition))))

(defun give-up-ask (condition hook)
  "In place of the debugger, which would be the other client's."
  (declare (ignore hook))
  (throw 'ask (error-reply condition)))

(defun answered-form (ask)
  "Neither handlers nor restarts of the code that is stopped are in reach, unless they are what is asked for."
  (if (ask-leaving-p ask)
      (eval (ask-form ask))
      (without-way-back (eval (ask-form ask)))))

(defun reply-to (ask)
  (catch 'ask
    (let ((*ask* ask)
          (*debugger-hook* nil)
          (sb-ext:*invoke-debugger-hook* #'give-up-ask))
      (with-printer-of-its-own
        (with-code-of ((ask-session ask))
          (list :value (call-apart (lambda () (answered-form ask)))))))))

(defun answer (ask)
  "In the stopped thread. Whoever asked learns of it also when that leads out of the stop."
  (when (claim ask :under-way)
    (let ((reply '(:left)))
      (unwind-protect (setf reply (reply-to ask))
        (setf (ask-reply ask) reply)
        (sb-thread:signal-semaphore (ask-answered ask))))
    ;; what this one has interrupted may have been broken off meanwhile
    (leave-if-broken-off)
    (leave-ask-if-broken-off)))

(defun leave-ask-if-broken-off ()
  (when (and *ask* (eq (ask-state *ask*) :broken-off))
    (throw 'ask '(:interrupted))))

(defun interrupt-stop (ask)
  "An INTERRUPT for CALL-IN-THREAD that lets threads alone which have left meanwhile."
  (lambda (thread call)
    (when (eq (ask-token ask) (stop-token thread))
      (sb-thread:interrupt-thread thread call))))

(defun put-to-thread (ask thread)
  (call-in-thread thread
                  (lambda () (and (eq (ask-state ask) :wanted) (eq (ask-token ask) (stop-token sb-thread:*current-thread*))))
                  (lambda () (answer ask))
                  :interrupt (interrupt-stop ask)))

(defun break-off (ask thread)
  (setf (ask-state ask) :broken-off)
  (call-in-thread thread
                  (lambda () (eq *ask* ask))
                  #'leave-ask-if-broken-off
                  :interrupt (interrupt-stop ask)))

(defun await (ask seconds until)
  "True once it is answered; false when SECONDS, if not NIL, are over, or when UNTIL says so."
  (loop with end = (and seconds (+ (get-internal-real-time) (* seconds internal-time-units-per-second)))
        thereis (sb-thread:wait-on-semaphore (ask-answered ask) :timeout 1/10)
        until (or (funcall until) (and end (> (get-internal-real-time) end)))))

(defun left-p (ask thread)
  (not (eq (ask-token ask) (stop-token thread))))

(defun await-reply (ask thread seconds)
  (let ((session (current-session)))
    (cond ((await ask +claim-seconds+ (lambda () (or (eq (ask-state ask) :under-way) (left-p ask thread)))))
          ((claim ask :dropped) (setf (ask-reply ask) (if (left-p ask thread) '(:stale) '(:silent))))
          ((await ask seconds (lambda () (or (session-departed session) (not (sb-thread:thread-alive-p thread))))))
          (t (break-off ask thread)
             (await ask +end-seconds+ (lambda () (not (sb-thread:thread-alive-p thread))))))
    (or (ask-reply ask) '(:interrupted))))

(defun ask-stop (number leaving-p seconds form)
  "Have the thread of the stop NUMBER evaluate FORM, for SECONDS at most if that is a number.
=> (:value VALUE) | (:left) | (:stale) | (:silent) if it did not even begin, and will not | (:interrupted) | (:failed TYPE MESSAGE)"
  (multiple-value-bind (thread token) (find-stopped-thread number)
    (if (null thread)
        '(:stale)
        (let ((ask (make-ask :token token :session (current-session) :form form :leaving-p leaving-p)))
          (put-to-thread ask thread)
          (await-reply ask thread seconds)))))
