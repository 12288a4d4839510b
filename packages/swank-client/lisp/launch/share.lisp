;;;; Lets other clients, such as the user's Emacs, connect to an image that we launched, and loads the user's init files over a connection, so that an error in one gives a report and does not break the image.

(in-package #:swank-client/launch)

(defconstant +most-output+ 10000 "Characters kept of what a file prints.")

(defun last-part (text)
  "The last characters of TEXT, at most +MOST-OUTPUT+."
  (let ((excess (- (length text) +most-output+)))
    (if (plusp excess)
        (format nil "[~d characters left out]~a" excess (subseq text excess))
        text)))

(defun condition-text (condition)
  "The report of CONDITION, with its type."
  (or (ignore-errors (format nil "~a [~s]" condition (type-of condition)))
      (format nil "a ~s that cannot be printed" (type-of condition))))

(defun call-catching-debugger (function)
  "Call FUNCTION. => NIL, or if it entered the debugger, the condition's text and the condition; FUNCTION is unwound then"
  (flet ((give-up (condition hook)
           (declare (ignore hook))
           (return-from call-catching-debugger (values (condition-text condition) condition))))
    (let ((sb-ext:*invoke-debugger-hook* #'give-up)
          (*debugger-hook* #'give-up))
      (funcall function)
      nil)))

(defun init-file-missing-p (path condition)
  "True if CONDITION says that PATH itself does not exist."
  (and (typep condition 'file-error)
       (equal path (ignore-errors (file-error-pathname condition)))
       (not (ignore-errors (probe-file path)))))

(defun load-init-file (file)
  "Load FILE, a native namestring. => (PATH STATUS MESSAGE OUTPUT), see LOAD-INIT-FILES
Its output also goes to stderr, where it is found if the file ends the image."
  (let* ((path (sb-ext:parse-native-namestring file))
         (kept (make-string-output-stream))
         (output (make-broadcast-stream kept sb-sys:*stderr*))
         (*standard-output* output)
         (*error-output* output)
         (*trace-output* output)
         (*package* (find-package "COMMON-LISP-USER"))
         ;; files define reader macros, which the standard readtable of Swank's requests refuses
         (*readtable* (sb-ext:symbol-global-value '*readtable*)))
    (multiple-value-bind (problem condition)
        (call-catching-debugger (lambda () (load path)))
      (fresh-line sb-sys:*stderr*)
      (finish-output sb-sys:*stderr*)
      (list file
            (cond ((null problem) :loaded)
                  ((init-file-missing-p path condition) :missing)
                  (t :failed))
            problem
            (last-part (get-output-stream-string kept))))))

(defun default-init-files (sysinit-p userinit-p)
  "The existing init files that `sbcl` would load, native namestrings: the system's if SYSINIT-P, the user's if USERINIT-P."
  (loop for (wanted function) in (list (list sysinit-p sb-ext:*sysinit-pathname-function*)
                                       (list userinit-p sb-ext:*userinit-pathname-function*))
        for path = (and wanted function (funcall function))
        when (and path (probe-file path)) collect (sb-ext:native-namestring path)))

(defun load-init-files (sysinit-p userinit-p files)
  "Load the init files that `sbcl` would load, if they exist, then FILES, native namestrings, which must exist.
=> ((PATH STATUS MESSAGE OUTPUT) ...): STATUS is :LOADED, :MISSING or :FAILED, MESSAGE gives the reason, or is NIL."
  (mapcar #'load-init-file (append (default-init-files sysinit-p userinit-p) files)))

;;; Lets other clients, such as the user's Emacs, connect to an image that we launched.
;;; 
;;; Swank's own server checks one connection after another for the secret: a silent client blocks the port for 20 s, and a client that
;;; sends a wrong secret blocks it forever.

;;; The secret

(defconstant +time-for-secret+ 10
  "Seconds within which a client must send the secret.")

(defconstant +unauthenticated-limit+ 16
  "Most connections that may be open without having sent the secret.")

(defun secret (file)
  "The octets of FILE's first line. An empty line is an error."
  (let ((line (with-open-file (in (sb-ext:parse-native-namestring file) :external-format :utf-8)
                (read-line in nil ""))))
    (when (string= line "") (error "The first line of ~a is empty." file))
    (sb-ext:string-to-octets line :external-format :utf-8)))

(defun read-octets (count stream)
  "The next COUNT octets of STREAM, or NIL if it ends earlier."
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (and (= count (read-sequence octets stream)) octets)))

(defun same-octets-p (one other)
  "Compare in constant time, so that the time does not reveal how much of a guess is right."
  (and (= (length one) (length other))
       (zerop (reduce #'logior (map 'vector #'logxor one other) :initial-value 0))))

(defun knows-secret-p (stream secret)
  "True if the first packet on STREAM is SECRET. A packet of another length is not read."
  (let* ((header (read-octets 6 stream))
         (length (and header (parse-integer (map 'string #'code-char header) :radix 16 :junk-allowed t))))
    (and (eql length (length secret))
         (let ((octets (read-octets length stream)))
           (and octets (same-octets-p octets secret))))))

;;; Connections that have not sent the secret

(defvar *unauthenticated* '()
  "The streams of connections that have not sent the secret, newest first.")

(defvar *unauthenticated-lock* (sb-thread:make-mutex :name "swank-client unauthenticated") "Held while *UNAUTHENTICATED* changes.")

(defun add-unauthenticated (stream)
  "Add STREAM, and hang up the oldest above the limit: clients that know the secret send it at once."
  (sb-thread:with-mutex (*unauthenticated-lock*)
    (push stream *unauthenticated*)
    (mapc (lambda (stream) (ignore-errors (shut-down (sb-sys:fd-stream-fd stream)))) (nthcdr +unauthenticated-limit+ *unauthenticated*))))

(defun remove-unauthenticated (stream)
  "Remove STREAM, so that it is not hung up."
  (sb-thread:with-mutex (*unauthenticated-lock*)
    (setf *unauthenticated* (remove stream *unauthenticated*))))

(defun admit (stream file)
  "True if the connection may be served: FILE is NIL, or the client has sent the secret in FILE."
  (or (null file)
      (unwind-protect
           (progn (add-unauthenticated stream)
                  (handler-case
                      (sb-sys:with-deadline (:seconds +time-for-secret+)
                        (knows-secret-p stream (secret file)))
                    ((or error sb-sys:deadline-timeout) () nil)))
        (remove-unauthenticated stream))))

;;; The server

(defun serve-connection (socket stream file)
  "Serve the connection on STREAM, accepted by SOCKET, if it is admitted."
  (cond ((admit stream file)
         (serve-requests (make-connection socket stream :spawn)))
        (t (ignore-errors (close stream :abort t)))))

(defun accept-connections (socket file)
  "Serve clients that connect to SOCKET and send the secret in FILE."
  (loop while (sb-bsd-sockets:socket-open-p socket)
        for stream = (handler-case (accept-connection socket :external-format nil :buffering t)
                       ;; no descriptor is free, or the client has already disconnected
                       (error () (sleep 1/10) nil))
        when stream
          do (ignore-errors (keep-from-children (sb-sys:fd-stream-fd stream)))
             (sb-thread:make-thread #'serve-connection :arguments (list socket stream file)
                                                       :name "swank-client admission")))

(defun open-server (port file)
  "Listen on PORT of 127.0.0.1. => the port"
  ;; by address, because a minimal container may not resolve the name
  (let* ((socket (create-socket "127.0.0.1" port :backlog 64))
         (port (local-port socket)))
    (keep-from-children (sb-bsd-sockets:socket-file-descriptor socket))
    (init-log-output)
    (add-server socket port
                (sb-thread:make-thread #'accept-connections :arguments (list socket file)
                                                            :name (format nil "Swank ~d" port)))
    port))

(defun share (port secret-file)
  "Serve other clients on PORT of this machine, or on a free port if it is 0.
Clients must send the first line of SECRET-FILE, a native namestring, unless that is NIL.
=> (:shared PORT) | (:in-use) | (:failed MESSAGE)"
  (handler-case
      (list :shared (open-server port secret-file))
    (sb-bsd-sockets:address-in-use-error () '(:in-use))
    (error (condition) (list :failed (condition-text condition)))))
