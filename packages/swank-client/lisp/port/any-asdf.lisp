;;;; What ASDF, Quicklisp and ocicl know about systems. ASDF is loaded before this file is read, and the others may be missing. Only this file
;;;; names symbols of ASDF: it is not loaded compiled if another ASDF compiled it.

(defpackage #:swank-client/any-asdf
  (:documentation "ASDF's systems and actions, and what it looks for systems with.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:call-if-loaded #:symbol-if-loaded #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:export #:action-kind #:add-folder #:call-accepting-failures #:call-without-downloads #:circular-components #:compile-failure-p
           #:compile-source #:component-files #:component-name #:component-source #:defined-together-p #:described-system #:find-system
           #:install-system #:installable-system #:known-systems #:load-definitions #:load-system #:loaded-systems #:missing-system
           #:ocicl-searcher-name #:ordered-files #:perform-name #:perform-plan-name #:plan-sources #:registered-system #:report-of-asdf-p
           #:required-files #:retry-finding #:search-places #:system-definition-file #:system-names #:system-p #:system-sources
           #:system-with-parts #:systems-defined-in #:test-system #:test-systems #:test-systems-of #:translated-pathname))

(in-package #:swank-client/any-asdf)

;; a compiled file names the packages in which ASDF has its symbols, which other versions move
(macrolet ((check-version ()
             `(unless (equal (asdf:asdf-version) ,(asdf:asdf-version))
                (error "It was compiled for another ASDF."))))
  (check-version))

(defun operation-p (operation name)
  "True if OPERATION is an instance of ASDF's class NAME, which is not exported."
  (let ((class (find-class (find-symbol name "ASDF") nil)))
    (and class (typep operation class))))

;;; Actions: an operation on a component

(defun perform-name ()
  "The name of the function that performs an action."
  'asdf:perform)

(defun perform-plan-name ()
  "The name of the function that performs all actions of a plan."
  'asdf:perform-plan)

(defun action-kind (operation)
  "Whether OPERATION is to :COMPILE or to :LOAD, or NIL."
  (cond ((operation-p operation "BASIC-COMPILE-OP") :compile)
        ((operation-p operation "BASIC-LOAD-OP") :load)))

(defun system-p (component)
  "True if COMPONENT is a system."
  (typep component 'asdf:system))

(defun component-name (component)
  "The name of COMPONENT."
  (asdf:component-name component))

(defun component-system-name (component)
  "The name of the system of COMPONENT."
  (component-name (asdf:component-system component)))

(defun component-source (component)
  "The pathname of COMPONENT if it is a file with Lisp code, or NIL."
  (and (typep component 'asdf:cl-source-file) (asdf:component-pathname component)))

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
  (asdf:find-system name nil))

(defun load-system (name forced)
  "Compile what is not up to date, and all files of the systems with the names FORCED, and load the system NAME."
  (if forced (asdf:load-system name :force forced) (asdf:load-system name)))

(defun system-sources (name)
  "((SYSTEM-NAME SOURCE COMPILED) ...): the files with Lisp code of the system NAME and of those that it depends on, as pathnames."
  (let ((operation (asdf:make-operation 'asdf:compile-op)))
    (loop for component in (asdf:required-components (find-system name) :other-systems t)
          for source = (component-source component)
          when source
            collect (list (component-system-name component) source (first (asdf:output-files operation component))))))

(defun file-of (component)
  "The pathname of COMPONENT if it is a file, or NIL."
  (let ((pathname (asdf:component-pathname component)))
    (and pathname (pathname-name pathname) pathname)))

(defun component-files (component)
  "The pathnames of the files of COMPONENT and of its parts."
  (if (typep component 'asdf:parent-component)
      (loop for child in (asdf:component-children component) append (component-files child))
      (let ((file (file-of component))) (and file (list file)))))

(defun required-files (name)
  "The pathnames of the files of the system NAME and of those that it depends on, in the order in which they are loaded."
  (remove nil (mapcar #'file-of (asdf:required-components name :other-systems t))))

(defun inferred-p (system)
  "True if the parts of SYSTEM are inferred from its packages."
  (let ((class (find-class (find-symbol "PACKAGE-INFERRED-SYSTEM" "ASDF") nil)))
    (and class (typep system class))))

(defun included-p (component)
  "True if this Lisp has the features that COMPONENT needs."
  (let ((feature (call-if-loaded "ASDF/COMPONENT" "COMPONENT-IF-FEATURE" component)))
    (or (null feature) (uiop:featurep feature))))

(defun ordered-files (system)
  "The pathnames of the files of SYSTEM in the order in which they are loaded, with those of the known systems inferred from packages below it. Makes no
plan, which would look for the systems that it depends on, and load their definitions."
  (let ((inferred (inferred-p system))
        (seen '())
        (files '()))
    (labels ((needed-by (component)
               (if (typep component 'asdf:system)
                   (loop for name in (and inferred (asdf:system-depends-on component))
                         when (and (stringp name) (defined-together-p name (component-name system)) (registered-system name))
                           collect it)
                   (loop for name in (asdf:component-sideway-dependencies component)
                         for sibling = (and (typep name '(or string symbol))
                                            (find name (asdf:component-children (asdf:component-parent component))
                                                  :key #'component-name :test #'string-equal))
                         when sibling collect sibling)))
             (visit (component)
               (unless (or (member component seen) (not (included-p component)))
                 (push component seen)
                 (mapc #'visit (needed-by component))
                 (if (typep component 'asdf:parent-component)
                     (mapc #'visit (asdf:component-children component))
                     (let ((file (file-of component))) (when file (push file files)))))))
      (visit system)
      (nreverse files))))

(defun described-system (system)
  "=> the version of SYSTEM and what it says about itself, texts or NIL; and the names of the systems on which it depends, conditions as text"
  (flet ((text (value) (and (stringp value) value)))
    (values (text (asdf:component-version system))
            (text (asdf:system-description system))
            (loop for dependency in (asdf:system-depends-on system)
                  collect (string-downcase (if (consp dependency) (prin1-to-string dependency) dependency))))))

(defun loaded-systems ()
  "The names of the systems that have been loaded."
  (asdf:already-loaded-systems))

(defun test-system (system)
  "Test SYSTEM as its definition says."
  (asdf:test-system system))

(defun system-with-parts (name)
  "The names of the system NAME and of those it depends on that the same file defines, or that are inferred from packages below it."
  (remove-duplicates
   (cons name (loop for component in (asdf:required-components (find-system name)
                                           :other-systems t :component-type 'asdf:system)
                    for other = (component-name component)
                    when (defined-together-p name other) collect other))
   :test #'string=))

(defun defined-together-p (name other)
  "True if one file defines the systems NAME and OTHER."
  (string= (asdf:primary-system-name name) (asdf:primary-system-name other)))

(defun load-definitions (file)
  "Load FILE, which defines systems."
  (asdf:load-asd file))

(defun system-definition-file (system)
  "The pathname of the file that defines SYSTEM, or NIL."
  (asdf:system-source-file system))

(defun systems-defined-in (file)
  "The names of the known systems that FILE, a truename, defines."
  (sort (loop for name in (asdf:registered-systems)
              for system = (asdf:registered-system name)
              for source = (and system (system-definition-file system))
              when (and source (equal file (probe-file source))) collect name)
        #'string<))

(defun source-registry ()
  "The names of the systems in the folders that ASDF searches."
  (let ((table (value-if-loaded "ASDF/SOURCE-REGISTRY" "*SOURCE-REGISTRY*")))
    (and (hash-table-p table)
         (loop for name being the hash-keys of table collect name))))

(defun installable-systems ()
  "The names of the systems that Quicklisp provides, and of those that ocicl has installed."
  (append (or-nil
            (loop for system in (call-if-loaded "QL-DIST" "PROVIDED-SYSTEMS" t)
                  collect (call-if-loaded "QL-DIST" "NAME" system)))
          (or-nil (call-if-loaded "OCICL-RUNTIME" "SYSTEM-LIST"))))

(defun known-systems ()
  "The names of the systems that ASDF knows, or finds in the folders that it searches, and of those that can be installed."
  (remove-duplicates (append (asdf:registered-systems) (source-registry) (installable-systems)) :test #'string=))

(defun add-folder (folder)
  "Make ASDF search FOLDER, a pathname, from now on, and before all others."
  (setf asdf:*central-registry* (cons folder (remove folder asdf:*central-registry* :test #'equal))))

(defun call-without-downloads (function)
  "Call FUNCTION, which looks for systems that may not exist. ocicl would try to download them."
  (let ((variable (symbol-if-loaded "OCICL-RUNTIME" "*DOWNLOAD*")))
    (progv (and variable (list variable)) (list nil) (funcall function))))

(defun ocicl-searcher-name ()
  "The name of the function with which ocicl finds systems and downloads them, or NIL without ocicl."
  (symbol-if-loaded "OCICL-RUNTIME" "SYSTEM-DEFINITION-SEARCHER"))

(defun declared-test-systems (system)
  "The names of the systems that a test of SYSTEM needs, as its definition says."
  (loop for (operation . steps) in (call-if-loaded "ASDF/COMPONENT" "COMPONENT-IN-ORDER-TO" system)
        when (string-equal operation "TEST-OP")
          append (loop for (nil . names) in steps
                       append (loop for name in names
                                    when (typep name '(or string symbol)) collect (asdf:coerce-name name)))))

(defun test-systems (system)
  "The names of SYSTEM and of the systems that a test of it needs, as its definition says."
  (cons (component-name system) (declared-test-systems system)))

(defun find-beside (name system)
  "True if ASDF finds the system NAME, which begins with that of SYSTEM."
  (if (and (find #\/ name) (not (inferred-p system)))
      ;; the file that defines SYSTEM has defined it, too; searched for, a missing one would make ASDF load that file and all others again
      (asdf:registered-system name)
      (find-system name)))

(defun test-systems-of (system)
  "The names of the systems with the tests of SYSTEM: those that its definition says, and those that exist with usual names."
  (let ((name (component-name system)))
    (remove-duplicates
     (append (remove name (declared-test-systems system) :test #'string=)
             (call-without-downloads
              (lambda ()
                (loop for end in '("/test" "/tests" "-test" "-tests")
                      for other = (concatenate 'string name end)
                      when (find-beside other system) collect other))))
     :test #'string= :from-end t)))

;;; Where systems are looked for

(defun central-folders ()
  "The folders of *CENTRAL-REGISTRY*."
  (loop for entry in asdf:*central-registry*
        for folder = (or-nil (eval entry))
        when folder collect (pathname folder)))

(defun configured-folders ()
  "((FOLDER . BELOW) ...) of ASDF's configuration. BELOW: folders below it are searched, too."
  (loop for (folder . options) in (or-nil (call-if-loaded "ASDF/SOURCE-REGISTRY" "FLATTEN-SOURCE-REGISTRY"))
        when (pathnamep folder) collect (cons folder (getf options :recurse))))

(defun installers-folders ()
  "((FOLDER . T) ...) of the folders in which Quicklisp and ocicl look for systems, besides what Quicklisp itself has installed."
  (loop for folder in (append (value-if-loaded "QL" "*LOCAL-PROJECT-DIRECTORIES*")
                              (list (value-if-loaded "OCICL-RUNTIME" "*LOCAL-SYSTEMS-DIR*")
                                    (value-if-loaded "OCICL-RUNTIME" "*GLOBAL-SYSTEMS-DIR*")))
        when folder collect (cons folder t)))

(defun search-places ()
  "((FOLDER . BELOW) ...) of the existing folders in which ASDF looks for systems, and the names of the programs that also provide some."
  (values (remove-if-not (lambda (place) (or-nil (probe-file (first place))))
                         (append (mapcar #'list (central-folders)) (configured-folders) (installers-folders)))
          (append (and (find-package "QL-DIST") '("Quicklisp"))
                  (and (find-package "OCICL-RUNTIME") '("ocicl")))))

(defun installable-system (name)
  "What Quicklisp provides as the system NAME, or as the one whose definition also defines NAME; or NIL."
  (or (call-if-loaded "QL-DIST" "FIND-SYSTEM" name)
      (call-if-loaded "QL-DIST" "FIND-SYSTEM" (asdf:primary-system-name name))))

(defun install-system (system)
  "Make Quicklisp install SYSTEM, of INSTALLABLE-SYSTEM."
  (call-if-loaded "QL-DIST" "ENSURE-INSTALLED" system))

;;; Conditions

(defun name-of (thing)
  "The name of THING, a component or the name of one, with those of the components that it is in."
  (if (typep thing 'asdf:component)
      (format nil "~{~a~^/~}" (asdf:component-find-path thing))
      (string-downcase (princ-to-string thing))))

(defun missing-system (condition)
  "=> the name of the system or component that is missing according to CONDITION, the name of what needs it or NIL, and the version that is
needed or NIL. Or NIL, if CONDITION is about something else."
  (when (typep condition 'asdf:missing-component)
    (flet ((ask (name) (call-if-loaded "ASDF/FIND-COMPONENT" name condition)))
      (let ((requirer (and (typep condition 'asdf:missing-dependency) (ask "MISSING-REQUIRED-BY"))))
        (values (name-of (ask "MISSING-REQUIRES"))
                (and requirer (name-of requirer))
                (and (typep condition 'asdf:missing-component-of-version) (princ-to-string (ask "MISSING-VERSION"))))))))

(defun retry-finding (condition)
  "Invoke ASDF's restart that looks again for the system that is missing according to CONDITION. Returns if there is none."
  (let ((restart (find-restart 'asdf:retry condition)))
    (when restart (invoke-restart restart))))

(defun circular-components (condition)
  "The names of the components that need each other according to CONDITION, or NIL if it is about something else."
  (when (typep condition 'asdf:circular-dependency)
    (let ((names (loop for action in (call-if-loaded "ASDF/ACTION" "CIRCULAR-DEPENDENCY-ACTIONS" condition)
                       collect (name-of (call-if-loaded "ASDF/ACTION" "ACTION-COMPONENT" action)))))
      (loop for (name next) on names
            unless (equal name next) collect name))))

(defun report-of-asdf-p (condition)
  "True if CONDITION, a warning, says what other warnings have said, or only how a system is named."
  (typep condition '(or uiop:compile-condition asdf:bad-system-name)))

;;; Files of no system

(defun translated-pathname (pathname)
  "Where ASDF keeps the compiled file PATHNAME."
  (asdf:apply-output-translations pathname))

(defun compile-source (file format description)
  "Compile FILE, which has the external format FORMAT, as ASDF does. DESCRIPTION names it in errors. => the compiled file"
  (let ((target (uiop:compile-file-pathname* file)))
    (ensure-directories-exist target)
    (multiple-value-bind (output warnings failure)
        (uiop:compile-file* file :output-file target :external-format format)
      (uiop:check-lisp-compile-results output warnings failure "compiling ~a" (list description))
      output)))

(defun compile-failure-p (condition)
  "True if CONDITION says that ASDF does not load a file because the compiler says that it has failed."
  (typep condition 'uiop:compile-file-error))

(defun call-accepting-failures (function)
  "Call FUNCTION, which compiles a file. ASDF only warns if the compiler says that it has failed, and keeps what was compiled."
  (let ((uiop:*compile-file-failure-behaviour* :warn)) (funcall function)))

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
      (asdf:registered-systems)))

(defun registered-system (name)
  "The system NAME, in lower case, if ASDF knows it, or NIL."
  (if (registry)
      (let ((entry (gethash name (registry))))
        (if (consp entry) (rest entry) entry))
      (asdf:registered-system name)))
