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

  (defun map-code (function start)
    "Call FUNCTION with each compiled code from the address START on, and its size in octets."
    (sb-vm::map-objects-in-range
     (lambda (code type size) (when (= type sb-vm:code-header-widetag) (funcall function code size)))
     (ash start (- sb-vm:n-fixnum-tag-bits))
     (sb-kernel:%make-lisp-obj (sb-sys:sap-int sb-vm::*text-space-free-pointer*))))

  (defun map-direct-calls (function fdefns &optional (start sb-vm::text-space-start))
    "Call FUNCTION with each element of FDEFNS and the place of each call of its function by address, in all code from the address START on."
    (map-code (lambda (code size)
                (declare (ignore size))
                (multiple-value-bind (start count) (sb-vm::code-header-fdefn-range code)
                  (loop for index from start below (+ start count)
                        for fdefn = (sb-kernel:code-header-ref code index)
                        when (member fdefn fdefns :test #'eq) do (map-direct-calls-in-code function code fdefn))))
              start))

  (defun core-code-end ()
    "The address after the code of the core, which never moves and is never freed."
    (let ((end 0))
      (map-code (lambda (code size)
                  (when (= sb-vm:+pseudo-static-generation+ (sb-kernel:generation-of code))
                    (setf end (+ size (logandc2 (sb-kernel:get-lisp-obj-address code) sb-vm:lowtag-mask)))))
                sb-vm::text-space-start)
      end))

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

;;; The places of the direct calls in a core's own code are the same in all images of the core. They are found when a module of the library is
;;; compiled, so that only code which was loaded later is searched in other images. That has direct calls after a failed SAVE-LISP-AND-DIE, for example.

(defun core-identity ()
  "The device, inode, size and date of this image's core file; NIL if there is none."
  (let ((name (ignore-errors (sb-ext:native-namestring sb-ext:*core-pathname*))))
    (when name
      (multiple-value-bind (foundp device inode mode links owner group special-device size accessed modified) (sb-unix:unix-stat name)
        (declare (ignore mode links owner group special-device accessed))
        (and foundp (list device inode size modified))))))

(defun direct-calls-of-core (names)
  "(CORE END (NAME PLACE*)*) with the places, before the address END of the end of the core's code, of all calls by address of those functions
NAMES that are called so now."
  (let ((calls (mapcar #'list (remove-if-not #'called-directly-p names)))
        (end (funcall 'core-code-end)))
    (funcall 'map-direct-calls
             (lambda (fdefn place)
               (when (< place end) (push place (rest (assoc (sb-kernel:fdefn-name fdefn) calls)))))
             (mapcar *find-fdefn* (mapcar #'first calls)))
    (list* (core-identity) end calls)))

(defvar *search-failed* nil "True while this image is searched for direct calls to change, and after that has failed: some may be changed already.")

(defun direct-calls-if-found (names)
  "DIRECT-CALLS-OF-CORE of NAMES; NIL if it cannot be found out."
  (let ((lock (static-linker-lock)))
    (and lock (fboundp 'map-direct-calls) (not *search-failed*)
         ;; the search fails if code is allocated meanwhile; its end is then not where it was
         (loop repeat 5
               thereis (ignore-errors (with-system-mutex (lock) (direct-calls-of-core names)))))))

(defmacro known-direct-calls (names)
  "DIRECT-CALLS-OF-CORE of the value of the variable NAMES, in the image that compiles this to a file; otherwise NIL."
  `',(and *compile-file-truename* (direct-calls-if-found (symbol-value names))))

(defun known-calls-of (names known)
  "((FDEFN . PLACE) ...) of all calls by address of the functions NAMES in the core's code, or NIL if KNOWN, a value of DIRECT-CALLS-OF-CORE,
does not tell. => the list, and the address of the end of the core's code"
  (destructuring-bind (&optional core end &rest calls) known
    (when (and core (equal core (core-identity)) (subsetp names (mapcar #'first calls)))
      (let ((known (loop for name in names
                         for fdefn = (funcall *find-fdefn* name)
                         nconc (loop for place in (rest (assoc name calls)) collect (cons fdefn place)))))
        (and (funcall 'direct-calls-p known) (values known end))))))

(defun remove-direct-calls (names &optional known)
  "Make all code call the functions NAMES by name, in one search at most. Where this does nothing, SBCL searches for each when it is
redefined. KNOWN, a value of KNOWN-DIRECT-CALLS for these functions, saves the search of the core's own code."
  (let ((lock (static-linker-lock))
        (called (remove-if-not #'called-directly-p names)))
    (when (and called lock (fboundp 'map-direct-calls))
      (setf *search-failed* t)
      (with-system-mutex (lock)
        (multiple-value-bind (calls end) (known-calls-of called known)
          (loop for (fdefn . place) in calls do (funcall 'call-by-name fdefn place))
          (apply 'map-direct-calls 'call-by-name (mapcar *find-fdefn* called) (and end (list end))))
        (dolist (name called) (note-direct-calls name nil)))
      (setf *search-failed* nil))))
