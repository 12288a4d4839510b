;;;; Systems that are missing or need each other: what is said about them. Nothing is loaded yet when ASDF finds that out.

(in-package #:swank-client/code)

(defconstant +places-limit+ 20 "Most folders that a reply names in which a system was looked for.")

(defun plain-system-name-p (name)
  "True if NAME can be that of a system. ASDF would take some other names as patterns of files."
  (and (plusp (length name))
       (notany (lambda (character) (find character "*?[]|()\"\\:; ")) name)))

(defun definitions-nearby (name)
  "The files NAME.asd in the image's directory and the folders in it. ASDF need not search these."
  (let ((file (make-pathname :name (subseq name 0 (position #\/ name)) :type "asd" :version nil)))
    (flet ((files (directory)
             (or-nil (directory (merge-pathnames (make-pathname :directory directory :defaults file) (directory-of-image))))))
      (mapcar #'shown-file (append (files '(:relative)) (files '(:relative :wild)))))))

(defun nearest-systems (name)
  "Names of systems, that are similar to NAME."
  (let* ((found (remove-if-not (lambda (other) (or (slip-p name other) (search name other) (and (> (length other) 2) (search other name))))
                               (known-systems)))
         (sorted (stable-sort (sort found #'string<) #'< :key (lambda (other) (if (slip-p name other) 0 1)))))
    (subseq sorted 0 (min +suggestions+ (length sorted)))))

(defun place-text (place)
  "PLACE, a folder in which systems are looked for, as text."
  (destructuring-bind (folder . below) place
    (let ((name (shown-file folder)))
      (concatenate 'string (if (string= "" name) "./" name) (if below "**/" "")))))

(defun missing-problem (loading name requirer version)
  "=> (:missing NAME REQUIRER VERSION (FOLDER ...) ((PROGRAM FAILURE) ...) (SIMILAR ...) (FILE ...)) of the system NAME, which LOADING misses"
  (multiple-value-bind (folders programs) (search-places)
    (list :missing name requirer version
          (mapcar #'place-text (subseq folders 0 (min +places-limit+ (length folders))))
          (loop for program in programs
                collect (list program (third (find-if (lambda (failure) (and (string= name (first failure)) (string= program (second failure))))
                                                      (loading-failures loading)))))
          (and (null version) (nearest-systems name))
          (and (null version) (plain-system-name-p name) (definitions-nearby name)))))

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
