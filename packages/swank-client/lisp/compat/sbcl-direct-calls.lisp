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
  (defun restore-named-calls (code entry named-entry)
    "Make the calls in CODE of the address ENTRY call NAMED-ENTRY. A call or a jump is the octet E8 or E9, and the distance from its end."
    (declare (type (unsigned-byte 48) entry named-entry))
    (loop with instructions = (sb-kernel:code-instructions code)
          for place of-type (unsigned-byte 32) from 1 to (- (sb-kernel::%code-text-size code) 4)
          for end of-type (unsigned-byte 48) = (+ (sb-sys:sap-int instructions) place 4)
          for distance = (sb-sys:signed-sap-ref-32 instructions place)
          when (and (= (+ end distance) entry)
                    (member (sb-sys:sap-ref-8 instructions (1- place)) '(#xE8 #xE9)))
            ;; other threads may be running it
            do (sb-ext:cas (sb-sys:sap-ref-32 instructions place)
                           (ldb (byte 32 0) distance)
                           (ldb (byte 32 0) (- named-entry end)))))

  (defun restore-named-calls-everywhere (fdefns)
    "Make all code call the functions of FDEFNS by their names."
    (sb-vm::map-objects-in-range
     (lambda (code type size)
       (declare (ignore size))
       (when (= type sb-vm:code-header-widetag)
         (multiple-value-bind (start count) (sb-vm::code-header-fdefn-range code)
           (loop for index from start below (+ start count)
                 for fdefn = (sb-kernel:code-header-ref code index)
                 when (member fdefn fdefns :test #'eq)
                   do (restore-named-calls code (sb-vm::fdefn-raw-addr fdefn) (sb-vm::fdefn-entry-address fdefn))))))
     (ash sb-vm::text-space-start (- sb-vm:n-fixnum-tag-bits))
     (sb-kernel:%make-lisp-obj (sb-sys:sap-int sb-vm::*text-space-free-pointer*)))))

(defun remove-direct-calls (names)
  "Make all code call the functions NAMES by name, in one search. Where this does nothing, SBCL searches for each when it is redefined."
  (let ((searcher 'restore-named-calls-everywhere)
        (lock (static-linker-lock))
        (called (remove-if-not #'called-directly-p names)))
    (when (and called lock (fboundp searcher))
      (with-system-mutex (lock)
        (funcall searcher (mapcar *find-fdefn* called))
        (dolist (name called) (note-direct-calls name nil))))))
