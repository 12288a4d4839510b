;;;; What the runtime sends: objects are printed in the threads of their requests, and messages that Swank cannot send are replaced.

(in-package #:swank-client/connection)

;;; Prints objects in results. Swank prints replies in the thread that serves the connection, where a printer that loops, reads or unwinds
;;; would end the connection. So objects are printed in the threads of their requests, and replies contain their texts.

(defconstant +most-printed+ 1000000 "Characters printed of one object. An object that reaches the limit may print forever.")

(defstruct (printed (:constructor make-printed (text)) (:copier nil))
  "Stands for an object in a reply."
  (text "" :type string))

(defmethod print-object ((printed printed) stream)
  "Write the text that the object was printed as."
  (write-string (printed-text printed) stream))

(defvar *texts* nil
  "A table of the objects that were printed, with their texts; :NONE if there are none yet, NIL if nobody wants them.")

(defun one-datum-p (text)
  "True if a client can find the end of TEXT in a message."
  (let ((depth 0) (quote nil) (escaped nil) (previous nil))
    (flet ((ends-message-p (char)
             (and (not quote)
                  (not escaped)
                  (or (char= char #\;)
                      (and (char= char #\|) (eql previous #\#))
                      (and (char= char #\)) (zerop depth))))))
      (loop for char across text
            when (ends-message-p char)
              do (return nil)
            do (cond (escaped (setf escaped nil))
                     ((char= char #\\) (setf escaped t))
                     (quote (when (char= char quote) (setf quote nil)))
                     ((find char "\"|") (setf quote char))
                     ((char= char #\() (incf depth))
                     ((char= char #\)) (decf depth)))
               (setf previous char)
            finally (return (and previous (zerop depth) (not quote) (not escaped)))))))

(defun print-for-wire (object)
  "OBJECT as Swank prints it, at most +MOST-PRINTED+ characters."
  (call/truncated-output-to-string
   +most-printed+
   (lambda (stream)
     (with-standard-io-syntax
       (let ((*print-readably* nil)
             (*print-pretty* nil)
             (*print-case* :downcase)
             (*read-default-float-format* 'double-float)
             (*package* *swank-io-package*))
         (prin1 object stream))))
   ""))

(defun fail-instead-of-stopping (condition hook)
  "Signal an error. To show a stop, Swank prints the stack, and so the object whose printer has stopped: each stop would cause the next."
  (declare (ignore condition hook))
  (error "A printer entered the debugger."))

(defun printed-for-wire (object)
  "The text of OBJECT in a message, at most +MOST-PRINTED+ characters."
  (let ((text (let ((sb-ext:*invoke-debugger-hook* #'fail-instead-of-stopping)) (print-for-wire object))))
    (unless (or (<= +most-printed+ (length text)) (one-datum-p text))
      (error "The printed representation ~s is not a datum." text))
    (when *texts*
      (when (eq *texts* :none) (setf *texts* (make-hash-table :test 'eq)))
      (setf (gethash object *texts*) text))
    text))

(defun with-texts (datum)
  "A copy of DATUM with the texts of *TEXTS* for the objects in it."
  (labels ((copy (datum)
             (typecase datum
               ((or string symbol number character) datum)
               (cons (copy-of-list datum))
               (vector (map 'vector #'copy datum))
               (t (make-printed (gethash datum *texts* "")))))
           ;; lists can be long, and are nested at most as deeply as ROOM-AFTER permits
           (copy-of-list (list)
             (loop with head = (list nil)
                   for last = head then (cdr last)
                   for rest = list then (cdr rest)
                   while (consp rest)
                   do (setf (cdr last) (list (copy (car rest))))
                   finally (setf (cdr last) (copy rest))
                           (return (cdr head)))))
    (copy datum)))

;;; Replaces messages that Swank cannot send. Swank writes a message's length in six hexadecimal digits, and closes the connection on a
;;; longer message and on one that cannot be printed.

(defconstant +most-bytes+ 16777000 "The largest message in bytes, with some margin.")

(defstruct (checked (:constructor make-checked (verdict &optional datum)) (:copier nil))
  "Stands for a result that was checked: for DATUM if VERDICT is T, otherwise for a result that cannot be sent, and VERDICT is the reason."
  (verdict :unprintable :type symbol)
  (datum nil))

;;; Sizes

(defun bytes-of (string exactly)
  "The number of bytes that STRING takes in a message; an upper bound unless EXACTLY."
  (if exactly
      (loop for char across string
            for code = (char-code char)
            sum (cond ((member code '(34 92)) 2)
                      ((< code 128) 1)
                      ((< code 2048) 2)
                      ((< code 65536) 3)
                      (t 4)))
      (* 4 (length string))))

(defun room-after-text (text room)
  "The bytes left of ROOM after TEXT is printed; a negative number if there are too few."
  (if (< (length text) +most-printed+)
      (- room (bytes-of text t))
      -1))

(defun room-after (datum room exactly depth)
  "The bytes left of ROOM after DATUM, at DEPTH, is printed; a negative number if there are too few."
  (declare (type fixnum room depth))
  (flet ((after-vector (vector)
           (loop for element across vector
                 until (minusp room)
                 do (setf room (room-after element (- room 3) exactly (1+ depth))))
           room)
         ;; a circular list uses up the room
         (after-list (list)
           (loop for rest = list then (cdr rest)
                 while (and (consp rest) (not (minusp room)))
                 do (setf room (room-after (car rest) (- room 3) exactly (1+ depth)))
                 finally (return (if (listp rest) room (room-after rest (- room 3) exactly (1+ depth)))))))
    (if (or (minusp room) (> depth 500))
        -1
        (typecase datum
          (string (- room 2 (bytes-of datum exactly)))
          (symbol (- room 8
                     (bytes-of (symbol-name datum) exactly)
                     (if (symbol-package datum) (bytes-of (package-name (symbol-package datum)) exactly) 0)))
          (integer (- room 2 (ceiling (integer-length datum) 3)))
          ((or float character) (- room 40))
          (cons (after-list datum))
          (vector (after-vector datum))
          (printed (room-after-text (printed-text datum) room))
          (t (room-after-text (printed-for-wire datum) room))))))

(defun fits-p (datum)
  "T if DATUM can be sent; otherwise the reason, :TOO-LARGE or :UNPRINTABLE."
  (handler-case
      (if (some (lambda (exactly) (<= 0 (room-after datum +most-bytes+ exactly 0))) '(nil t))
          t
          :too-large)
    (serious-condition () :unprintable)))

;;; Replacements

(defun shortened (datum)
  "DATUM, with the middle of long strings left out."
  (typecase datum
    (string (let ((length (length datum)))
              (if (< length 20000)
                  datum
                  (format nil "~a [... ~d characters left out ...] ~a"
                          (subseq datum 0 10000) (- length 20000) (subseq datum (- length 10000))))))
    (cons (cons (shortened (car datum)) (shortened (cdr datum))))
    (t datum)))

(defun fitting (datum)
  "DATUM, which holds no value of the user, shortened if it does not fit."
  (if (eq t (fits-p datum))
      datum
      (let ((shorter (shortened datum)))
        (if (eq t (fits-p shorter))
            shorter
            (list :background-message "A message was omitted: it is too large.")))))

(defun fitting-return (event)
  "EVENT, the reply to a request, or a refusal with the reason if it cannot be sent."
  (destructuring-bind (name thread (status &rest results) id) event
    (let ((result (first results)))
      (flet ((reply (status result)
               (list name thread (list status result) id)))
        (if (eq status :ok)
            (let ((verdict (if (checked-p result) (checked-verdict result) (fits-p result))))
              (cond ((not (eq verdict t)) (reply :refused verdict))
                    ((checked-p result) (reply :ok (checked-datum result)))
                    (t event)))
            (list name thread (cons status (shortened results)) id))))))

(defun fitting-event (event)
  "EVENT, which is about to be sent to a client, changed if needed so that it can be sent."
  (case (first event)
    ((:emacs-rex :emacs-return :emacs-return-string :emacs-channel-send :emacs-interrupt :emacs-pong)
     event)
    ;; Swank prints the condition in it
    (:reader-error (list* (first event) (shortened (second event)) (cddr event)))
    (:return (fitting-return event))
    (t (fitting event))))
