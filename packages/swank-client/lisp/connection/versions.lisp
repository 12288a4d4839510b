;;;; Removes versions of the runtime that no client uses any more. Each has packages of its own; clients of several can be connected at once.
;;;; The property :NEWEST-VERSION of the keyword :SWANK-CLIENT is the version that came last, and stays loaded for the next client.

(in-package #:swank-client/connection)

(defconstant +loading-seconds+ 60 "Seconds to wait for a client that loads a module of a version.")

(defvar *guarded* '() "The connections that this version guards.")

(defun own-version ()
  "This version, or NIL if this library was loaded by hand."
  (package-version (symbol-package '*guarded*)))

(defun packages-of-version (version)
  "The packages of VERSION."
  (remove version (list-all-packages) :key #'package-version :test-not #'equal))

(defun other-versions ()
  "The versions in the image but this one."
  (remove-duplicates (remove-if (lambda (version) (or (null version) (equal version (own-version))))
                                (mapcar #'package-version (list-all-packages)))
                     :test #'string=))

(defun used-p (version)
  "True if VERSION guards a connection, or does not tell, as long as a client loads it."
  (let* ((package (find-package (format nil "SWANK-CLIENT/CONNECTION/~a" version)))
         (guarded (and package (accessible-symbol "*GUARDED*" package))))
    (or (null guarded) (not (boundp guarded)) (symbol-value guarded))))

(defun unused-version-p (version)
  "True if VERSION is loaded and guards no connection."
  (and version
       (get (intern (format nil "SWANK-CLIENT/CONNECTION/~a" version) "KEYWORD") :ready)
       (not (used-p version))))

(defun call-while-not-loaded (markers function)
  "Call FUNCTION while no client loads a module of MARKERS, as load-module.lisp does."
  (if markers
      (sb-thread:with-mutex ((get (first markers) :lock) :timeout +loading-seconds+)
        (call-while-not-loaded (rest markers) function))
      (funcall function)))

(defun unlink-classes (package)
  "Let go of the classes of PACKAGE, and of the methods on them, which Lisp's functions and classes would keep."
  (do-symbols (symbol package)
    (let ((class (and (eq package (symbol-package symbol)) (find-class symbol nil))))
      (when class
        (dolist (method (sb-mop:specializer-direct-methods class))
          (remove-method (sb-mop:method-generic-function method) method))
        (dolist (super (sb-mop:class-direct-superclasses class))
          (sb-mop:remove-direct-subclass super class))))))

(defun delete-packages (packages)
  "Delete PACKAGES, which use nothing but each other and Lisp's."
  (dolist (package packages)
    (dolist (user (package-used-by-list package)) (unuse-package package user)))
  (mapc #'delete-package packages))

(defun retract-offers (version)
  "Make Emacs ask no function of VERSION any more. The property list is that of meeting-place.lisp."
  (let ((cell (get :swank-mcp :runtimes)))
    (when cell
      (sb-ext:atomic-update (car cell)
                            (lambda (runtimes)
                              (remove-if (lambda (name) (equal version (version-in-name name))) runtimes :key #'second))))))

(defun delete-version (version)
  "Delete what belongs to VERSION, unless a client uses it. A client that comes meanwhile waits, and loads it again."
  (let* ((packages (packages-of-version version))
         (markers (remove-if-not (lambda (name) (and (get name :ready) (get name :lock)))
                                 (sort (loop for package in packages collect (intern (package-name package) "KEYWORD")) #'string<))))
    (call-while-not-loaded
     markers
     (lambda ()
       (when (unused-version-p version)
         (dolist (marker markers) (remprop marker :ready))
         ;; a client that has just seen that the version is loaded is guarded by now, or never
         (sleep 1/2)
         (cond ((used-p version) (dolist (marker markers) (setf (get marker :ready) t)))
               (t (retract-offers version)
                  (mapc #'unlink-classes packages)
                  (delete-packages packages))))))))

(defun delete-unused-versions ()
  "Delete the versions that no client uses, except the newest."
  (dolist (version (remove (get :swank-client :newest-version) (cons (own-version) (other-versions)) :test #'equal))
    (when (unused-version-p version)
      (ignore-errors (delete-version version)))))

(defun note-guarded (connection)
  "Note that this version guards CONNECTION, and is the newest if it was not in the image before."
  (sb-ext:atomic-push connection (symbol-value '*guarded*))
  (when (own-version)
    (setf (get :swank-client :newest-version) (own-version))
    (when (other-versions) (start-runtime-thread #'delete-unused-versions "swank-client clean-up"))))

(defun note-unguarded (connection)
  "Note that CONNECTION is closed and that nothing runs for it any more."
  (sb-ext:atomic-update (symbol-value '*guarded*) (lambda (connections) (remove connection connections)))
  (when (own-version) (delete-unused-versions)))
