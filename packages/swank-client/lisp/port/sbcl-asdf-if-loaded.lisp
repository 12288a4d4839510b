;;;; What is said to ASDF, and what it says, while it may be missing: the first evaluation must not wait for it.

(defpackage #:swank-client/sbcl-asdf-if-loaded
  (:documentation "The loaded Swank as a system of ASDF, and ASDF's warnings, if ASDF is loaded.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:accessible-symbol #:call-if-loaded #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-faults #:recording-faults)
  (:export #:announce-swank #:repetition-p #:retract-swank))

(in-package #:swank-client/sbcl-asdf-if-loaded)

(defun repetition-p (condition)
  "True if CONDITION is the warning of ASDF that a file had style warnings, which have been kept."
  (let ((type (and (find-package "UIOP") (accessible-symbol "COMPILE-WARNED-WARNING" "UIOP"))))
    (and type (find-class type nil) (typep condition type))))

;;; ASDF does not know a Swank that it did not load. It would load another one over it for a system that depends on it, and then stops are lost.

(defvar *swank-announced* nil "NIL, or who told ASDF that Swank is loaded: :US, and ASDF has to forget that when the last client disconnects, or :OTHERS.")

;;; ASDF's tables are not synchronized: two threads that add to one at a time break it.
(defvar *asdf-lock* (or (get :swank-client :asdf-lock)
                        (setf (get :swank-client :asdf-lock) (sb-thread:make-mutex :name "swank-client asdf")))
  "Held by any version of the runtime while ASDF is told of Swank. Who waits for it gives up after a second, because its holder may have stopped in the debugger.")

(defun asdf-table (name)
  "ASDF's table of systems in the variable NAME, or NIL."
  (let ((table (value-if-loaded "ASDF/SYSTEM-REGISTRY" name)))
    (and (hash-table-p table) table)))

(defun swank-definition ()
  "The file that defines the system of the loaded Swank, or NIL."
  (let ((folder (value-if-loaded "SWANK-LOADER" "*SOURCE-DIRECTORY*")))
    (and folder (probe-file (merge-pathnames "swank.asd" folder)))))

(defun swank-version ()
  "The version of the loaded Swank as ASDF compares versions, \"2.32\" for 2.32.git; or NIL."
  (let* ((version (value-if-loaded "SWANK" "*SWANK-WIRE-PROTOCOL-VERSION*"))
         (numbers (and (stringp version) (string-right-trim "." (subseq version 0 (position-if (lambda (char) (not (find char "0123456789."))) version))))))
    (and numbers (string/= "" numbers) numbers)))

(defun register-swank ()
  "Register the loaded Swank with ASDF."
  ;; a system whose definition was found, but that was not loaded, would be loaded all the same
  (unless (or-nil (call-if-loaded "ASDF" "COMPONENT-LOADED-P" "swank"))
    (call-if-loaded "ASDF" "CLEAR-SYSTEM" "swank"))
  (let ((version (swank-version)) (definition (swank-definition)))
    (apply #'call-if-loaded "ASDF" "REGISTER-IMMUTABLE-SYSTEM" "swank"
           (append (and version (list :version version))
                   (and definition (list :source-file definition))))))

(defun announce-swank ()
  "Tell ASDF, if it is loaded, that Swank is loaded, so that it loads no other."
  (unless (or *swank-announced* (not (find-package "ASDF")))
    (sb-thread:with-mutex (*asdf-lock* :timeout 1)
      (unless *swank-announced*
        (setf *swank-announced*
              (let ((*break-on-signals* nil)
                    (immutable (asdf-table "*IMMUTABLE-SYSTEMS*")))
                (cond ((and immutable (gethash "swank" immutable)) :others)
                      (t (recording-faults (register-swank)) :us))))))))

(defun forget-swank ()
  "Make ASDF forget what REGISTER-SWANK told it."
  (loop for name in '("*IMMUTABLE-SYSTEMS*" "*PRELOADED-SYSTEMS*")
        for table = (asdf-table name)
        when table do (remhash "swank" table))
  (let ((system (call-if-loaded "ASDF" "REGISTERED-SYSTEM" "swank")))
    (when (and system (null (call-if-loaded "ASDF" "COMPONENT-CHILDREN" system)))
      (call-if-loaded "ASDF" "CLEAR-SYSTEM" "swank"))))

(defun retract-swank ()
  "Make ASDF forget what ANNOUNCE-SWANK told it."
  (sb-thread:with-mutex (*asdf-lock* :timeout 1)
    (when (eq :us (shiftf *swank-announced* nil))
      (recording-faults (forget-swank)))))
