;;;; Direct calls. compat/sbcl.lisp exports the names.

(in-package #:swank-client/sbcl)

;;; SBCL's own code calls some functions by address instead of by name. Before such a function gets another definition, SBCL
;;; searches all compiled code for these calls and changes them. That takes milliseconds for each function, and up to seconds on machines
;;; that delay locked access across cache lines, as Linux does by default.

(defparameter *find-fdefn* (first (remove-if-not #'fboundp (existing-symbols '(("SB-INT" "FIND-FDEFN")))))
  "SBCL's function that finds the object through which functions are called by name.")

(defparameter *directly-called-p* (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "FDEFN-HAS-STATIC-CALLERS")))))
  "SBCL's function that tells whether a function is called by address; NIL in an SBCL without such calls, or with a table for them.")

(defparameter *set-directly-called* (first (remove-if-not #'fboundp (existing-symbols '(("SB-VM" "SET-FDEFN-HAS-STATIC-CALLERS")))))
  "SBCL's function that changes what the function in *DIRECTLY-CALLED-P* tells.")

(defun called-directly-p (name)
  "True if SBCL's own code calls the function NAME by address."
  (and *find-fdefn* *directly-called-p* *set-directly-called*
       (funcall *directly-called-p* (funcall *find-fdefn* name))))

(defun note-direct-calls (name calledp)
  "Make SBCL search for direct calls before NAME is redefined if CALLEDP is true, and not search otherwise."
  (funcall *set-directly-called* (funcall *find-fdefn* name) (if calledp 1 0)))

;;; One search for several functions. SBCL's own takes each function in turn, and disassembles. SBCL 2.2.9 to 2.3.11 have all these
;;; functions, and call by address in the same way. The condition is read in the package KEYWORD, which has no variables.

#+#.(cl:if (cl:notany (cl:lambda (cl-user::name) (cl:null (cl:find-symbol cl-user::name "SB-VM")))
                      '("REMOVE-STATIC-LINKS" "MAP-OBJECTS-IN-RANGE" "CODE-HEADER-FDEFN-RANGE" "FDEFN-RAW-ADDR" "FDEFN-ENTRY-ADDRESS"
                        "TEXT-SPACE-START" "*TEXT-SPACE-FREE-POINTER*"))
           '(:and)
           '(:or))
