;;;; Profiles by samples, which SBCL's statistical profiler takes.

(in-package #:swank-client/profile)

(defconstant +samples-limit+ 20000 "Most samples of a profile.")

(defstruct (sampled-profile (:include profile (switch-on #'start-sampling-of) (switch-off #'stop-sampling-of) (findings #'sampled-findings)))
  "A profile by samples."
  ;; only functions of this package count, or NIL
  package
  (sampling nil)
  ;; the threads that there were when it began, without its own
  (others '() :type list))

(defun what-keeps-the-profiler ()
  "Why the profiler of SBCL cannot begin: it runs already, :BUSY, or has :SAMPLES of the program, which would be lost; or NIL."
  (cond ((profiling-p) :busy)
        ((current-samples) :samples)))

(defun stop-sampling-of (profile)
  "Switch PROFILE off."
  (sb-sys:without-interrupts
    (note-cost profile)
    (let ((sampling (sampled-profile-sampling profile)))
      (when (and sampling (not (sampling-over sampling)))
        (let ((start (nanoseconds-now)))
          (end-sampling sampling)
          (add-looking profile start))))))

(defun start-sampling-of (profile)
  "Switch PROFILE on, unless the program uses the profiler of SBCL."
  (sb-sys:without-interrupts
    (let ((start (nanoseconds-now)))
      (setf (sampled-profile-others profile) (remove sb-thread:*current-thread* (sb-thread:list-all-threads))
            (sampled-profile-sampling profile) (begin-sampling (profile-mode profile) +samples-limit+)
            (profile-busy profile) (and (null (sampled-profile-sampling profile)) (or (what-keeps-the-profiler) :busy)))
      (add-looking profile start)
      (setf (profile-begun profile) (cost-now)))))

;;; The reply

(defun function-name-text (name)
  "NAME, of a function in a sample, as text."
  (cond ((stringp name) name)
        ((equal name '(lambda ())) "evaluated code")
        (t (line-text-in-time (user-name name) 200))))

(defun function-plist (counted end)
  "A plist for the function of COUNTED. Its place is not looked for after END or if it is one of Lisp's."
  (let ((name (counted-name counted)))
    (list* :name (function-name-text name)
           :self (counted-self counted)
           :cumulative (counted-cumulative counted)
           (and (not (system-name-p name)) (< (nanoseconds-now) end) (place-of (sampled-function (counted-info counted)))))))

(defun asked-thread-p (profile thread)
  "True if PROFILE is about THREAD, too: about all, or about the one that runs the code and those that have begun since."
  (or (null (profile-thread profile))
      (eq thread (profile-thread profile))
      (not (member thread (sampled-profile-others profile)))))

(defun tally-of (profile)
  "The samples of PROFILE by function."
  (let ((tally (make-tally)) (sampling (sampled-profile-sampling profile)))
    (when (and sampling (sampling-over sampling) (not (sampling-replaced sampling)))
      (map-samples (lambda (thread infos)
                     (if (asked-thread-p profile thread)
                         (count-sample tally (loop for info in infos collect (cons (sampled-name info) info))
                                       (sampled-profile-package profile))
                         (count-elsewhere tally thread)))
                   sampling))
    tally))

(defun elsewhere-list (tally)
  "((NAME COUNT) ...) of the samples in other threads of TALLY."
  (loop for (thread . count) in (most (tally-elsewhere tally) #'cdr 5)
        collect (list (line-text (or (sb-thread:thread-name thread) "unnamed") 100) count)))

(defun sampled-findings (profile)
  "What PROFILE, which has ended, has found, as a plist."
  (let ((tally (tally-of profile))
        (sampling (sampled-profile-sampling profile))
        (end (places-end)))
    (list :samples (tally-samples tally)
          :outside (tally-outside tally)
          :elsewhere (elsewhere-list tally)
          :functions (loop for counted in (top-functions tally) collect (function-plist counted end))
          :path (loop for (name . count) in (hottest-path tally) collect (list (function-name-text name) count))
          :interval (* 1000 (round (* 1000 +sample-seconds+)))
          :full (and sampling (sampling-over sampling) (>= (sampling-count sampling) +samples-limit+))
          :replaced (and sampling (sampling-replaced sampling))
          :counts nil)))
