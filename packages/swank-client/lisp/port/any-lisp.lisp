;;;; What each Lisp spells its own way, as far as text/ needs it: answers that are errors, locks, and the names, dates and kinds of files.
;;;; A Lisp without a branch here lacks refinements only.

(defpackage #:swank-client/any-lisp
  (:documentation "What each Lisp spells its own way, as far as text needs it.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:call-if-loaded #:symbol-if-loaded)
  (:export #:*after-exhaustion* #:+unix-epoch+ #:after-exhaustion #:current-folder #:file-stamp #:lisp-operator #:make-lock #:named-format
           #:native-name #:native-pathname #:nil-on #:normalized-text #:normalizing-p #:or-nil #:special-file-p #:with-lock))

(in-package #:swank-client/any-lisp)

;;; Failures that must not break the code around them

(defvar *after-exhaustion* nil "The name of a function to call after a stack was exhausted, or NIL.")

(defun after-exhaustion ()
  "Make this thread ready for another exhaustion of its stack. The stack must be shallow."
  (when *after-exhaustion* (funcall *after-exhaustion*)))

(defmacro nil-on (condition-type &body body)
  "The value of BODY, or NIL if it signals a condition of CONDITION-TYPE, which is how BODY says no."
  `(handler-case (progn ,@body) (,condition-type () nil)))

(defmacro or-nil (&body body)
  "The value of BODY, or NIL if it fails.
For code that users have defined, such as printers, methods, readers and documentation, and for questions about definitions, packages and
files, which other threads change at any time. Such failures say nothing about this library, so they are not recorded: a record of them would
hide its faults."
  `(handler-case (progn ,@body)
     (storage-condition () (after-exhaustion) nil)
     (serious-condition () nil)))

;;; Locks

(defun make-lock (name)
  "A lock with NAME."
  #+sbcl (sb-thread:make-mutex :name name)
  #+(and ecl threads) (mp:make-lock :name name)
  #+abcl (progn name (threads:make-mutex))
  #-(or sbcl (and ecl threads) abcl) name)

(defmacro with-lock ((lock) &body body)
  "Evaluate BODY, which is short, holding LOCK. A thread that stops in it would keep the lock, so it is not interrupted."
  #+sbcl `(sb-sys:without-interrupts (sb-thread:with-mutex (,lock) ,@body))
  #+(and ecl threads) `(mp:without-interrupts (mp:with-lock (,lock) ,@body))
  #+abcl `(threads:with-mutex (,lock) ,@body)
  #-(or sbcl (and ecl threads) abcl) `(progn ,lock ,@body))

;;; Names

(defun lisp-operator (name)
  "The symbol NAME of Common Lisp, or of this Lisp's extensions for users; or NIL."
  (or (symbol-if-loaded "COMMON-LISP" name)
      (symbol-if-loaded #+sbcl "SB-EXT" #-sbcl "EXT" name)))

(defun normalizing-p ()
  "True if the reader normalizes the characters of symbols."
  #+sbcl (sb-ext:readtable-normalization *readtable*))

(defun normalized-text (text)
  "TEXT in the Unicode form in which the reader interns it if it normalizes."
  (or (call-if-loaded "SB-UNICODE" "NORMALIZE-STRING" text :nfkc) text))

;;; Files

(defun native-name (pathname)
  "PATHNAME as the operating system writes it."
  #+sbcl (sb-ext:native-namestring pathname)
  #-sbcl (namestring pathname))

(defun native-pathname (name)
  "The pathname of the file with the native NAME."
  #+sbcl (sb-ext:parse-native-namestring name)
  #-sbcl (pathname name))

(defun current-folder ()
  "The native name of the process's current folder, with the slash at its end, or a slash alone if that was deleted."
  #+sbcl (concatenate 'string (nil-on sb-posix:syscall-error (sb-posix:getcwd)) "/")
  #-sbcl (namestring (truename *default-pathname-defaults*)))

(defun special-file-p (name)
  "True if the file with the native NAME is a pipe or a device, which blocks those who read it."
  #+sbcl (let ((mode (nil-on sb-posix:syscall-error (sb-posix:stat-mode (sb-posix:stat name)))))
           (and mode (not (member (logand mode #o170000) '(#o100000 #o040000)))))
  #+ecl (not (member (ext:file-kind name t) '(:file :directory nil)))
  #-(or sbcl ecl) (progn name nil))

(defconstant +unix-epoch+ (encode-universal-time 0 0 0 1 1 1970 0) "The universal time at which Unix time begins.")

(defun file-stamp (name)
  "(WRITE-DATE CHANGE-DATE SIZE INODE) of the file with the native NAME, in Unix time. The inode is 0 if this Lisp cannot tell it."
  #+sbcl (let ((stat (sb-posix:stat name)))
           (list (sb-posix:stat-mtime stat) (sb-posix:stat-ctime stat) (sb-posix:stat-size stat) (sb-posix:stat-ino stat)))
  #-sbcl (let ((date (- (file-write-date name) +unix-epoch+)))
           (list date date (with-open-file (stream name :element-type '(unsigned-byte 8)) (file-length stream)) 0)))

(defun named-format (file)
  "The external format that FILE names in its first line, as Emacs writes it, if Swank is loaded, which knows these names; or NIL."
  (call-if-loaded "SWANK/BACKEND" "GUESS-EXTERNAL-FORMAT" file))
