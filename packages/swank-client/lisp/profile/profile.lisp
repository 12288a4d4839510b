;;;; Profiles code, or the whole program for some seconds.

(in-package #:swank-client/profile)

(defconstant +samples-limit+ 20000 "Most samples of a profile.")

(defconstant +places-seconds+ 1 "Seconds that looking for the lines of functions may take.")

(defstruct (profile (:include run))
  "A run of the profiler for a client."
  mode
  ;; only functions of this package count, or NIL
  package
  (sampling nil)
  ;; the thread that runs the code; NIL if all threads count
  thread
  (others '() :type list)
  (begun nil)
  (cost nil)
  ;; nanoseconds that switching on and off has taken
  (looking 0)
  (values '())
  (comparison nil))

(defun add-looking (profile start)
  "Add the time since START to what PROFILE itself has cost."
  (incf (profile-looking profile) (- (nanoseconds-now) start)))

(defun stop-sampling-of (profile)
  "Switch PROFILE off."
  (sb-sys:without-interrupts
    (when (and (profile-begun profile) (null (profile-cost profile)))
      (setf (profile-cost profile) (cost-since (profile-begun profile))))
    (when (and (profile-sampling profile) (not (sampling-over (profile-sampling profile))))
      (let ((start (nanoseconds-now)))
        (end-sampling (profile-sampling profile))
        (add-looking profile start)))))

(defun start-sampling-of (profile)
  "Switch PROFILE on."
  (sb-sys:without-interrupts
    (let ((start (nanoseconds-now)))
      (setf (profile-others profile) (remove sb-thread:*current-thread* (sb-thread:list-all-threads))
            (profile-sampling profile) (begin-sampling (profile-mode profile) +samples-limit+))
      (add-looking profile start)
      (setf (profile-begun profile) (cost-now)))))

;;; The reply

(defun function-name-text (name)
  "NAME, of a function in a sample, as text."
  (cond ((stringp name) name)
        ((equal name '(lambda ())) "evaluated code")
        (t (line-text-in-time (user-name name) 200))))

(defun place-of-function (info)
  "(:file FILE :line LINE) for the function of INFO, an element of a sample, or NIL if that is in no file of the program."
  (let ((function (sampled-function info)))
    (destructuring-bind (&optional kind file line &rest column)
        (and function (ignore-errors (described-location (swank/backend:find-source-location function))))
      (declare (ignore column))
      (and (eq kind :file) line (list :file (short-file-name file) :line line)))))

(defun function-plist (counted end)
  "A plist for the function of COUNTED. Its place is not looked for after END or if it is one of Lisp's."
  (let ((name (counted-name counted)))
    (list* :name (function-name-text name)
           :self (counted-self counted)
           :cumulative (counted-cumulative counted)
           (and (not (system-name-p name)) (< (nanoseconds-now) end) (place-of-function (counted-info counted))))))

(defun asked-thread-p (profile thread)
  "True if PROFILE is about THREAD, too: about all, or about the one that runs the code and those that have begun since."
  (or (null (profile-thread profile))
      (eq thread (profile-thread profile))
      (not (member thread (profile-others profile)))))

(defun tally-of (profile)
  "The samples of PROFILE by function."
  (let ((tally (make-tally)) (sampling (profile-sampling profile)))
    (when (and sampling (sampling-over sampling) (not (sampling-replaced sampling)))
      (map-samples (lambda (thread infos)
                     (if (asked-thread-p profile thread)
                         (count-sample tally (loop for info in infos collect (cons (sampled-name info) info)) (profile-package profile))
                         (count-elsewhere tally thread)))
                   sampling))
    tally))

(defun elsewhere-list (tally)
  "((NAME COUNT) ...) of the samples in other threads of TALLY."
  (loop for (thread . count) in (most (tally-elsewhere tally) #'cdr 5)
        collect (list (line-text (or (sb-thread:thread-name thread) "unnamed") 100) count)))

(defun profile-facts (profile)
  "The reply about PROFILE, which has ended."
  (let* ((tally (tally-of profile))
         (sampling (profile-sampling profile))
         (end (+ (nanoseconds-now) (* +places-seconds+ 1000000000))))
    (with-printing-time
      (list :profile
            :mode (profile-mode profile)
            :end (run-end profile)
            :samples (tally-samples tally)
            :outside (tally-outside tally)
            :elsewhere (elsewhere-list tally)
            :functions (loop for counted in (top-functions tally) collect (function-plist counted end))
            :path (loop for (name . count) in (hottest-path tally) collect (list (function-name-text name) count))
            :cost (cost-list (or (profile-cost profile) (make-cost)))
            :looking (round (profile-looking profile) 1000)
            :interval (* 1000 (round (* 1000 +sample-seconds+)))
            :full (and sampling (sampling-over sampling) (>= (sampling-count sampling) +samples-limit+))
            :replaced (and sampling (sampling-replaced sampling))
            :values (profile-values profile)
            :comparison (profile-comparison profile)))))

;;; The calls

(defun prepare-profile (package)
  "Load what profiling needs. => (:ready) | (:missing TEXT) | (:busy) | (:no-package NAME (SIMILAR ...))"
  (let ((missing (load-profiler)))
    (cond (missing (list :missing missing))
          ((profiling-p) '(:busy))
          ((and package (null (live-package (parsed-package package))))
           (list :no-package package (similar-packages (parsed-package package))))
          (t '(:ready)))))

(defun new-profile (key mode package thread)
  "A profile, remembered under KEY."
  (let ((profile (make-profile :mode mode :thread thread :switch-off #'stop-sampling-of
                               :package (and package (live-package (parsed-package package))))))
    (remember-run key profile)
    profile))

(defun reply-of (profile)
  "PROFILE-FACTS, or (:busy) if another profile kept it from beginning."
  (if (and (profile-begun profile) (null (profile-sampling profile)))
      '(:busy)
      (profile-facts profile)))

(defun profile-code (key mode package code against)
  "Profile CODE in MODE. If AGAINST is not NIL, both are also measured in turn, unprofiled. It is called by evaluated code, so that it can stop.
=> the reply of PROFILE-FACTS | (:busy)"
  (let* ((profile (new-profile key mode package sb-thread:*current-thread*))
         (function (compiled-code code))
         (other (and against (compiled-code against))))
    (when other
      (setf (profile-comparison profile) (compared-costs function other)))
    (setf (profile-values profile)
          (value-texts (call-as-run profile #'start-sampling-of
                                    (lambda () (if (profile-sampling profile) (call-measured-code function) '())))))
    (reply-of profile)))

(defun profile-seconds (key mode package milliseconds)
  "Profile all threads in MODE for MILLISECONDS. It is called by evaluated code, so that it can stop.
=> the reply of PROFILE-FACTS | (:busy)"
  (let ((profile (new-profile key mode package nil))
        (seconds (/ milliseconds 1000)))
    (call-as-run profile #'start-sampling-of
                 (lambda ()
                   (when (profile-sampling profile)
                     (wait-seconds seconds profile
                                   (lambda (passed)
                                     (when *evaluation* (report-progress *evaluation* "Profiling: ~d of ~d s" passed (ceiling seconds))))))))
    (reply-of profile)))

(defun profile-progress (key)
  "What the profile under KEY has found. => the reply of PROFILE-FACTS | (:unknown)"
  (let ((*package* (session-package-now (current-session)))
        (profile (kept-run key)))
    (if (and (typep profile 'profile) (not (eq :open (run-end profile))))
        (reply-of profile)
        '(:unknown))))
