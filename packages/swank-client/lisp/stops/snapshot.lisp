;;;; Describes a condition and the stack below it, as plain data for the wire.

(in-package #:swank-client/stops)

(defun stop-reason (condition)
  "The reason for a stop at CONDITION."
  (cond ((typep condition 'interrupted) :interrupt)
        ((typep condition 'breakpoint-reached) :breakpoint)
        ((typep condition 'sb-ext:step-condition) :step)
        ((eq (type-of condition) 'simple-condition) :break)
        (t :error)))

(defun stop-detail (condition)
  "The call that a step is about to make, or the breakpoint that was reached, as a plist."
  (typecase condition
    (sb-ext:step-form-condition (list :form (sb-ext:step-condition-form condition)))
    (breakpoint-reached (list :breakpoint (reached-breakpoint condition) :hits (reached-hit condition)))))

(defun condition-plist (condition restart-texts &key (message (message-text condition)) frames (total 0) locals caller-locals waiting
                                                    printed-from)
  "A plist that describes CONDITION, with the other arguments."
  (list :reason (stop-reason condition)
        :detail (append (stop-detail condition) waiting)
        :type (class-name-text (shown-class condition))
        :class (class-name-text (class-of condition))
        :supertypes (supertype-texts condition)
        :message message
        :slots (slot-texts condition)
        :restarts restart-texts
        :frames frames
        :total total
        :locals locals
        :caller-locals caller-locals
        :printed-from printed-from))

(defun stack-plist (condition message frames kinds)
  "A plist of what a stop at CONDITION, with MESSAGE, shows of its FRAMES, all of them, of KINDS."
  (let ((*shown-objects* (make-hash-table :test 'eq)))
    (remember-message condition message)
    (destructuring-bind (&optional first-user caller) (first-users kinds)
      (list :frames (with-places (first-frames frames kinds condition) frames)
            :total (length frames)
            :locals (and first-user (local-texts first-user))
            :caller-locals (and caller (caller-texts caller))
            :waiting (waiting-plist condition frames first-user)))))

(defun snapshot-plist (condition restarts)
  "The complete description of a stop at CONDITION. Runs in the stopped thread, inside Swank's debugging environment."
  (reset-guard-pages)
  (let* ((frames (stack-frames))
         (kinds (frame-kinds (mapcar #'frame-name frames) condition)))
    (with-report-package (package-name frames kinds)
      (let ((restarts (restart-texts (offered-restarts restarts))))
        (with-printing-time
          ;; the message first, because the time limit should at least allow that
          (let ((message (message-text condition)))
            (apply #'condition-plist condition restarts :message message :printed-from package-name
                   (stack-plist condition message frames kinds))))))))

(defun capture (condition)
  "A snapshot for a condition whose thread will not stay stopped."
  (swank/backend:call-with-debugging-environment
   (lambda () (snapshot-plist condition (compute-restarts condition)))))
