;;;; The life of an image that serves the process which started it, over the socket inherited as descriptor 3.

(in-package "SWANK-CLIENT.LAUNCH")

(defvar *connection* nil
  "The connection to the process that started this image.")

;;; Ending

(defvar *leaving* nil
  "Whether this image is ending because its parent is gone.")

(defun service-thread-p (thread)
  "Whether THREAD is one of those that serve a connection: they may be ending themselves, and are not worth waiting for."
  (member (sb-thread:thread-name thread)
          '("swank-client watch" "Swank Sentinel" "control-thread" "reader-thread" "swank-indentation-cache-thread")
          :test #'equal))

(defun end-programs ()
  "Unwind the threads that run programs, and give them a second for that."
  (let ((threads (remove-if #'service-thread-p (remove sb-thread:*current-thread* (sb-thread:list-all-threads))))
        (deadline (+ (get-internal-real-time) internal-time-units-per-second)))
    (dolist (thread threads)
      (ignore-errors (sb-thread:terminate-thread thread)))
    (dolist (thread threads)
      (sb-thread:join-thread thread :default nil
                                    :timeout (max 0 (/ (- deadline (get-internal-real-time))
                                                       internal-time-units-per-second))))))

(defun leave-now ()
  "End the process as an exit does, but without waiting for everything."
  (unless sb-impl::*exit-in-progress*
    (dolist (hook sb-ext:*exit-hooks*)
      (ignore-errors (funcall hook)))
    (end-programs)
    (ignore-errors (finish-output sb-sys:*stdout*))
    (ignore-errors (finish-output sb-sys:*stderr*))
    (sb-ext:exit :code 0 :abort t)))

(defun leave ()
  (unless (sb-ext:compare-and-swap (symbol-value '*leaving*) nil t)
    ;; nothing that Lisp does can hold this up
    (sb-sys:enable-interrupt sb-unix:sigalrm :default)
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "alarm" (function sb-alien:unsigned-int sb-alien:unsigned-int)) 3)
    ;; in the main thread, where exit hooks are used to run
    (sb-thread:interrupt-thread (sb-thread:main-thread)
                                (lambda () (sb-sys:with-interrupts (leave-now))))))

(defun leave-with (connection)
  (when (eq connection *connection*) (leave)))

(defun hung-up-p (socket timeout)
  "Whether the other end of SOCKET is gone, known after at most TIMEOUT milliseconds, or without limit if that is -1."
  (sb-alien:with-alien ((poll (sb-alien:struct nil (fd sb-alien:int) (events sb-alien:short) (revents sb-alien:short))))
    (setf (sb-alien:slot poll 'fd) socket
          ;; POLLRDHUP; elsewhere POLLHUP, which is reported without being asked for, must do
          (sb-alien:slot poll 'events) #+linux #x2000 #-linux 0
          (sb-alien:slot poll 'revents) 0)
    (plusp (sb-alien:alien-funcall
            (sb-alien:extern-alien "poll" (function sb-alien:int sb-sys:system-area-pointer
                                                    sb-alien:unsigned-long sb-alien:int))
            (sb-alien:alien-sap poll) 1 timeout))))

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

(defun keep-from-children (descriptor)
  "Have DESCRIPTOR closed in the programs that this image runs: held open there, it would outlive the image."
  (sb-posix:fcntl descriptor sb-posix:f-setfd 1))

(defun serve (parent greeting)
  "Serve the process PARENT. GREETING tells it that this image is the one it wanted."
  (be-sbcl)
  (die-with-parent)
  (keep-from-children +socket+)
  (let ((stream (socket-stream +socket+)))
    (write-sequence (sb-ext:string-to-octets greeting) stream)
    (finish-output stream)
    (swank::init)
    (start-swank stream))
  (sb-thread:make-thread #'watch-parent :arguments (list parent) :name "swank-client watch")
  (loop (sleep 1000)))
