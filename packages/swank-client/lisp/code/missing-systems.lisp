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

(defun missing-problem (name requirer version)
  "=> (:missing NAME REQUIRER VERSION (FOLDER ...) (PROGRAM ...) (SIMILAR ...) (FILE ...)) of the missing system NAME"
  (multiple-value-bind (folders programs) (search-places)
    (list :missing name requirer version
          (mapcar #'place-text (subseq folders 0 (min +places-limit+ (length folders))))
          programs
          (and (null version) (nearest-systems name))
          (and (null version) (plain-system-name-p name) (definitions-nearby name)))))

(defun installed-p (name version installed)
  "True if the missing system NAME could be installed. INSTALLED are the names for which that was tried."
  (when (and (null version) (not (member name installed :test #'string=)))
    (when *evaluation* (report-progress *evaluation* "Looking for ~a" name))
    (install-system name)))

(defun call-explaining-problems (loading function)
  "Call FUNCTION, which makes ASDF load for LOADING. Systems that are missing are installed, if possible. => NIL, or what is missing or wrong
with the systems: (:missing NAME ...) or (:circular (NAME ...))"
  (let ((installed '()))
    (handler-bind ((error (lambda (condition)
                            ;; an error of the program's own code stops there
                            (unless (loading-action loading)
                              (multiple-value-bind (name requirer version) (missing-system condition)
                                (when name
                                  (when (installed-p name version installed)
                                    (push name installed)
                                    (retry-finding condition))
                                  (return-from call-explaining-problems (missing-problem name requirer version))))
                              (let ((circle (circular-components condition)))
                                (when circle
                  (return-from call-explaining-problems (list :circular (append circle (list (first circle)))))))))))
      (funcall function))))
