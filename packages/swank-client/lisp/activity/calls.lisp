;;;; The ledger: the latest calls of agents.

(in-package #:swank-client/activity)

(defconstant +no-request+ -1 "The id of the request of a call that is none. Those of requests are positive.")

(defconstant +kept-calls+ 200 "Calls that are kept.")

(defconstant +text-limit+ 20000 "Characters that are kept of each call's code, output and result.")

(defparameter *question* "approval" "The operation of a question to the user.")

(defparameter *background-stop* "background stop" "The operation of a stop in a thread that runs no request.")

(defstruct (call (:copier nil))
  "A request by which an agent did something."
  (number 0 :type integer)
  ;; how often it has changed, so that Emacs can tell a ledger from events that came before it
  (revision 0 :type fixnum)
  (agent "" :type string)
  connection
  ;; the id of the request, or +NO-REQUEST+
  (request 0 :type integer)
  ;; the name of the runtime's function: "evaluate", "set-breakpoint", ...
  (operation "" :type string)
  (code "" :type string)
  (package nil :type (or null string))
  ;; seconds since 1970
  (begun 0 :type rational)
  (ended nil :type (or null rational))
  ;; the pieces, latest first, and their length
  (output '() :type list)
  (output-length 0 :type fixnum)
  ;; (THREAD LEVEL TYPE MESSAGE) while it is stopped
  (stop nil :type list)
  ;; :returned, :failed, :aborted, :lost, :refused; NIL while it runs
  (status nil :type symbol)
  (result "" :type string))

(defmethod print-object ((call call) stream)
  (print-unreadable-object (call stream :type t)
    (format stream "~d ~a" (call-number call) (call-operation call))))

(defvar *calls* '() "The latest calls, latest first.")

(defvar *forgotten-calls* 0 "The number of earlier calls.")

(defvar *calls-lock* (sb-thread:make-mutex :name "swank-client calls") "Held while *CALLS* or a call changes.")

(defmacro with-calls-locked (() &body body)
  "Run BODY while no other thread changes calls."
  `(with-system-mutex (*calls-lock*) ,@body))

(defmacro changing-call ((call) &body body)
  "Run BODY, which changes CALL, while no other thread does. => the new revision of CALL"
  `(with-calls-locked ()
     ,@body
     (incf (call-revision ,call))))

(defun now ()
  "Seconds since 1970, in milliseconds."
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
    (+ seconds (/ (floor microseconds 1000) 1000))))

(defun bounded (text &optional (limit +text-limit+))
  "TEXT, or its beginning with the number of characters left out."
  (if (<= (length text) limit)
      text
      (format nil "~a [... ~d more characters]" (subseq text 0 limit) (- (length text) limit))))

(defun add-call (call)
  "Enter CALL in the ledger."
  (with-calls-locked ()
    (push call *calls*)
    (let ((last (nthcdr (1- +kept-calls+) *calls*)))
      (when (rest last)
        (incf *forgotten-calls* (length (rest last)))
        (setf (rest last) '())))))

(defun find-open-call (connection request)
  "The call of CONNECTION's client with the id REQUEST that has not ended, or NIL."
  (find-if (lambda (call)
             (and (eql request (call-request call)) (eq connection (call-connection call)) (null (call-ended call))))
           *calls*))

(defun open-calls (&optional connection)
  "The calls that have not ended, of CONNECTION's client if that is given."
  (remove-if (lambda (call) (or (call-ended call) (and connection (not (eq connection (call-connection call))))))
             *calls*))

(defun add-output (call text)
  "Keep TEXT, which CALL printed. => the new revision, and what Emacs shows of it, or NIL: once it does not fit, a mark"
  (let ((shown nil))
    (values (changing-call (call)
              (let* ((before (call-output-length call))
                     (room (max 0 (- +text-limit+ before))))
                (setf (call-output-length call) (+ before (length text)))
                (cond ((<= (length text) room)
                       (push text (call-output call))
                       (setf shown text))
                      ((<= before +text-limit+)
                       (let ((kept (subseq text 0 room)))
                         (push kept (call-output call))
                         (setf shown (format nil "~a [... further output is left out]" kept)))))))
            shown)))

(defun output-text (call limit)
  "The kept output of CALL, at most LIMIT characters, with the number of those left out."
  (let* ((text (apply #'concatenate 'string (reverse (call-output call))))
         (shown (if (<= (length text) limit) text (subseq text 0 limit)))
         (left-out (- (call-output-length call) (length shown))))
    (if (plusp left-out) (format nil "~a [... ~d more characters]" shown left-out) shown)))

(defun end-call (call status result)
  "End CALL with STATUS and the text RESULT. => the new revision, NIL if it has ended before"
  (let ((first-p nil))
    (let ((revision (changing-call (call)
                      (unless (call-ended call)
                        (setf first-p t
                              (call-stop call) nil
                              (call-status call) status
                              (call-result call) (bounded result)
                              (call-ended call) (now))))))
      (and first-p revision))))
