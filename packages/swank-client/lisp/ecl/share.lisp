;;;; Loads the user's files into an image that we launched, and lets other clients, such as the user's Emacs, connect to it.

(in-package #:swank-client/launch)

;;; Files

(defconstant +most-output+ 10000 "Characters kept of what a file prints.")

(defun last-part (text)
  "The last characters of TEXT, at most +MOST-OUTPUT+."
  (let ((excess (- (length text) +most-output+)))
    (if (plusp excess)
        (format nil "[~d characters left out]~a" excess (subseq text excess))
        text)))

(defun condition-text (condition)
  "The report of CONDITION, with its type. The runtime that serves the client knows what ECL does not print."
  (let ((message-text (first (version-symbols "PORTABLE" "MESSAGE-TEXT"))))
    (handler-case (format nil "~a [~s]" (if message-text (funcall message-text condition) condition) (type-of condition))
      (error () (format nil "a ~s that cannot be printed" (type-of condition))))))

(defun call-catching-debugger (function)
  "Call FUNCTION. => NIL, or if it entered the debugger, the condition's text and the condition; FUNCTION is unwound then"
  (flet ((give-up (condition hook)
           (declare (ignore hook))
           (return-from call-catching-debugger (values (condition-text condition) condition))))
    (with-debugger-hook (#'give-up)
      (funcall function)
      nil)))

(defun init-file-missing-p (file condition)
  "True if CONDITION says that FILE itself does not exist."
  (and (typep condition 'file-error) (not (probe-file file))))

(defun load-init-file (file)
  "Load FILE. => (PATH STATUS MESSAGE OUTPUT), see LOAD-INIT-FILES
Its output also goes to stderr, where it is found if the file ends the image."
  (let* ((kept (make-string-output-stream))
         (output (make-broadcast-stream kept (process-output)))
         (*standard-output* output)
         (*error-output* output)
         (*trace-output* output)
         (*package* (find-package "COMMON-LISP-USER")))
    (multiple-value-bind (problem condition)
        (call-catching-debugger (lambda () (load file :verbose nil)))
      (fresh-line (process-output))
      (finish-output (process-output))
      (list file
            (cond ((null problem) :loaded)
                  ((init-file-missing-p file condition) :missing)
                  (t :failed))
            problem
            (last-part (get-output-stream-string kept))))))

(defun default-init-files (sysinit-p userinit-p)
  "The existing init file that `ecl` would load, in a list, if USERINIT-P. ECL has none for the system."
  (declare (ignore sysinit-p))
  (let ((file (and userinit-p (existing-init-file)))) (and file (list file))))

(defun load-init-files (sysinit-p userinit-p files)
  "Load the init file that `ecl` would load, if it exists, then FILES, which must exist.
=> ((PATH STATUS MESSAGE OUTPUT) ...): STATUS is :LOADED, :MISSING or :FAILED, MESSAGE gives the reason, or is NIL."
  (mapcar #'load-init-file (append (default-init-files sysinit-p userinit-p) files)))

;;; Other clients. Swank's own server checks one connection after another for the secret, and closes the port at a wrong one.

(defconstant +time-for-secret+ 10 "Seconds within which a client must send the secret.")

(defconstant +unauthenticated-limit+ 16 "Most connections that may be open without having sent the secret.")

(defun secret (file)
  "The characters of FILE's first line. An empty line is an error."
  (let ((line (with-open-file (in file) (read-line in nil ""))))
    (when (string= line "") (error "The first line of ~a is empty." file))
    line))

(defun read-octets (count stream deadline)
  "The next COUNT octets of STREAM, or NIL if it does not have them at DEADLINE."
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (dotimes (index count octets)
      (loop until (listen stream)
            do (when (> (get-internal-real-time) deadline) (return-from read-octets nil))
               (sleep 1/50))
      (setf (aref octets index) (read-byte stream)))))

(defun same-octets-p (one other)
  "Compare in constant time, so that the time does not reveal how much of a guess is right."
  (and (= (length one) (length other))
       (zerop (reduce #'logior (map 'vector #'logxor one other) :initial-value 0))))

(defun knows-secret-p (stream secret)
  "True if the first packet on STREAM is SECRET, octets, and comes in time. A packet of another length is not read."
  (let* ((deadline (+ (get-internal-real-time) (* +time-for-secret+ internal-time-units-per-second)))
         (header (read-octets 6 stream deadline))
         (length (and header (parse-integer (map 'string #'code-char header) :radix 16 :junk-allowed t))))
    (and (eql length (length secret))
         (let ((octets (read-octets length stream deadline)))
           (and octets (same-octets-p octets secret))))))

(defvar *unauthenticated* '() "The streams of connections that have not sent the secret, newest first.")

(defvar *unauthenticated-lock* (make-lock "swank-client unauthenticated") "Held while *UNAUTHENTICATED* changes.")

(defun add-unauthenticated (stream)
  "Add STREAM, and hang up the oldest above the limit: clients that know the secret send it at once."
  (with-lock (*unauthenticated-lock*)
    (push stream *unauthenticated*)
    (dolist (oldest (nthcdr +unauthenticated-limit+ *unauthenticated*)) (shut-down (swank/backend:socket-fd oldest)))))

(defun remove-unauthenticated (stream)
  "Remove STREAM, so that it is not hung up."
  (with-lock (*unauthenticated-lock*)
    (setf *unauthenticated* (remove stream *unauthenticated*))))

(defun admitted-p (stream file)
  "True if the connection may be served: FILE is NIL, or the client has sent the secret in FILE."
  (or (null file)
      (unwind-protect
           (progn (add-unauthenticated stream)
                  (handler-case (knows-secret-p stream (swank/backend:string-to-utf8 (secret file)))
                    (error () nil)))
        (remove-unauthenticated stream))))

(defun serve-connection (socket stream file)
  "Serve the connection on STREAM, accepted by SOCKET, if it is admitted."
  (if (admitted-p stream file)
      (serve-requests (make-connection socket stream :spawn))
      (handler-case (close stream :abort t) (error () nil))))

(defun accept-connections (socket file)
  "Serve clients that connect to SOCKET and send the secret in FILE."
  (loop
    (let ((stream (handler-case (accept-connection socket :external-format nil :buffering t)
                    ;; no descriptor is free, or the client has already disconnected
                    (error () (sleep 1/10) nil))))
      (when stream
        (keep-from-children (swank/backend:socket-fd stream))
        (swank/backend:spawn (lambda () (serve-connection socket stream file)) :name "swank-client admission")))))

(defun open-server (port file)
  "Listen on PORT of 127.0.0.1. => the port"
  (let* ((socket (create-socket "127.0.0.1" port :backlog 64))
         (port (local-port socket)))
    (keep-from-children (swank/backend:socket-fd socket))
    (init-log-output)
    (add-server socket port
                (swank/backend:spawn (lambda () (accept-connections socket file)) :name (format nil "Swank ~d" port)))
    port))

(defun share (port secret-file)
  "Serve other clients on PORT of this machine, or on a free port if it is 0.
Clients must send the first line of SECRET-FILE, unless that is NIL. => (:shared PORT) | (:in-use) | (:failed MESSAGE)"
  (handler-case
      (list :shared (open-server port secret-file))
    (error (condition)
      (if (address-in-use-p condition)
          '(:in-use)
          (list :failed (condition-text condition))))))
