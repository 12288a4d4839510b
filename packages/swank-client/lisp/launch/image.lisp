;;;; Runs an image that serves its parent process over the socket inherited as descriptor 3.

(in-package #:swank-client/launch)

(defvar *connection* nil
  "The connection to the process that started this image.")

;;; Ending

(defvar *leaving* nil
  "True if this image is ending because its parent has gone.")

(defun service-thread-p (thread)
  "True if THREAD serves a connection. Such a thread may be ending, and need not be waited for."
  (member (sb-thread:thread-name thread)
          '("swank-client watch" "Swank Sentinel" "control-thread" "reader-thread" "swank-indentation-cache-thread")
          :test #'equal))

(defun end-programs ()
  "Unwind the threads that run programs, and wait at most 1 s for that."
  (let ((threads (remove-if #'service-thread-p (remove sb-thread:*current-thread* (sb-thread:list-all-threads))))
        (deadline (+ (get-internal-real-time) internal-time-units-per-second)))
    (dolist (thread threads)
      (ignore-errors (sb-thread:terminate-thread thread)))
    (dolist (thread threads)
      (sb-thread:join-thread thread :default nil
                                    :timeout (max 0 (/ (- deadline (get-internal-real-time))
                                                       internal-time-units-per-second))))))

(defun leave-now ()
  "End the process as EXIT does, but without waiting for all threads."
  (unless (exit-in-progress-p)
    (dolist (hook sb-ext:*exit-hooks*)
      (ignore-errors (funcall hook)))
    (end-programs)
    (ignore-errors (finish-output sb-sys:*stdout*))
    (ignore-errors (finish-output sb-sys:*stderr*))
    (sb-ext:exit :code 0 :abort t)))

(defun leave-image ()
  "End the process soon, at the latest after 3 s."
  (unless (sb-ext:compare-and-swap (symbol-value '*leaving*) nil t)
    (end-process-soon 3)
    ;; exit hooks expect to run in the main thread
    (sb-thread:interrupt-thread (sb-thread:main-thread)
                                (lambda () (sb-sys:with-interrupts (leave-now))))))

(defun leave-after-closing (connection)
  "Called by Swank with a CONNECTION that has closed."
  (when (eq connection *connection*) (leave-image)))

(defun watch-parent (parent)
  "Leave when the process PARENT has ended or has closed its end of the socket.
Swank notices that too, but cannot always act: its reader may be waiting for a lock, and closing its stream
fails when output is unsent."
  (loop until (or (/= (parent-pid) parent)
                  (hung-up-p +socket+ #+linux -1 #-linux 500)))
  (leave-image))

;;; Serving

(defun sync-indentation ()
  "Send indentation rules before a reply, as Swank does, except to our parent. The guard of its connection comes too late: after replies."
  (sync-indentation-except *connection*))

(defun prepare-swank ()
  "Change Swank's hooks for an image that we launched."
  (setf *pre-reply-hook*
        (substitute 'sync-indentation 'sync-indentation-to-emacs *pre-reply-hook*))
  (add-hook *connection-closed-hook* 'leave-after-closing))

(defun socket-stream (descriptor)
  "A stream for Swank on the socket DESCRIPTOR."
  (sb-sys:make-fd-stream descriptor :input t :output t :buffering :full :dual-channel-p t
                                    :element-type '(unsigned-byte 8)))

(defun start-swank (stream)
  "Start serving a client over STREAM."
  (start-sentinel)
  (let ((connection (make-connection nil stream :spawn)))
    (setf *connection* connection)
    (serve-requests connection)))

(defun enable-debugger ()
  "Make errors enter the debugger, as in an interactive SBCL."
  (sb-ext:enable-debugger)
  ;; this also enables SBCL's low-level debugger
  (disable-low-level-debugger))

(defun reset-process-state ()
  "Give programs the environment of a fresh `sbcl`."
  (enable-debugger)
  (setf (rest sb-ext:*posix-argv*) nil
        *random-state* (make-random-state t)
        ;; an exit would otherwise wait a minute for threads that do not end
        sb-ext:*exit-timeout* 2)
  ;; UIOP still holds streams and folders of the process that saved the core
  (call-if-loaded "UIOP" "CALL-IMAGE-RESTORE-HOOK"))

(defun serve (parent greeting)
  "Serve the process PARENT. GREETING, sent first, identifies this image to it."
  (reset-process-state)
  (die-with-parent)
  (keep-from-children +socket+)
  (let ((stream (socket-stream +socket+)))
    (write-sequence (sb-ext:string-to-octets greeting) stream)
    (finish-output stream)
    (init)
    (start-swank stream))
  (sb-thread:make-thread #'watch-parent :arguments (list parent) :name "swank-client watch")
  (loop (sleep 1000)))
