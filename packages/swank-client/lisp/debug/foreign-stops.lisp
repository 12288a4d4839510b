;;;; Stops in the debuggers of other clients. Listing them interrupts no thread. To examine a stop, its thread is interrupted and answers
;;;; during the interrupt. With a request of Swank, the answer would go to the thread's own client.

(in-package #:swank-client/debug)

(defconstant +claim-seconds+ 5 "Seconds within which a thread must begin to answer.")

(defconstant +describing-seconds+ 5 "Seconds that describing all new stops may take together.")

(defconstant +listed-message-limit+ 1000 "Characters of a stop's message in a list of stops, which may be long.")

(defconstant +end-seconds+ 3 "Seconds that a cancelled answer may take to unwind.")

(defun stop-token (thread)
  "An object that identifies the stop of THREAD, or NIL if it is not stopped."
  (and (plusp (debugger-level thread))
       (or (value-in-thread '*sldb-restarts* thread)
           (value-in-thread '*swank-debugger-condition* thread))))

(defvar *descriptions* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "Descriptions of stops by token. A description may take long to print, so each stop is described once.")

(defvar *last-foreign-stop* (list 0) "A cell with the number of the latest described stop.")

(defun foreign-p (thread)
  "True if THREAD is stopped in the debugger of another client."
  (and (stop-token thread)
       (not (eq (value-in-thread '*emacs-connection* thread) *emacs-connection*))))

(defun find-stopped-thread (number)
  "=> the thread that is in stop NUMBER, and the stop's token"
  (dolist (thread (sb-thread:list-all-threads))
    (let ((token (stop-token thread)))
      (when (and token (eql number (getf (gethash token *descriptions*) :number)))
        (return (values thread token))))))

;;; Listing

(defun call-with-own-streams (function)
  "Call FUNCTION with streams that neither print to nor read from the other client."
  (let* ((out (make-broadcast-stream))
         (in (make-concatenated-stream))
         (both (make-two-way-stream in out))
         (*standard-output* out) (*error-output* out) (*trace-output* out) (*standard-input* in)
         (*query-io* both) (*debug-io* both) (*terminal-io* both))
    (funcall function)))

(defun describe-condition (condition restarts)
  "A plist that describes a stop at CONDITION with RESTARTS, with a new number."
  (list :number (1+ (sb-ext:atomic-incf (car *last-foreign-stop*)))
        :type (class-name-text (shown-class condition))
        :class (class-name-text (class-of condition))
        :message (let ((text (message-text condition))) (subseq text 0 (min +listed-message-limit+ (length text))))
        :restarts (restart-texts (offered-restarts restarts))))

(defun store-description (token new)
  "Store the description NEW of the stop TOKEN unless another thread has stored one first. => the stored one"
  (sb-ext:with-locked-hash-table (*descriptions*)
    (or (gethash token *descriptions*)
        (setf (gethash token *descriptions*) new))))

(defun describe-stop (token thread)
  "Describe the stop TOKEN of THREAD, and store the description. NIL if the thread has left the stop, and taken the restarts on its stack along."
  (let* ((condition (value-in-thread '*swank-debugger-condition* thread))
         (restarts (value-in-thread '*sldb-restarts* thread))
         (*outermost-restart* (value-in-thread '*outermost-restart* thread)))
    (flet ((left-p () (not (eq token (stop-token thread)))))
      (unless (or (not (typep condition 'condition)) (left-p))
        (handler-bind ((error (lambda (condition)
                                (declare (ignore condition))
                                (when (left-p) (return-from describe-stop nil)))))
          (store-description token
                             (call-with-own-streams
                              (lambda () (with-printing-time (describe-condition condition restarts))))))))))

(defun describe-unprinted (token thread)
  "Do what DESCRIBE-STOP does without printing objects of the user."
  (let ((*printing-time* t) (*printing-time-over-p* t))
    (describe-stop token thread)))

(defun start-describing (thread)
  "Start a thread that describes the stop of THREAD, or return NIL if that is described already."
  (let ((token (stop-token thread)))
    (when (and token (not (gethash token *descriptions*)))
      (start-runtime-thread (lambda () (recording-faults (describe-stop token thread))) "swank-client description"))))

(defun describe-new-stops (threads)
  "Describe the stops of THREADS in parallel, because one of them may take all the time."
  (loop with end = (+ (get-internal-real-time) (* +describing-seconds+ internal-time-units-per-second))
        for describer in (remove nil (mapcar #'start-describing threads))
        for left = (/ (- end (get-internal-real-time)) internal-time-units-per-second)
        do (sb-thread:join-thread describer :default nil :timeout (max left 0))))

(defun stop-entry (thread)
  "A plist for the stop of THREAD, made without interrupting THREAD, or NIL if it has just left."
  (let* ((token (stop-token thread))
         (level (debugger-level thread))
         (connection (value-in-thread '*emacs-connection* thread))
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
  "A snapshot of this thread's stop. Unlike STOP, it does not consume output and warnings, which are the other client's."
  (snapshot-plist *swank-debugger-condition* *sldb-restarts*))

;;; Asking

(defstruct ask
  "A form that a thread stopped for another client evaluates for this one."
  token
  ;; the session of the client that asks
  session
  form
  ;; true if the form may make the thread leave
  leaving-p
  ;; :WANTED until the thread begins, then :RUNNING; :DROPPED if it must not begin, :CANCELLED if it must end
  (state :wanted)
  reply
  (answered (sb-thread:make-semaphore)))

(defvar *ask* nil "The ask that this stopped thread answers, or NIL.")

(defun claim (ask state)
  "Change the state of ASK from :WANTED to STATE. => true if it was :WANTED"
  (eq :wanted (sb-ext:compare-and-swap (ask-state ask) :wanted state)))

(defun give-up-ask (condition hook)
  "Leave the answer instead of entering the debugger of the other client."
  (declare (ignore hook))
  (throw 'ask (cons :failed (rest (error-entry condition)))))

(defun answered-form (ask)
  "Evaluate the form of ASK, without the handlers and restarts of the stopped code unless the form may leave the stop."
  (if (ask-leaving-p ask)
      (eval (ask-form ask))
      (without-outer-handlers (eval (ask-form ask)))))

(defun reply-to (ask)
  "Evaluate ASK in the stopped thread. => the reply"
  (catch 'ask
    (let ((*ask* ask)
          (*debugger-hook* nil)
          (sb-ext:*invoke-debugger-hook* #'give-up-ask))
      (with-fresh-printer-state
        (with-code-of ((ask-session ask))
          (list :value (call-with-own-streams (lambda () (answered-form ask)))))))))

(defun answer (ask)
  "Answer ASK in the stopped thread. The asking client gets a reply even if the form leaves the stop."
  (when (claim ask :running)
    (let ((reply '(:left)))
      (unwind-protect (setf reply (reply-to ask))
        (setf (ask-reply ask) reply)
        (sb-thread:signal-semaphore (ask-answered ask))))
    ;; the attempt or answer that this one interrupted may have been cancelled
    (leave-if-cancelled)
    (leave-ask-if-cancelled)))

(defun leave-ask-if-cancelled ()
  "Leave the current answer if the asking client no longer waits for it."
  (when (and *ask* (eq (ask-state *ask*) :cancelled))
    (throw 'ask '(:interrupted))))

(defun interrupt-stop (ask)
  "An INTERRUPT function for CALL-IN-THREAD that ignores a thread that has left the stop of ASK."
  (lambda (thread call)
    (when (eq (ask-token ask) (stop-token thread))
      (interrupt-unless-ended thread call))))

(defun ask-thread (ask thread)
  "Make THREAD answer ASK."
  (call-in-thread thread
                  (lambda () (and (eq (ask-state ask) :wanted) (eq (ask-token ask) (stop-token sb-thread:*current-thread*))))
                  (lambda () (answer ask))
                  :interrupt (interrupt-stop ask)))

(defun cancel-ask (ask thread)
  "Make THREAD leave its answer to ASK."
  (setf (ask-state ask) :cancelled)
  (call-in-thread thread
                  (lambda () (eq *ask* ask))
                  #'leave-ask-if-cancelled
                  :interrupt (interrupt-stop ask)))

(defun await (ask seconds until)
  "Wait for a reply to ASK, at most SECONDS if that is not NIL, and until UNTIL returns true. => true if there is a reply"
  (loop with end = (and seconds (+ (get-internal-real-time) (* seconds internal-time-units-per-second)))
        thereis (sb-thread:wait-on-semaphore (ask-answered ask) :timeout 1/10)
        until (or (funcall until) (and end (> (get-internal-real-time) end)))))

(defun left-p (ask thread)
  "True if THREAD has left the stop that ASK is for."
  (not (eq (ask-token ask) (stop-token thread))))

(defun await-reply (ask thread seconds)
  "Wait for the reply of THREAD to ASK, SECONDS at most, or forever if that is NIL. => the reply"
  (let ((session (current-session)))
    (cond ((await ask +claim-seconds+ (lambda () (or (eq (ask-state ask) :running) (left-p ask thread)))))
          ((claim ask :dropped) (setf (ask-reply ask) (if (left-p ask thread) '(:stale) '(:silent))))
          ((await ask seconds (lambda () (or (session-departed session) (not (sb-thread:thread-alive-p thread))))))
          (t (cancel-ask ask thread)
             (await ask +end-seconds+ (lambda () (not (sb-thread:thread-alive-p thread))))))
    (or (ask-reply ask) '(:interrupted))))

(defun ask-stop (number leaving-p seconds form)
  "Make the thread of stop NUMBER evaluate FORM, for SECONDS at most unless that is NIL.
=> (:value VALUE) | (:left) | (:stale) | (:silent) if it did not begin, and will not | (:interrupted) | (:failed TYPE MESSAGE)"
  (multiple-value-bind (thread token) (find-stopped-thread number)
    (if (null thread)
        '(:stale)
        (let ((ask (make-ask :token token :session (current-session) :form form :leaving-p leaving-p))
              (ended nil))
          (unwind-protect
               (progn
                 (ask-thread ask thread)
                 (prog1 (await-reply ask thread seconds)
                   (setf ended t)
                   (dolist (hook *visit-hooks*) (funcall hook thread form))))
            ;; a client that has gone
            (unless ended (cancel-ask ask thread)))))))
