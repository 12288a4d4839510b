;;;; The socket of a connection.

(in-package #:swank-client/connection)

(defun keep-from-children (descriptor)
  "Close DESCRIPTOR in programs that the image runs. Otherwise they would keep the connection open after the image ends."
  (sb-posix:fcntl descriptor sb-posix:f-setfd 1))

(defconstant +tcp+ 6 "The level of TCP's options.")

(defun set-option (descriptor level option value)
  "Set an integer OPTION of the socket DESCRIPTOR, at LEVEL of the protocol.
The first use of the socket class of SB-BSD-SOCKETS compiles its constructor."
  (sb-alien:with-alien ((value sb-alien:int value))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "setsockopt" (function sb-alien:int sb-alien:int sb-alien:int sb-alien:int
                                                   (* sb-alien:int) sb-alien:int))
     descriptor level option (sb-alien:addr value) 4)))

(defun set-socket-options (descriptor)
  "Send data over DESCRIPTOR without delay, and detect within a minute that the client's machine has vanished."
  ;; TCP_NODELAY: without it, a reply of two messages waits 40 ms for an acknowledgement
  (set-option descriptor +tcp+ 1 1)
  ;; SO_KEEPALIVE of SOL_SOCKET
  (set-option descriptor #+linux 1 #-linux #xffff #+linux 9 #-linux 8 1)
  #+linux
  (loop for (option value) in '((4 20)      ; TCP_KEEPIDLE, in seconds
                                (5 5)       ; TCP_KEEPINTVL, in seconds
                                (6 4)       ; TCP_KEEPCNT
                                (18 40000)) ; TCP_USER_TIMEOUT, in milliseconds: by default, Linux sends unacknowledged data for 15 minutes
        do (set-option descriptor +tcp+ option value)))

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
