;;;; The life of an image that serves the process which started it, over the socket inherited as descriptor 3.

(in-package "SWANK-CLIENT.LAUNCH")

(defconstant +socket+ 3)

(defvar *connection* nil
  "The connection to the process that started this image.")

;;; Ending

(defun leave-now ()
  "End the process in good order, but within seconds, whatever exit hooks and cleanup forms do."
  (unless sb-impl::*exit-in-progress*
    (sb-sys:enable-interrupt sb-unix:sigalrm :default)
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "alarm" (function sb-alien:unsigned-int sb-alien:unsigned-int)) 3)
    (sb-ext:exit :code 0 :timeout 1)))

(defun leave ()
  ;; an exit by another thread than the main one runs the exit hooks twice
  (sb-thread:interrupt-thread (sb-thread:main-thread) #'leave-now))

(defun leave-with (connection)
  (when (eq connection *connection*) (leave)))

(defun hung-up-p (socket timeout)
  "Whether the other end of SOCKET is gone, known after at most TIMEOUT milliseconds, or without limit if that is -1."
  (sb-alien:with-alien ((poll (array (sb-alien:signed 16) 4)))
    (setf (sb-alien:deref poll 0) socket
          (sb-alien:deref poll 1) 0
          ;; POLLRDHUP; elsewhere POLLHUP, which is reported without being asked for, must do
          (sb-alien:deref poll 2) #+linux #x2000 #-linux 0
          (sb-alien:deref poll 3) 0)
    (plusp (sb-alien:alien-funcall
            (sb-alien:extern-alien "poll" (function sb-alien:int (* (array (sb-alien:signed 16) 4))
                                                    sb-alien:unsigned-long sb-alien:int))
            (sb-alien:addr poll) 1 timeout))))

(defun watch-parent (parent)
  "Leave when the process PARENT is gone or has closed its end of the socket.
Swank notices that too, but cannot always act: its reader may be waiting for a lock, and closing its stream
fails when something is unsent."
  (loop until (or (/= (parent-pid) parent)
                  (hung-up-p +socket+ #+linux -1 #-linux 500)))
  (leave))

;;; Serving

(defun sync-indentation ()
  "What Swank does before each reply, for other connections than ours: it is 100 kB that only an editor wants."
  (unless (eq swank::*emacs-connection* *connection*)
    (swank::sync-indentation-to-emacs)))

(defun prepare-swank ()
  (setf swank::*pre-reply-hook*
        (substitute 'sync-indentation 'swank::sync-indentation-to-emacs swank::*pre-reply-hook*))
  (swank::add-hook swank::*connection-closed-hook* 'leave-with))

(defun socket-stream (descriptor)
  (sb-sys:make-fd-stream descriptor :input t :output t :buffering :full :dual-channel-p t
                                    :element-type '(unsigned-byte 8)))

(defun start-swank (stream)
  "Serve STREAM."
  ;; until 2.28 a thread of its own, which servers start, keeps the list of connections
  (let ((start-sentinel (find-symbol "START-SENTINEL" "SWANK")))
    (when start-sentinel (funcall start-sentinel)))
  (let ((connection (swank::make-connection nil stream :spawn)))
    (setf *connection* connection)
    (swank::serve-requests connection)))

(defun uiop-call (name)
  (funcall (find-symbol name "UIOP")))

(defun enable-debugger ()
  (sb-ext:enable-debugger)
  ;; that enables the runtime's own debugger too, where a heap exhausted during collection would have to sit and wait
  #+sb-ldb
  (sb-alien:alien-funcall (sb-alien:extern-alien "disable_lossage_handler" (function sb-alien:void))))

(defun be-sbcl ()
  "Give programs the surroundings that they find in a fresh `sbcl`."
  (enable-debugger)
  (setf (rest sb-ext:*posix-argv*) nil
        *random-state* (make-random-state t)
        ;; an exit would otherwise wait a minute for threads that do not end
        sb-ext:*exit-timeout* 2)
  ;; streams and folders that UIOP remembers are those of the process that saved the core
  (when (find-package "UIOP") (uiop-call "CALL-IMAGE-RESTORE-HOOK")))

(defun serve (parent greeting)
  "Serve the process PARENT. GREETING tells it that this image is the one it wanted."
  (be-sbcl)
  (die-with-parent)
  (let ((stream (socket-stream +socket+)))
    (write-sequence (sb-ext:string-to-octets greeting) stream)
    (finish-output stream)
    (swank::init)
    (start-swank stream))
  (sb-thread:make-thread #'watch-parent :arguments (list parent) :name "swank-client watch")
  (loop (sleep 1000)))