(progn
  (declaim (inline direct-call-p))
  (defun direct-call-p (place entry)
    "True if the address PLACE is that of the distance in a call or a jump to the address ENTRY. These are the octets E8 and E9, and the
distance from the end of the instruction."
    (declare (type (unsigned-byte 48) place entry))
    (let ((distance (sb-sys:int-sap place)))
      (and (= (+ place 4 (sb-sys:signed-sap-ref-32 distance 0)) entry)
           (member (sb-sys:sap-ref-8 distance -1) '(#xE8 #xE9)))))

  (defun map-direct-calls-in-code (function code fdefn)
    "Call FUNCTION with FDEFN and the place of each call in CODE of the function of FDEFN by address."
    (loop with entry = (sb-vm::fdefn-raw-addr fdefn)
          with start of-type (unsigned-byte 48) = (sb-sys:sap-int (sb-kernel:code-instructions code))
          for place of-type (unsigned-byte 48) from (1+ start) to (+ start (- (sb-kernel::%code-text-size code) 4))
          when (direct-call-p place entry) do (funcall function fdefn place)))

  (defun map-direct-calls (function fdefns)
    "Call FUNCTION with each element of FDEFNS and the place of each call of its function by address, in all code."
    (sb-vm::map-objects-in-range
     (lambda (code type size)
       (declare (ignore size))
       (when (= type sb-vm:code-header-widetag)
         (multiple-value-bind (start count) (sb-vm::code-header-fdefn-range code)
           (loop for index from start below (+ start count)
                 for fdefn = (sb-kernel:code-header-ref code index)
                 when (member fdefn fdefns :test #'eq) do (map-direct-calls-in-code function code fdefn)))))
     (ash sb-vm::text-space-start (- sb-vm:n-fixnum-tag-bits))
     (sb-kernel:%make-lisp-obj (sb-sys:sap-int sb-vm::*text-space-free-pointer*))))

  (defun call-by-name (fdefn place)
    "Make the call at PLACE call the function of FDEFN by name. Other threads may be running it."
    (let ((distance (sb-sys:int-sap place)))
      (sb-ext:cas (sb-sys:sap-ref-32 distance 0)
                  (sb-sys:sap-ref-32 distance 0)
                  (ldb (byte 32 0) (- (sb-vm::fdefn-entry-address fdefn) (+ place 4))))))

  (defun direct-calls-p (calls)
    "True if each of CALLS, a list of (FDEFN . PLACE), is a call by address. Where SBCL's code is at another address, a place may be none."
    (loop for (fdefn . place) in calls
          always (and (< sb-vm::text-space-start place (- (sb-sys:sap-int sb-vm::*text-space-free-pointer*) 4))
                      (direct-call-p place (sb-vm::fdefn-raw-addr fdefn))))))

;;; Only a core that is being saved gets direct calls, and its code keeps its address. So their places, found when a module of the library is
;;; compiled, are those in all images of the same core, and no search is needed there.

(defun core-identity ()
  "The core file of this image, with its inode, size and date; NIL if there is none."
  (let ((name (ignore-errors (sb-ext:native-namestring sb-ext:*core-pathname*))))
    (when name
      (multiple-value-bind (foundp device inode mode links owner group special-device size accessed modified) (sb-unix:unix-stat name)
        (declare (ignore device mode links owner group special-device accessed))
        (and foundp (list name inode size modified))))))

(defun direct-calls-of-core (names)
  "(CORE (NAME PLACE*)*) with the places of the calls by address of those functions NAMES that are called so now."
  (when (fboundp 'map-direct-calls)
    (let ((calls (mapcar #'list (remove-if-not #'called-directly-p names))))
      (funcall 'map-direct-calls
               (lambda (fdefn place) (push place (rest (assoc (sb-kernel:fdefn-name fdefn) calls))))
               (mapcar *find-fdefn* (mapcar #'first calls)))
      (cons (core-identity) calls))))

(defmacro known-direct-calls (names)
  "DIRECT-CALLS-OF-CORE of the value of the variable NAMES, in the image that compiles this; NIL where it is not compiled to a file."
  `',(and *compile-file-truename* (direct-calls-of-core (symbol-value names))))

(defun known-calls-of (names known)
  "((FDEFN . PLACE) ...) of all calls by address of the functions NAMES, or NIL if KNOWN, a value of DIRECT-CALLS-OF-CORE, does not tell."
  (destructuring-bind (&optional core &rest calls) known
    (when (and core (equal core (core-identity)) (subsetp names (mapcar #'first calls)))
      (let ((known (loop for name in names
                         for fdefn = (funcall *find-fdefn* name)
                         nconc (loop for place in (rest (assoc name calls)) collect (cons fdefn place)))))
        (and (funcall 'direct-calls-p known) known)))))

(defun remove-direct-calls (names &optional known)
  "Make all code call the functions NAMES by name, in one search at most. Where this does nothing, SBCL searches for each when it is
redefined. KNOWN is the value of KNOWN-DIRECT-CALLS for these functions."
  (let ((lock (static-linker-lock))
        (called (remove-if-not #'called-directly-p names)))
    (when (and called lock (fboundp 'map-direct-calls))
      (with-system-mutex (lock)
        (let ((calls (known-calls-of called known)))
          (if calls
              (loop for (fdefn . place) in calls do (funcall 'call-by-name fdefn place))
              (funcall 'map-direct-calls 'call-by-name (mapcar *find-fdefn* called))))
        (dolist (name called) (note-direct-calls name nil))))))
