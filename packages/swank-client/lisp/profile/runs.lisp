;;;; A run of the profiler: what it has in common in all modes.

(in-package #:swank-client/profile)

(defstruct (profile (:include run))
  "A run of the profiler for a client."
  mode
  ;; a function of the profile that switches it on
  (switch-on #'identity :type function)
  ;; a function of the profile, which has ended, that returns what only its mode has to tell, as a plist
  (findings #'identity :type function)
  ;; the thread that runs the code; NIL if all threads count
  thread
  ;; what kept it from beginning, as WHAT-KEEPS-THE-PROFILER says, or NIL
  (busy nil)
  (begun nil)
  (cost nil)
  ;; nanoseconds that switching on and off has taken, and more that looking has taken
  (looking 0)
  (values '())
  (comparison nil))

(defun add-looking (profile start)
  "Add the time since START to what PROFILE itself has cost."
  (incf (profile-looking profile) (- (nanoseconds-now) start)))

(defun note-cost (profile)
  "Note what PROFILE's time has cost, unless that is known."
  (when (and (profile-begun profile) (null (profile-cost profile)))
    (setf (profile-cost profile) (cost-since (profile-begun profile)))))

;;; Functions in the reply

(defconstant +places-seconds+ 1 "Seconds that looking for the lines of functions may take.")

(defun places-end ()
  "The time after which no more lines of functions are looked for."
  (+ (nanoseconds-now) (* +places-seconds+ 1000000000)))

(defun place-of (function)
  "(:file FILE :line LINE) for FUNCTION, a function or method, or NIL if that is in no file of the program."
  (destructuring-bind (&optional kind file line &rest column)
      (and function (ignore-errors (described-location (swank/backend:find-source-location function))))
    (declare (ignore column))
    (and (eq kind :file) line (list :file (short-file-name file) :line line))))
