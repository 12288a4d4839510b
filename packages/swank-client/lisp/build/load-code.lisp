;;;; Compiles and loads systems and files, and explains systems that are missing or need each other.

(in-package #:swank-client/build)

(defconstant +folders-named+ 20 "Most folders that a reply names in which a system was looked for.")

(defun plain-system-name-p (name)
  "True if NAME can be that of a system. ASDF would take some other names as patterns of files."
  (and (plusp (length name))
       (notany (lambda (character) (find character "*?[]|()\"\\:; ")) name)))

(defun definitions-nearby (name)
  "The files NAME.asd in the image's directory and in the folders up to two levels below it, the nearest first. ASDF need not search these."
  (let ((file (make-pathname :name (subseq name 0 (position #\/ name)) :type "asd" :version nil)))
    (flet ((files (&rest wild)
             (or-nil (directory (merge-pathnames (make-pathname :directory (cons :relative wild) :defaults file) (directory-of-image))))))
      (append (files) (files :wild) (files :wild :wild)))))

(defun nearest-systems (name)
  "Names of systems, that are similar to NAME."
  (let* ((found (remove-if-not (lambda (other) (or (slip-p name other) (search name other) (and (> (length other) 2) (search other name))))
                               (known-systems)))
         (sorted (stable-sort (sort found #'string<) #'< :key (lambda (other) (if (slip-p name other) 0 1)))))
    (subseq sorted 0 (min +suggestions+ (length sorted)))))

(defun searched-place-text (place)
  "PLACE, a folder in which systems are looked for, as text."
  (destructuring-bind (folder . below) place
    (let ((name (shown-file folder)))
      (concatenate 'string (if (string= "" name) "./" name) (if below "**/" "")))))

(defun missing-problem (loading name requirer version)
  "=> (:missing NAME REQUIRER VERSION (FOLDER ...) ((PROGRAM FAILURE) ...) (SIMILAR ...) (FILE ...)) of the system NAME, which LOADING misses"
  (multiple-value-bind (folders programs) (search-places)
    (list :missing name requirer version
          (mapcar #'searched-place-text (subseq folders 0 (min +folders-named+ (length folders))))
          (loop for program in programs
                collect (list program (third (find-if (lambda (failure) (and (string= name (first failure)) (string= program (second failure))))
                                                      (loading-failures loading)))))
          (and (null version) (nearest-systems name))
          (and (null version) (plain-system-name-p name) (mapcar #'shown-file (definitions-nearby name))))))

(defun install (loading name)
  "Install the system NAME, which LOADING misses. => true if that is possible"
  (when *evaluation* (report-progress *evaluation* "Looking for ~a" name))
  (let ((system (installable-system name)))
    (when system
      (when *evaluation* (report-progress *evaluation* "Installing ~a with Quicklisp" name))
      (setf (loading-installing loading) name)
      (call-framework #'install-system (list system))
      (setf (loading-installing loading) nil)
      t)))

(defun explanation (loading condition installed)
  "What is missing or wrong with the systems according to CONDITION, an error of ASDF, or NIL if it is about something else. Does not return if
what is missing could be installed. INSTALLED are the names for which that was tried."
  (multiple-value-bind (name requirer version) (missing-system condition)
    (if name
        (progn
          (when (and (null version) (not (gethash name installed)))
            (setf (gethash name installed) t)
            (when (install loading name) (retry-finding condition)))
          (missing-problem loading name requirer version))
        (let ((circle (circular-components condition)))
          (and circle (list :circular (append circle (list (first circle)))))))))

(defun call-explaining-problems (loading function)
  "Call FUNCTION, which makes ASDF load for LOADING. Systems that are missing are installed, if possible. => NIL, or what is missing or wrong
with the systems: (:missing NAME ...) or (:circular (NAME ...))"
  (let ((installed (make-hash-table :test 'equal)))
    (handler-bind ((error (lambda (condition)
                            ;; an error of the program's own code, or of what installs, stops there
                            (unless (or (loading-action loading) (loading-installing loading))
                              (let ((problem (explanation loading condition installed)))
                                (when problem (return-from call-explaining-problems problem)))))))
      (funcall function))))

;;; Compiles and loads systems and files.

;;; Files that ASDF takes for up to date by their dates, but whose text was not loaded or compiled

(defun stale-p (source compiled)
  "True if the text of SOURCE, a truename, is not certainly the one that was loaded or, if it was not loaded, the one of the file COMPILED."
  (multiple-value-bind (loaded date latest) (loaded-octets source)
    (declare (ignore date))
    (if loaded
        (not (or (unchanged-text-p source)
                 (let ((created (date-when-compiled source)) (octets (file-octets source)))
                   ;; another client may have loaded newer code since
                   (and (or (null created) (<= created latest))
                        (or (null octets) (equalp loaded octets))))))
        (let ((created (date-when-compiled source))
              (octets (text-of-compiled compiled source)))
          (or (and created (/= created (file-write-date source)))
              (null octets)
              (not (equalp octets (file-octets source))))))))

(defun stale-systems (name)
  "Make ASDF compile the stale files of the system NAME and of those that it depends on. => the names of the systems that it has to be told to
compile; and whether there are stale files"
  (with-files ()
    (loop with any = nil
          for (system source compiled) in (or-nil (system-sources name))
          for truename = (nil-on file-error (probe-file source))
          for fasl = (and truename compiled (nil-on file-error (probe-file compiled)))
          when (and fasl (nil-on file-error (stale-p truename fasl)))
            do (setf any t)
            and unless (nil-on sb-posix:syscall-error (sb-posix:utime (sb-ext:native-namestring fasl) 1 1) t) collect system into systems
          finally (return (values (remove-duplicates systems :test #'string=) any)))))

(defun load-current (name forced)
  "Load the system NAME: compile all files of the systems with the names FORCED, and those whose text is not the one that was compiled and loaded."
  (mapc #'load-definitions (changed-system-definitions))
  (load-system name (union forced (stale-systems name) :test #'string=))
  ;; the systems on which it depends may not have been known before
  (multiple-value-bind (systems any) (stale-systems name)
    (when any (load-system name systems))))

(defun load-with-tests (loading system force test)
  "Load SYSTEM and, if TEST, the systems of its tests. => NIL"
  (let ((name (component-name system)))
    (flet ((load-it (name force) (load-current name (and force (or (or-nil (system-with-parts name)) (list name))))))
      (load-it name force)
      (when test
        (dolist (other (test-systems-of system))
          ;; systems of the same definition would be compiled twice
          (load-it other (and force (not (defined-together-p other name))))
          (setf (loading-tests loading) (append (loading-tests loading) (list other))))))))

(defun plain-name (text)
  "The name of a system in TEXT, which can be written like a symbol without a package."
  (let ((start (mismatch "#:" text)))
    (cond ((eql 2 start) (string-downcase (subseq text 2)))
          ((eql 0 (position #\: text)) (string-downcase (subseq text 1)))
          (t text))))

(defun find-nearby-system (loading name)
  "The system NAME that a file near the image's directory defines, if there is one such file and ASDF would not find it; or NIL. If there is, ASDF also
looks in the folder of that file from then on."
  (let ((files (definitions-nearby name)))
    (when (and files (null (rest files)))
      (load-definitions (first files))
      (let ((system (find-system name)))
        (when system
          (add-folder (make-pathname :name nil :type nil :version nil :defaults (first files)))
          (setf (loading-found-in loading) (shown-file (first files))))
        system))))

(defun wanted-system (loading name)
  "The system NAME, in lower case if need be, found near the image's directory or installed if need be; or NIL."
  (let ((lower (string-downcase name)))
    (and (plain-system-name-p name)
         (or (find-system name)
             (and (string/= name lower) (find-system lower))
             (find-nearby-system loading lower)
             (and (install loading lower) (find-system lower))))))

(defun load-named-system (loading name force test)
  "Load the system NAME. => NIL, or why it was not loaded"
  (let ((system (wanted-system loading name)))
    (cond (system
           (setf (loading-system loading) (component-name system))
           (load-with-tests loading system force test)
           nil)
          (t (missing-problem loading name nil nil)))))

(defun load-defined-system (loading file force test)
  "Load the system that FILE defines and that is named like it, or the only one. => NIL, or why none was loaded"
  ;; a known definition that has changed is loaded again by FIND-SYSTEM; loading it always would make ASDF load all files again
  (unless (systems-defined-in file) (load-definitions file))
  (let* ((names (systems-defined-in file))
         (name (or (find (pathname-name file) names :test #'string-equal)
                   (and (null (rest names)) (first names)))))
    (if name
        (load-named-system loading name force test)
        (list :no-system (shown-file file) names))))

(defun load-definition-file (loading file force test)
  "Load FILE and a system that it defines. From then on ASDF also looks in the folder of FILE: otherwise a later search would replace systems
from there by namesakes from elsewhere. => NIL, or why it was not loaded"
  (add-folder (make-pathname :name nil :type nil :version nil :defaults file))
  (load-defined-system loading file force test))

(defun load-as-source (fasl file)
  "Load the file FASL, compiled from FILE, as if it were that: code in it finds what lies beside FILE."
  (call-noting-load (current-session) fasl file (lambda () (load-compiled-as fasl file))))

(defun compile-whole (file)
  "Compile FILE, a truename, to where ASDF keeps its compiled files. => the compiled file"
  (call-skipping-first-line file (lambda (format) (compile-source file format (shown-file file)))))

(defun load-source (loading file)
  "Compile FILE to where ASDF keeps its compiled files, and load that. => NIL"
  (setf (loading-planned loading) (list (cons nil file)))
  (loop
    (restart-case
        (let ((fasl (call-as-action loading :compile file (lambda () (compile-whole file)))))
          (call-as-action loading :load file (lambda () (load-as-source fasl file)))
          (return nil))
      (retry ()
        :report (lambda (stream) (format stream "Compile and load ~a again" (shown-file file)))))))

(defun load-file (loading file force test)
  "Load FILE, a truename. => NIL, or why it was not loaded"
  (if (equalp "asd" (pathname-type file))
      (load-definition-file loading file force test)
      (load-source loading file)))

(defun load-wanted (loading system file force test)
  "Load the system named SYSTEM, or FILE, a truename. => NIL, or why it was not loaded"
  (flet ((load-it ()
           (if file
               (load-file loading file force test)
               (load-named-system loading system force test))))
    (call-recording loading (lambda () (call-explaining-problems loading (lambda () (call-own #'load-it '())))))))

(defun load-code (key system name force test)
  "Compile and load the system NAME if SYSTEM, else the file NAME: source code or a system's definition. FORCE: compile also what is up to
date. TEST: load the system's test systems, too. It is called by evaluated code, so that it can stop. LOAD-PROGRESS with KEY, a number, says
how far it has come. => the reply of LOADING-FACTS | (:file-not-found NAME (FILE ...) REASON)"
  (let* ((system (and system (plain-name name)))
         (file (and (not system) (plain-file name)))
         (loading (make-loading :system system :file (and file (shown-file file)))))
    (cond ((or system file)
           (remember-loading key loading)
           (let ((problem (with-file-syntax ((current-session)) (load-wanted loading system file force test))))
             (when (and system (loading-loaded loading))
               (note-load (session-ledger (current-session)) :system (loading-system loading)))
             (loading-facts loading problem)))
          (t (with-files () (missing-file name))))))
