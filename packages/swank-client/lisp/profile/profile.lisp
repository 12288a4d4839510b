;;;; Profiles code, or the whole program for some seconds.

(in-package #:swank-client/profile)

(defun profile-facts (profile)
  "The reply about PROFILE, which has ended, or (:busy) or (:samples) if something else kept it from beginning."
  (if (profile-busy profile)
      (list (profile-busy profile))
      (with-printing-time
        (list* :profile
               :mode (profile-mode profile)
               :end (run-end profile)
               :cost (cost-list (or (profile-cost profile) (make-cost)))
               :looking (round (profile-looking profile) 1000)
               :values (profile-values profile)
               :comparison (profile-comparison profile)
               (funcall (profile-findings profile) profile)))))

;;; Preparing

(defun prepare-sampling (package)
  "Load what sampling needs. => as PREPARE-PROFILE"
  (let ((missing (load-profiler)))
    (cond (missing (list :missing missing))
          ((what-keeps-the-profiler) (list (what-keeps-the-profiler)))
          ((and package (null (find-designated-package package)))
           (list :no-package package (similar-packages (parsed-package package))))
          (t '(:ready)))))

(defun prepare-counting (key names package)
  "Find what a profile under KEY counts. => as PREPARE-PROFILE"
  (reset-guard-pages)
  (handler-case
      (with-code-of ((current-session))
        (with-code-syntax ((current-session) (session-package-now (current-session)))
          (remember-run key (make-prepared-counting names package))
          '(:ready)))
    (refused-point (refusal) (refused-reply refusal))))

(defun prepare-profile (key mode package names)
  "Prepare a profile under KEY in MODE, of PACKAGE or, to count calls, also of the functions that NAMES name.
=> (:ready) | (:missing TEXT) | (:busy) | (:samples) | (:no-package NAME (SIMILAR ...)) | (:refused NAME REASON KIND (SIMILAR ...))"
  (if (eq mode :calls)
      (prepare-counting key names package)
      (prepare-sampling package)))

;;; Running

(defun new-profile (key mode package own-p)
  "A profile, remembered under KEY, of the code of this thread's evaluation if OWN-P, otherwise of all threads."
  (let ((profile (if (eq mode :calls)
                     (fresh-counting (prepared-counting key) (if own-p *evaluation* t))
                     (make-sampled-profile :mode mode :thread (and own-p sb-thread:*current-thread*)
                                           :package (and package (find-designated-package package))))))
    (remember-run key profile)
    profile))

(defun prepared-counting (key)
  "What PREPARE-COUNTING, or an earlier run of the same code, has remembered under KEY."
  (let ((counting (kept-run key)))
    (unless (typep counting 'counting)
      (error "This profile is over: call profile-code again."))
    counting))

(defun run-profile (profile function)
  "Call FUNCTION while PROFILE is on. => its values, or () if something else keeps it from beginning"
  (call-as-run profile (profile-switch-on profile)
               (lambda () (if (profile-busy profile) '() (funcall function)))))

(defun profile-code (key mode package code against)
  "Profile CODE in MODE. If AGAINST is not NIL, both are also measured in turn, unprofiled. It is called by evaluated code, so that it can stop.
=> the reply of PROFILE-FACTS"
  (let* ((profile (new-profile key mode package t))
         (function (compiled-code code))
         (other (and against (compiled-code against))))
    (when other
      (setf (profile-comparison profile) (compared-costs function other)))
    (setf (profile-values profile)
          (value-texts (run-profile profile (lambda () (call-measured-code function)))))
    (profile-facts profile)))

(defun profile-seconds (key mode package milliseconds)
  "Profile all threads in MODE for MILLISECONDS. It is called by evaluated code, so that it can stop. => the reply of PROFILE-FACTS"
  (let ((profile (new-profile key mode package nil))
        (seconds (/ milliseconds 1000)))
    (run-profile profile
                 (lambda ()
                   (wait-seconds seconds profile
                                 (lambda (passed)
                                   (when *evaluation* (report-progress *evaluation* "Profiling: ~d of ~d s" passed (ceiling seconds)))))))
    (profile-facts profile)))

(defun profile-progress (key)
  "What the profile under KEY has found. => the reply of PROFILE-FACTS | (:unknown)"
  (let ((*package* (session-package-now (current-session)))
        (profile (kept-run key)))
    (if (and (typep profile 'profile) (not (eq :open (run-end profile))))
        (profile-facts profile)
        '(:unknown))))
