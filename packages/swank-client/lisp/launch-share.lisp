;;;; Letting others connect to an image of our own, such as a person's Emacs.
;;;;
;;;; Swank's own server asks one connection after another for the secret: one that stays silent keeps the port closed for 20 seconds,
;;;; and one that sends a wrong secret for ever.

(in-package "SWANK-CLIENT.LAUNCH")

;;; The secret

(defconstant +time-for-secret+ 10
  "Seconds that a connection has to send the secret.")

(defconstant +most-strangers+ 16
  "Connections at once that have not sent the secret.")

(defun secret (file)
  "The octets of FILE's first line, which must not be empty."
  (let ((line (with-open-file (in (sb-ext:parse-native-namestring file) :external-format :utf-8)
                (read-line in nil ""))))
    (when (string= line "") (error "The first line of ~a is empty." file))
    (sb-ext:string-to-octets line :external-format :utf-8)))

(defun read-octets (count stream)
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (and (= count (read-sequence octets stream)) octets)))

(defun same-octets-p (one other)
  "Takes as long for a wrong guess that begins well as for any other."
  (and (= (length one) (length other))
       (zerop (reduce #'logior (map 'vector #'logxor one other) :initial-value 0))))

(defun knows-secret-p (stream secret)
  "Whether the first packet on STREAM is SECRET. No packet of another length is read."
  (let* ((header (read-octets 6 stream))
         (length (and header (parse-integer (map 'string #'code-char header) :radix 16 :junk-allowed t))))
    (and (eql length (length secret))
         (let ((octets (read-octets length stream)))
           (and octets (same-octets-p octets secret))))))

;;; Connections that have not sent it

(defvar *strangers* '()
  "Their streams, newest first.")

(defvar *strangers-lock* (sb-thread:make-mutex :name "swank-client strangers"))

(defun hang-up (stream)
  "End the connection under a thread that reads from it."
  (ignore-errors
   (sb-alien:alien-funcall (sb-alien:extern-alien "shutdown" (function sb-alien:int sb-alien:int sb-alien:int))
                           (sb-sys:fd-stream-fd stream) 2)))

(defun note-stranger (stream)
  "The oldest makes room for the newest: who knows the secret sends it at once."
  (sb-thread:with-mutex (*strangers-lock*)
    (push stream *strangers*)
    (mapc #'hang-up (nthcdr +most-strangers+ *strangers*))))

(defun forget-stranger (stream)
  (sb-thread:with-mutex (*strangers-lock*)
    (setf *strangers* (remove stream *strangers*))))

(defun admit (stream file)
  "Whether the connection may be served: it has sent the secret in FILE, or FILE is NIL."
  (or (null file)
      (unwind-protect
           (progn (note-stranger stream)
                  (handler-case
                      (sb-sys:with-deadline (:seconds +time-for-secret+)
                        (knows-secret-p stream (secret file)))
                    ((or error sb-sys:deadline-timeout) () nil)))
        (forget-stranger stream))))

;;; The server

(defun serve-connection (socket stream file)
  (cond ((admit stream file)
         (swank::serve-requests (swank::make-connection socket stream :spawn)))
        (t (ignore-errors (close stream :abort t)))))

(defun accept-connections (socket file)
  (loop while (sb-bsd-sockets:socket-open-p socket)
        for stream = (handler-case (swank::accept-connection socket :external-format nil :buffering t)
                       ;; no descriptor is left, or the other side has gone already
                       (error () (sleep 1/10) nil))
        when stream
          do (ignore-errors (keep-from-children (sb-sys:fd-stream-fd stream)))
             (sb-thread:make-thread #'serve-connection :arguments (list socket stream file)
                                                       :name "swank-client admission")))

(defun note-server (socket port thread)
  "Have SWANK:STOP-SERVER know it."
  (if (fboundp (intern "ADD-SERVER" "SWANK"))
      (funcall (intern "ADD-SERVER" "SWANK") socket port thread)
      ;; until 2.28
      (funcall (intern "SEND-TO-SENTINEL" "SWANK") `(:add-server ,socket ,port ,thread))))

(defun open-server (port file)
  "=> the port"
  ;; by number: a bare container may not resolve the name
  (let* ((socket (swank::create-socket "127.0.0.1" port :backlog 64))
         (port (swank::local-port socket)))
    (keep-from-children (sb-bsd-sockets:socket-file-descriptor socket))
    (swank::init-log-output)
    (note-server socket port
                 (sb-thread:make-thread #'accept-connections :arguments (list socket file)
                                                             :name (format nil "Swank ~d" port)))
    port))

(defun share (port secret-file)
  "Serve others on PORT of this machine, or on any free one if it is 0: those who send the first line of SECRET-FILE, a native
namestring, or all if that is NIL. => (:shared PORT) | (:in-use) | (:failed MESSAGE)"
  (handler-case
      (list :shared (open-server port secret-file))
    (sb-bsd-sockets:address-in-use-error () '(:in-use))
    (error (condition) (list :failed (condition-text condition)))))

(export 'share)
