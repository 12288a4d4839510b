;;;; Prints objects in results. Swank prints replies in the thread that serves the connection, where a printer that loops, reads or unwinds
;;;; would end the connection. So objects are printed in the threads of their requests, and replies contain their texts.

(in-package #:swank-client/connection)

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
