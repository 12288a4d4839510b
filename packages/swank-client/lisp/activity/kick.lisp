;;;; Disconnects all agents at the user's wish.

(in-package #:swank-client/activity)

(defun tcp-port (connection)
  "The local TCP port of CONNECTION, or NIL if that is not a TCP connection."
  (sb-alien:with-alien ((address (array sb-alien:unsigned-char 128))
                        (size sb-alien:int 128))
    (let ((result (sb-alien:alien-funcall
                   (sb-alien:extern-alien "getsockname" (function sb-alien:int sb-alien:int
                                                                  (* (array sb-alien:unsigned-char 128)) (* sb-alien:int)))
                   (sb-sys:fd-stream-fd (connection.socket-io connection)) (sb-alien:addr address) (sb-alien:addr size)))
          ;; BSD's family follows a byte with the size
          (family (sb-alien:deref address #+bsd 1 #-bsd 0)))
      (and (zerop result)
           ;; AF_INET, and AF_INET6 of Linux, FreeBSD and macOS
           (member family '(2 10 28 30))
           (+ (* 256 (sb-alien:deref address 2)) (sb-alien:deref address 3))))))

(defun agent-connection-p (connection)
  "True if CONNECTION is that of a client of any version of this library."
  (typep (connection.user-output connection) 'synonym-stream))

(defun end-all-evaluations ()
  "Start to end the evaluations of all clients of this version."
  (dolist (session (sb-ext:with-locked-hash-table (*sessions*)
                     (loop for session being the hash-values of *sessions* collect session)))
    (start-runtime-thread #'end-evaluations "swank-client kick" session)))

(defun say-kicked (connections)
  "Tell the clients of CONNECTIONS why these will close, and wait a moment until that is sent."
  (dolist (connection connections)
    (send (mconn.control-thread connection) '(:write-string "" (:kicked))))
  (loop repeat 50
        while (some (lambda (connection) (backlog-p connection 0)) connections)
        do (sleep 1/100))
  (sleep 1/20))

(defun kick ()
  "End all that agents run and have stopped, close their connections, and the ports that they came through, so that none returns.
An agent that launched the image has no port: its evaluations end, but it stays, because the image would end with it.
=> (:kicked COUNT :stayed COUNT :ports (PORT ...))"
  (let* ((connections (remove-if-not #'agent-connection-p *connections*))
         (ports (mapcar (lambda (connection) (ignore-errors (tcp-port connection))) connections)))
    (end-all-evaluations)
    (dolist (port (remove-duplicates (remove nil ports)))
      (ignore-errors (swank:stop-server port)))
    (ignore-errors (say-kicked (loop for connection in connections for port in ports when port collect connection)))
    (loop for connection in connections
          for port in ports
          when port do (ignore-errors (close-connection connection nil nil)))
    (list :kicked (count-if-not #'null ports)
          :stayed (count nil ports)
          :ports (remove-duplicates (remove nil ports)))))
