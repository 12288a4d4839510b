;;;; The settings under which SBCL runs the library's code, its parts, its process with its memory and sockets, and the process that launched it.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-system
  (:documentation "The settings, parts and process of SBCL.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:user-package)
  (:import-from #:sb-alien #:alien-funcall #:alien-sap #:deref #:null-alien #:slot)
  (:functions #:sb-int #:sbcl-homedir-pathname #:strerror)
  (:functions #:sb-unix #:unix-close #:unix-lstat #:unix-stat)
  (:import-from #:sb-alien #:addr #:extern-alien #:with-alien)
  (:variables #:sb-impl #:*exit-in-progress* #:*tty*)
  (:variables #:sb-sys #:*sbcl-homedir-pathname*)
  (:variables #:sb-unix #:sigalrm)
  (:import-from #:sb-alien #:int #:short #:struct #:unsigned-char #:unsigned-int #:unsigned-long #:void)
  (:export #:c-address-p #:close-descriptor #:die-with-parent #:disable-low-level-debugger #:end-process-soon #:exit-in-progress-p #:hung-up-p
           #:null-alien #:parent-pid #:require-part #:sbcl-homedir-pathname #:set-homedir #:set-socket-option #:shut-down #:socket-pair
           #:tcp-port-of #:terminal-stream #:unix-lstat #:unix-stat #:with-standard-settings))

(in-package #:swank-client/sbcl-system)

(defmacro with-standard-settings (&body body)
  "Run BODY, the library's own code, under Lisp's default settings, whatever the image's user has set."
  `(with-standard-io-syntax
     (let ((*package* (user-package))
           (*print-readably* nil)
           (*break-on-signals* nil)
           (*macroexpand-hook* #'funcall)
           (*compile-print* nil)
           (*compile-verbose* nil)
           (*load-print* nil)
           (*load-verbose* nil)
           (*gensym-counter* 1)
           (sb-ext:*evaluator-mode* :compile))
       ,@body)))

(defun features-of-file (problem)
  "The features that PROBLEM, with which LOAD refuses a part of SBCL, says this SBCL lacks, or NIL. Only the user can have removed them."
  (when (string= "INVALID-FASL-FEATURES" (symbol-name (class-name (class-of problem))))
    (let ((text (find-if #'stringp (loop for slot in (sb-mop:class-slots (class-of problem))
                                         when (string= "FEATURES" (symbol-name (sb-mop:slot-definition-name slot)))
                                           collect (slot-value problem (sb-mop:slot-definition-name slot))))))
      (and text (let ((*package* (find-package "KEYWORD"))) (read-from-string text))))))

(defun require-part (name)
  "Load NAME, a part of this SBCL, whatever the image's user has set."
  (with-standard-settings
    (let ((*default-pathname-defaults* (make-pathname :directory (list :absolute))))
      (handler-case (require name)
        (error (problem)
          (let ((missing (handler-case (features-of-file problem) ((or cell-error reader-error end-of-file) () nil))))
            (unless missing (error problem))
            (let* ((all (union missing *features*))
                   (new (let ((*features* all)) (require name) (set-difference *features* all))))
              ;; those that the part itself has added
              (setf *features* (append new *features*)))))))))

;;; The process

(defun exit-in-progress-p ()
  "True while the image is exiting."
  (and (boundp '*exit-in-progress*) (symbol-value '*exit-in-progress*)))

(defun terminal-stream ()
  "The stream that SBCL uses for the terminal; it need not be a terminal stream."
  *tty*)

(defun set-homedir (folder)
  "Make REQUIRE look in FOLDER."
  (setf *sbcl-homedir-pathname* folder))

;;; Sockets, as the system's own functions see them

(defun set-socket-option (descriptor level option value)
  "Set an integer OPTION of the socket DESCRIPTOR, at LEVEL of the protocol.
The first use of the socket class of SB-BSD-SOCKETS compiles its constructor."
  (with-alien ((value int value))
    (alien-funcall (extern-alien "setsockopt" (function int int int int (* int) int)) descriptor level option (addr value) 4)))

(defun tcp-port-of (descriptor)
  "The local TCP port of the socket DESCRIPTOR, or NIL if that is not one of TCP."
  (with-alien ((address (array unsigned-char 128))
               (size int 128))
    (let ((result (alien-funcall (extern-alien "getsockname" (function int int (* (array unsigned-char 128)) (* int)))
                                 descriptor (addr address) (addr size)))
          ;; BSD's family follows a byte with the size
          (family (deref address #+bsd 1 #-bsd 0)))
      (and (zerop result)
           ;; AF_INET, and AF_INET6 of Linux, FreeBSD and macOS
           (member family '(2 10 28 30))
           (+ (* 256 (deref address 2)) (deref address 3))))))

;;; A launched image: its process, its parent and its sockets

(defun parent-pid ()
  "The process id of this process's current parent."
  (alien-funcall (extern-alien "getppid" (function int))))

(defun die-with-parent ()
  "Make the kernel end this process when its parent ends, on systems that can."
  ;; the kernel does this even if a garbage collection waits for a thread, so that no Lisp code runs
  #+linux
  (alien-funcall (extern-alien "prctl" (function int int unsigned-long)) 1 9))

(defun end-process-soon (seconds)
  "Make the kernel end this process after SECONDS, whatever Lisp does."
  (sb-sys:enable-interrupt sigalrm :default)
  (alien-funcall (extern-alien "alarm" (function unsigned-int unsigned-int)) seconds))

(defun disable-low-level-debugger ()
  "Keep this process from entering SBCL's low-level debugger, in which one with an exhausted heap would wait forever."
  #+sb-ldb
  (alien-funcall (extern-alien "disable_lossage_handler" (function void))))

(defun close-descriptor (descriptor)
  "Close DESCRIPTOR."
  (unix-close descriptor))

(defun socket-pair ()
  "Create two connected sockets. => their descriptors"
  (with-alien ((ends (array int 2)))
    (let ((status (alien-funcall (extern-alien "socketpair" (function int int int int (* (array int 2)))) 1 1 0 (addr ends))))
      (unless (zerop status) (error "socketpair failed: ~a" (strerror)))
      (values (deref ends 0) (deref ends 1)))))

(defun shut-down (descriptor)
  "Shut down the connection of the socket DESCRIPTOR, even while a thread reads from it."
  (alien-funcall (extern-alien "shutdown" (function int int int)) descriptor 2))

(defun hung-up-p (socket timeout)
  "Wait until the other end of SOCKET is closed, TIMEOUT milliseconds at most, or forever if that is -1. => true if it is closed"
  (with-alien ((poll (struct nil (fd int) (events short) (revents short))))
    (setf (slot poll 'fd) socket
          ;; POLLRDHUP; elsewhere POLLHUP, which is reported without being asked for, must do
          (slot poll 'events) #+linux #x2000 #-linux 0
          (slot poll 'revents) 0)
    (plusp (alien-funcall (extern-alien "poll" (function int sb-sys:system-area-pointer unsigned-long int)) (alien-sap poll) 1 timeout))))

;;; Linux maps the C library at a random distance below the room that the main stack may need, which the user's limit sets: with the usual limit
;;; mostly, but not always, above #x7f0000000000, and without one in the lower third of all addresses. The objects and functions of Lisp are below
;;; both, and SBCL's program is between them.

(defun c-address-p (address)
  "True if ADDRESS is in the C library, its memory or a stack, and not in Lisp."
  (or (<= #x700000000000 address) (< #x100000000000 address #x500000000000)))
