;;;; The socket of a connection.

(in-package #:swank-client/connection)

(defun keep-from-children (descriptor)
  "Close DESCRIPTOR in programs that the image runs. Otherwise they would keep the connection open after the image ends."
  (sb-posix:fcntl descriptor sb-posix:f-setfd 1))

(defun set-user-timeout (descriptor milliseconds)
  "Give up on data that is not acknowledged within MILLISECONDS. By default Linux retransmits for 15 minutes."
  (sb-alien:with-alien ((value sb-alien:int milliseconds))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "setsockopt" (function sb-alien:int sb-alien:int sb-alien:int sb-alien:int
                                                   (* sb-alien:int) sb-alien:int))
     descriptor 6 18 (sb-alien:addr value) 4)))

(defun set-socket-options (descriptor)
  "Send data over DESCRIPTOR without delay, and detect within a minute that the client's machine has vanished."
  (let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp :descriptor descriptor)))
    ;; otherwise garbage collection of the socket object would close the connection
    (sb-ext:cancel-finalization socket)
    ;; without TCP_NODELAY a reply of two messages waits 40 ms for an acknowledgement
    (setf (sb-bsd-sockets:sockopt-tcp-nodelay socket) t)
    ;; detect within a minute that the client's machine has vanished
    (setf (sb-bsd-sockets:sockopt-keep-alive socket) t
          (sb-bsd-sockets:sockopt-tcp-keepidle socket) 20
          (sb-bsd-sockets:sockopt-tcp-keepintvl socket) 5
          (sb-bsd-sockets:sockopt-tcp-keepcnt socket) 4)
    (when (member :linux *features*)
      (set-user-timeout descriptor 40000))))

(defun connection-descriptor (connection)
  "The descriptor of CONNECTION's socket."
  (sb-sys:fd-stream-fd (connection.socket-io connection)))

(defun close-despite-errors (close connection arguments)
  "Call CLOSE, Swank's function, with CONNECTION and ARGUMENTS so that it completes.
Swank closes the stream of a lost connection before it removes the connection and runs its hooks. If the stream holds unsent output, that
signals an error, which stops Swank's thread: from then on no client can connect properly."
  (let ((*log-output* (make-broadcast-stream)))
    (handler-case (apply close connection arguments)
      (error ()
        (ignore-errors (close (connection.socket-io connection) :abort t))
        (apply close connection arguments)))))
