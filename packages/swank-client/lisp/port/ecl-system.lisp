;;;; The process of ECL, the process that launched it, its threads and its sockets. Other Lisps can load this file, but not use it.

(defpackage #:swank-client/ecl-system
  (:documentation "The process, threads and sockets of ECL.")
  (:use #:common-lisp)
  (:export #:address-in-use-p #:call-as-quit #:die-with-parent #:end-process-soon #:end-threads #:exit-process #:existing-init-file #:hung-up-p
           #:keep-from-children #:parent-pid #:process-output #:show-lines-at-once #:shut-down #:socket-stream #:with-debugger-hook))

(in-package #:swank-client/ecl-system)

#+ecl
(eval-when (:compile-toplevel :load-toplevel :execute)
  (let ((*load-verbose* nil)) (require '#:sockets)))

;;; Functions of the C library

(defun call-c (name result-type &rest types-and-arguments)
  "The value of the C function NAME. TYPES-AND-ARGUMENTS alternates the types of the arguments and these."
  #+(and ecl dffi)
  (loop for (type argument) on types-and-arguments by #'cddr
        collect type into types
        collect argument into arguments
        finally (return (si:call-cfun (si:find-foreign-symbol name :default :pointer-void 0) result-type types arguments)))
  #-(and ecl dffi)
  (error "This Lisp cannot call ~a, of type ~a, with ~s." name result-type types-and-arguments))

(defun parent-pid ()
  "The process id of this process's current parent."
  (call-c "getppid" :int))

(defun die-with-parent ()
  "Make the kernel end this process when its parent ends, on systems that can."
  #+linux (call-c "prctl" :int :int 1 :unsigned-long 9))

(defun end-process-soon (seconds)
  "Make the kernel end this process after SECONDS, whatever Lisp does."
  (let ((sigalrm 14) (default-action 0))
    (call-c "signal" :long :int sigalrm :long default-action))
  (call-c "alarm" :unsigned-int :unsigned-int seconds))

(defun keep-from-children (descriptor)
  "Close DESCRIPTOR in programs that the image runs. Otherwise they would keep the connection open after the image ends."
  (let ((f-setfd 2) (fd-cloexec 1))
    (call-c "fcntl" :int :int descriptor :int f-setfd :int fd-cloexec)))

(defun shut-down (descriptor)
  "Shut down the connection of the socket DESCRIPTOR, even while a thread reads from it."
  (call-c "shutdown" :int :int descriptor :int 2))

(defun hung-up-p (socket timeout)
  "Wait until the other end of SOCKET is closed, TIMEOUT milliseconds at most. => true if it is closed"
  #+(and ecl dffi)
  ;; a pollfd is an int and two shorts
  (let ((poll (si:allocate-foreign-data :unsigned-char 8)))
    (si:foreign-data-set-elt poll 0 :int socket)
    ;; POLLRDHUP; elsewhere POLLHUP, which is reported without being asked for, must do
    (si:foreign-data-set-elt poll 4 :short #+linux #x2000 #-linux 0)
    (si:foreign-data-set-elt poll 6 :short 0)
    (plusp (call-c "poll" :int :pointer-void poll :unsigned-long 1 :int timeout)))
  #-(and ecl dffi)
  (error "This Lisp cannot wait for ~a ms at ~a." timeout socket))

;;; Sockets

(defun socket-stream (descriptor)
  "A stream for Swank on the socket DESCRIPTOR."
  #+ecl
  (sb-bsd-sockets:socket-make-stream (make-instance 'sb-bsd-sockets:local-socket :descriptor descriptor :type :stream)
                                     :input t :output t :buffering :full :element-type '(unsigned-byte 8) :external-format nil)
  #-ecl descriptor)

(defun address-in-use-p (condition)
  "True if CONDITION says that another program listens on the port."
  #+ecl (typep condition 'sb-bsd-sockets:address-in-use-error)
  #-ecl (null condition))

;;; The end of the process

(defun exit-process (code)
  "End this process with CODE, after its exit hooks."
  #+ecl (ext:exit code)
  #-ecl code)

(defun call-as-quit (function)
  "Make QUIT call FUNCTION with the code. ECL's own kills the main thread first, which ends the process with the code 0."
  #+ecl (setf (fdefinition 'ext:quit)
              (lambda (&optional (code 0) kill-all-threads)
                (declare (ignore kill-all-threads))
                (funcall function code)))
  #-ecl function)

(defun end-threads (seconds)
  "Unwind all threads but this one and the main one, and wait at most SECONDS for that."
  #+(and ecl threads)
  (flet ((others ()
           (remove-if (lambda (thread)
                        (or (eq thread mp:*current-process*)
                            (eq 'si:top-level (mp:process-name thread))
                            (not (mp:process-active-p thread))))
                      (mp:all-processes))))
    (dolist (thread (others))
      (handler-case (mp:process-kill thread) (error () nil)))
    (loop repeat (* 50 seconds) while (others) do (sleep 1/50)))
  #-(and ecl threads) seconds)

;;; Output, debugging, and files of the user

(defun process-output ()
  "The stream of this process's standard error."
  #+ecl ext:+process-error-output+
  #-ecl *error-output*)

(defun show-lines-at-once ()
  "Send each line of this process's output as soon as it is complete, although it goes to a pipe."
  #+ecl
  (dolist (stream (list ext:+process-standard-output+ ext:+process-error-output+))
    (ext:set-buffering-mode stream :line)))

(defmacro with-debugger-hook ((hook) &body body)
  "Run BODY, which calls HOOK in place of the debugger."
  #+ecl `(let ((ext:*invoke-debugger-hook* ,hook) (*debugger-hook* ,hook)) ,@body)
  #-ecl `(let ((*debugger-hook* ,hook)) ,@body))

(defun existing-init-file ()
  "The name of the init file that `ecl` would load, or NIL."
  #+ecl
  (loop for file in ext:*lisp-init-file-list*
        for found = (probe-file file)
        ;; a folder has no name
        when (and found (pathname-name found)) return (namestring found)))
