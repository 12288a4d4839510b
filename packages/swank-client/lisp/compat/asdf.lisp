;;;; What ASDF, Quicklisp and ocicl know about systems. ASDF is loaded when it is needed, and the others may be missing.

(defpackage #:swank-client/asdf
  (:documentation "ASDF's systems and actions, and what it looks for systems with.")
  (:use #:common-lisp #:swank-client/sbcl)
  (:export #:action-kind
           #:add-folder
           #:call-without-downloads
           #:call-accepting-failures
           #:circular-components
           #:compiled-pathname
           #:component-name
           #:component-source
           #:compile-failure-p
           #:compile-source
           #:component-system-name
           #:defined-together-p
           #:ensure-asdf
           #:find-system
           #:install-system
           #:installable-system
           #:known-systems
           #:load-definitions
           #:load-system
           #:missing-system
           #:ocicl-searcher-name
           #:perform-name
           #:perform-plan-name
           #:plan-sources
           #:registered-system
           #:report-of-asdf-p
           #:retry-finding
           #:search-places
           #:system-definition-file
           #:system-names
           #:system-p
           #:system-sources
           #:system-with-parts
           #:systems-defined-in
           #:test-systems
           #:test-systems-of))

(in-package #:swank-client/asdf)

(defun ensure-asdf ()
  "Load ASDF unless it is loaded."
  (unless (find-package "ASDF") (require-part "asdf")))

(defun named (name &optional (package "ASDF"))
  "The symbol NAME of PACKAGE, or NIL."
  (and (find-package package) (find-symbol name package)))

(defun asdf (name &rest arguments)
  "The values of ASDF's exported function NAME, called with ARGUMENTS."
  (apply #'call-if-loaded "ASDF" name arguments))

(defun of-class-p (object name &optional (package "ASDF"))
  "True if OBJECT is an instance of the class NAME of PACKAGE."
  (let ((class (find-class (or (named name package) 'nil) nil)))
    (and class (typep object class))))

;;; Actions: an operation on a component

(defun perform-name ()
  "The name of the function that performs an action."
  (named "PERFORM"))

(defun perform-plan-name ()
  "The name of the function that performs all actions of a plan."
  (named "PERFORM-PLAN" "ASDF/PLAN"))

(defun action-kind (operation)
  "Whether OPERATION is to :COMPILE or to :LOAD, or NIL."
  (cond ((of-class-p operation "BASIC-COMPILE-OP") :compile)
        ((of-class-p operation "BASIC-LOAD-OP") :load)))

(defun system-p (component)
  "True if COMPONENT is a system."
  (of-class-p component "SYSTEM"))

(defun component-name (component)
  "The name of COMPONENT."
  (asdf "COMPONENT-NAME" component))

(defun component-system-name (component)
  "The name of the system of COMPONENT."
  (component-name (asdf "COMPONENT-SYSTEM" component)))

(defun component-source (component)
  "The pathname of COMPONENT if it is a file with Lisp code, or NIL."
  (and (of-class-p component "CL-SOURCE-FILE") (asdf "COMPONENT-PATHNAME" component)))

(defun plan-sources (plan)
  "((SYSTEM . PATHNAME) ...) of the files that PLAN loads, in order."
  (loop for action in (call-if-loaded "ASDF/PLAN" "PLAN-ACTIONS" plan)
        for component = (call-if-loaded "ASDF/ACTION" "ACTION-COMPONENT" action)
        for source = (component-source component)
        when (and source (eq :load (action-kind (call-if-loaded "ASDF/ACTION" "ACTION-OPERATION" action))))
          collect (cons (component-system-name component) source)))

;;; Systems

(defun find-system (name)
  "The system NAME, or NIL if ASDF does not find it."
  (asdf "FIND-SYSTEM" name nil))

(defun load-system (name forced)
  "Compile what is not up to date, and all files of the systems with the names FORCED, and load the system NAME."
  (if forced (asdf "LOAD-SYSTEM" name :force forced) (asdf "LOAD-SYSTEM" name)))

(defun system-sources (name)
  "((SYSTEM-NAME SOURCE COMPILED) ...): the files with Lisp code of the system NAME and of those that it depends on, as pathnames."
  (let ((operation (asdf "MAKE-OPERATION" (named "COMPILE-OP"))))
    (loop for component in (asdf "REQUIRED-COMPONENTS" (find-system name) :other-systems t)
          for source = (component-source component)
          when source
            collect (list (component-system-name component) source (first (asdf "OUTPUT-FILES" operation component))))))

(defun system-with-parts (name)
  "The names of the system NAME and of those it depends on that the same file defines, or that are inferred from packages below it."
  (remove-duplicates
   (cons name (loop for component in (asdf "REQUIRED-COMPONENTS" (find-system name)
                                           :other-systems t :component-type (named "SYSTEM"))
                    for other = (component-name component)
                    when (defined-together-p name other) collect other))
   :test #'string=))

(defun defined-together-p (name other)
  "True if one file defines the systems NAME and OTHER."
  (string= (asdf "PRIMARY-SYSTEM-NAME" name) (asdf "PRIMARY-SYSTEM-NAME" other)))

(defun load-definitions (file)
  "Load FILE, which defines systems."
  (asdf "LOAD-ASD" file))

(defun system-definition-file (system)
  "The pathname of the file that defines SYSTEM, or NIL."
  (asdf "SYSTEM-SOURCE-FILE" system))

(defun systems-defined-in (file)
  "The names of the known systems that FILE, a truename, defines."
  (sort (loop for name in (asdf "REGISTERED-SYSTEMS")
              for system = (asdf "REGISTERED-SYSTEM" name)
              for source = (and system (system-definition-file system))
              when (and source (equal file (probe-file source))) collect name)
        #'string<))

(defun source-registry ()
  "The names of the systems in the folders that ASDF searches."
  (let* ((variable (named "*SOURCE-REGISTRY*" "ASDF/SOURCE-REGISTRY"))
         (table (and variable (boundp variable) (symbol-value variable))))
    (and (hash-table-p table)
         (loop for name being the hash-keys of table collect name))))

(defun installable-systems ()
  "The names of the systems that Quicklisp provides, and of those that ocicl has installed."
  (append (ignore-errors
           (loop for system in (call-if-loaded "QL-DIST" "PROVIDED-SYSTEMS" t)
                 collect (call-if-loaded "QL-DIST" "NAME" system)))
          (ignore-errors (call-if-loaded "OCICL-RUNTIME" "SYSTEM-LIST"))))

(defun known-systems ()
  "The names of the systems that ASDF knows, or finds in the folders that it searches, and of those that can be installed."
  (remove-duplicates (append (asdf "REGISTERED-SYSTEMS") (source-registry) (installable-systems)) :test #'string=))

(defun add-folder (folder)
  "Make ASDF search FOLDER, a pathname, from now on, and before all others."
  (let ((variable (named "*CENTRAL-REGISTRY*")))
    (setf (symbol-value variable) (cons folder (remove folder (symbol-value variable) :test #'equal)))))

(defun call-without-downloads (function)
  "Call FUNCTION, which looks for systems that may not exist. ocicl would try to download them."
  (let ((variable (named "*DOWNLOAD*" "OCICL-RUNTIME")))
    (progv (and variable (list variable)) (list nil) (funcall function))))

(defun ocicl-searcher-name ()
  "The name of the function with which ocicl finds systems and downloads them, or NIL without ocicl."
  (named "SYSTEM-DEFINITION-SEARCHER" "OCICL-RUNTIME"))

(defun declared-test-systems (system)
  "The names of the systems that a test of SYSTEM needs, as its definition says."
  (loop for (operation . steps) in (call-if-loaded "ASDF/COMPONENT" "COMPONENT-IN-ORDER-TO" system)
        when (string-equal operation "TEST-OP")
          append (loop for (nil . names) in steps
                       append (loop for name in names
                                    when (typep name '(or string symbol)) collect (asdf "COERCE-NAME" name)))))

(defun test-systems (system)
  "The names of SYSTEM and of the systems that a test of it needs, as its definition says."
  (cons (component-name system) (declared-test-systems system)))

(defun test-systems-of (system)
  "The names of the systems with the tests of SYSTEM: those that its definition says, and those that exist with usual names."
  (let ((name (component-name system)))
    (remove-duplicates
     (append (remove name (declared-test-systems system) :test #'string=)
             (call-without-downloads
              (lambda ()
                (loop for end in '("/test" "/tests" "-test" "-tests")
                      for other = (concatenate 'string name end)
                      when (find-system other) collect other))))
     :test #'string= :from-end t)))

;;; Where systems are looked for

(defun central-folders ()
  "The folders of *CENTRAL-REGISTRY*."
  (loop for entry in (symbol-value (named "*CENTRAL-REGISTRY*"))
        for folder = (ignore-errors (eval entry))
        when folder collect (pathname folder)))

(defun configured-folders ()
  "((FOLDER . BELOW) ...) of ASDF's configuration. BELOW: folders below it are searched, too."
  (loop for (folder . options) in (ignore-errors (call-if-loaded "ASDF/SOURCE-REGISTRY" "FLATTEN-SOURCE-REGISTRY"))
        when (pathnamep folder) collect (cons folder (getf options :recurse))))

(defun installers-folders ()
  "((FOLDER . T) ...) of the folders in which Quicklisp and ocicl look for systems, besides what Quicklisp itself has installed."
  (loop for folder in (append (value-if-loaded "QL" "*LOCAL-PROJECT-DIRECTORIES*")
                              (list (value-if-loaded "OCICL-RUNTIME" "*LOCAL-SYSTEMS-DIR*")
                                    (value-if-loaded "OCICL-RUNTIME" "*GLOBAL-SYSTEMS-DIR*")))
        when folder collect (cons folder t)))

(defun search-places ()
  "((FOLDER . BELOW) ...) of the existing folders in which ASDF looks for systems, and the names of the programs that also provide some."
  (values (remove-if-not (lambda (place) (ignore-errors (probe-file (first place))))
                         (append (mapcar #'list (central-folders)) (configured-folders) (installers-folders)))
          (append (and (find-package "QL-DIST") '("Quicklisp"))
                  (and (find-package "OCICL-RUNTIME") '("ocicl")))))

(defun installable-system (name)
  "What Quicklisp provides as the system NAME, or as the one whose definition also defines NAME; or NIL."
  (or (call-if-loaded "QL-DIST" "FIND-SYSTEM" name)
      (call-if-loaded "QL-DIST" "FIND-SYSTEM" (asdf "PRIMARY-SYSTEM-NAME" name))))

(defun install-system (system)
  "Make Quicklisp install SYSTEM, of INSTALLABLE-SYSTEM."
  (call-if-loaded "QL-DIST" "ENSURE-INSTALLED" system))

;;; Conditions

(defun name-of (thing)
  "The name of THING, a component or the name of one, with those of the components that it is in."
  (if (of-class-p thing "COMPONENT")
      (format nil "~{~a~^/~}" (asdf "COMPONENT-FIND-PATH" thing))
      (string-downcase (princ-to-string thing))))

(defun missing-system (condition)
  "=> the name of the system or component that is missing according to CONDITION, the name of what needs it or NIL, and the version that is
needed or NIL. Or NIL, if CONDITION is about something else."
  (when (of-class-p condition "MISSING-COMPONENT")
    (flet ((ask (name) (call-if-loaded "ASDF/FIND-COMPONENT" name condition)))
      (let ((requirer (and (of-class-p condition "MISSING-DEPENDENCY") (ask "MISSING-REQUIRED-BY"))))
        (values (name-of (ask "MISSING-REQUIRES"))
                (and requirer (name-of requirer))
                (and (of-class-p condition "MISSING-COMPONENT-OF-VERSION") (princ-to-string (ask "MISSING-VERSION"))))))))

(defun retry-finding (condition)
  "Invoke ASDF's restart that looks again for the system that is missing according to CONDITION. Returns if there is none."
  (let ((restart (find-restart (named "RETRY") condition)))
    (when restart (invoke-restart restart))))

(defun circular-components (condition)
  "The names of the components that need each other according to CONDITION, or NIL if it is about something else."
  (when (of-class-p condition "CIRCULAR-DEPENDENCY" "ASDF/ACTION")
    (let ((names (loop for action in (call-if-loaded "ASDF/ACTION" "CIRCULAR-DEPENDENCY-ACTIONS" condition)
                       collect (name-of (call-if-loaded "ASDF/ACTION" "ACTION-COMPONENT" action)))))
      (loop for (name next) on names
            unless (equal name next) collect name))))

(defun report-of-asdf-p (condition)
  "True if CONDITION, a warning, says what other warnings have said, or only how a system is named."
  (or (of-class-p condition "COMPILE-CONDITION" "UIOP/LISP-BUILD")
      (of-class-p condition "BAD-SYSTEM-NAME")
      (of-class-p condition "BAD-SYSTEM-NAME" "ASDF/PARSE-DEFSYSTEM")))

;;; Files of no system

(defun compiled-pathname (file)
  "The file that ASDF compiles FILE into."
  (call-if-loaded "UIOP" "COMPILE-FILE-PATHNAME*" file))

(defun compile-source (file format description)
  "Compile FILE, which has the external format FORMAT, as ASDF does. DESCRIPTION names it in errors. => the compiled file"
  (let ((target (compiled-pathname file)))
    (ensure-directories-exist target)
    (multiple-value-bind (output warnings failure)
        (call-if-loaded "UIOP" "COMPILE-FILE*" file :output-file target :external-format format)
      (call-if-loaded "UIOP" "CHECK-LISP-COMPILE-RESULTS" output warnings failure "compiling ~a" (list description))
      output)))

(defun compile-failure-p (condition)
  "True if CONDITION says that ASDF does not load a file because the compiler says that it has failed."
  (of-class-p condition "COMPILE-FILE-ERROR" "UIOP/LISP-BUILD"))

(defun call-accepting-failures (function)
  "Call FUNCTION, which compiles a file. ASDF only warns if the compiler says that it has failed, and keeps what was compiled."
  (let ((variable (named "*COMPILE-FILE-FAILURE-BEHAVIOUR*" "UIOP/LISP-BUILD")))
    (progv (and variable (list variable)) (list :warn) (funcall function))))

;;; The table of systems. ASDF's functions for it call methods: SBCL may have to compile their dispatch, for which it needs the compiler's
;;; lock, which a stopped thread may hold.

(defun registry ()
  "The table of the systems that ASDF knows, by name; NIL if ASDF is missing or has another registry."
  (let ((table (value-if-loaded "ASDF/SYSTEM-REGISTRY" "*REGISTERED-SYSTEMS*")))
    (and (hash-table-p table) table)))

(defun system-names ()
  "The names of the systems that ASDF knows."
  (if (registry)
      (loop for name being the hash-keys of (registry) collect name)
      (call-if-loaded "ASDF" "REGISTERED-SYSTEMS")))

(defun registered-system (name)
  "The system NAME, in lower case, if ASDF knows it, or NIL."
  (if (registry)
      (let ((entry (gethash name (registry))))
        (if (consp entry) (rest entry) entry))
      (call-if-loaded "ASDF" "REGISTERED-SYSTEM" name)))
