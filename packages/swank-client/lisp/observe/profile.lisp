;;;; Profiles code, or the whole program for some seconds: by samples, or by counting calls exactly.

(in-package #:swank-client/observe)

(defconstant +calibrating-calls+ 1000 "Calls that are counted to find out how long counting one takes.")

(defstruct (counting (:include profile (switch-on #'start-counting) (switch-off #'stop-counting) (findings #'counted-findings)))
  "A profile that counts calls."
  ;; T for all threads, or the evaluation whose threads are wanted
  (threads t)
  (counters '() :type list)
  (armed (make-armed) :type armed)
  ;; sentences about calls that the compiler has replaced
  (missed '() :type list)
  ;; nanoseconds that counting one call takes
  (call-cost 0)
  ;; vectors as FRAME-DEPTHS that no thread uses now, in a cell
  (free-depths (list '()) :type cons))

(defstruct (counter (:include point (wrapper 'make-call-counter)))
  "A function or method whose calls are counted. INDEX is its place in the vectors of its counting."
  (index 0 :type fixnum)
  (count 0 :type sb-ext:word)
  ;; nanoseconds in its calls, and without the counted calls below them. Calls inside its own calls count once in TOTAL.
  (total 0 :type sb-ext:word)
  (self 0 :type sb-ext:word))

(defstruct (frame (:constructor make-frame (counting depths below-it)))
  "A counted call that this thread runs. DEPTHS has the number of its calls for each counter. BELOW-IT is the frame of the call around it."
  counting
  (depths nil :type (simple-array fixnum (*)))
  below-it
  ;; nanoseconds in the counted calls that it has made
  (called 0 :type fixnum))

(defvar *frame* nil "The innermost FRAME of this thread, or NIL.")

;;; In the thread of a call

(defun counted-now-p (counting)
  "True if a call by this thread belongs into COUNTING. Code of the debugger never does."
  (and (eq :open (run-end counting))
       (zerop *sldb-level*)
       (among-threads-p (counting-threads counting))))

(defun frame-of (counting)
  "The innermost frame of COUNTING in this thread, or NIL."
  (loop for frame = *frame* then (frame-below-it frame)
        while (and frame (not (eq counting (frame-counting frame))))
        finally (return frame)))

(defun free-depths (counting)
  "A vector of zeros, one for each counter of COUNTING."
  (or (sb-ext:atomic-pop (car (counting-free-depths counting)))
      (make-array (length (counting-counters counting)) :element-type 'fixnum :initial-element 0)))

(defun end-counted-call (counter frame outer start)
  "Add the time since START, when the call of COUNTER with FRAME began, to the times of COUNTER and of OUTER, the frame around it or NIL."
  (let ((time (- (nanoseconds-now) start)))
    (declare (fixnum time))
    (sb-ext:atomic-incf (counter-self counter) (max 0 (- time (frame-called frame))))
    (when (zerop (decf (aref (frame-depths frame) (counter-index counter))))
      (sb-ext:atomic-incf (counter-total counter) time))
    (when outer (incf (frame-called outer) time))))

(defun count-call (counting counter function)
  "Call FUNCTION, which makes the call of COUNTER, and count it in COUNTING. => its values"
  (declare (function function))
  (sb-ext:atomic-incf (counter-count counter))
  (let* ((outer (frame-of counting))
         (depths (if outer (frame-depths outer) (free-depths counting)))
         (frame (make-frame counting depths *frame*))
         (start (nanoseconds-now)))
    (declare (dynamic-extent frame))
    (incf (aref (frame-depths frame) (counter-index counter)))
    (multiple-value-prog1
        (unwind-protect (let ((*frame* frame)) (funcall function))
          (end-counted-call counter frame outer start))
      ;; after an exit that an interrupt made, the vector may not be all zeros
      (unless outer (sb-ext:atomic-push depths (car (counting-free-depths counting)))))))

(defmacro counting-call ((counter) call)
  "Evaluate CALL, a call of COUNTER, and count it if it belongs into its counting."
  `(let ((counting (point-recording ,counter)))
     (if (counted-now-p counting)
         (flet ((counted () ,call))
           (declare (dynamic-extent #'counted))
           (count-call counting ,counter #'counted))
         ,call)))

(defun make-call-counter (counter kind &optional inner)
  "The function that counts a call of COUNTER. WRAPPER-OF-KIND explains KIND and INNER."
  (wrapper-of-kind (kind inner arguments call (declare (dynamic-extent arguments)))
    (counting-call (counter) call)))

;;; On and off

(defun time-of-counting ()
  "Nanoseconds that counting a call takes now in this thread."
  (let* ((counting (make-counting :session nil))
         (counter (make-counter :recording counting))
         (wrapper (make-call-counter counter :function)))
    (setf (counting-counters counting) (list counter))
    (flet ((time-of (function)
             (let ((start (nanoseconds-now)))
               (loop repeat +calibrating-calls+ do (funcall (the function function)))
               (- (nanoseconds-now) start))))
      (max 0 (floor (- (time-of (lambda () (funcall (the function wrapper) #'list)))
                       (time-of #'list))
                    +calibrating-calls+)))))

(defun start-counting (counting)
  "Switch COUNTING on."
  (let ((start (nanoseconds-now)))
    (setf (counting-call-cost counting) (time-of-counting))
    (arm-points (counting-counters counting) (counting-armed counting) counting)
    (add-looking counting start)
    (setf (profile-begun counting) (cost-now))))

(defun stop-counting (counting)
  "Switch COUNTING off."
  (sb-sys:without-interrupts
    (note-cost counting)
    (let ((start (nanoseconds-now)))
      (disarm-points (counting-armed counting))
      (add-looking counting start))))

(defun counters-for (counting points)
  "Counters of COUNTING for POINTS."
  (loop for point in points
        for index from 0
        collect (make-counter :recording counting :session (point-session point) :name (point-name point) :method (point-method point)
                              :text (point-text point) :index index)))

(defun make-prepared-counting (names package)
  "A COUNTING of the functions that NAMES name, and of all functions of PACKAGE."
  (let* ((counting (make-counting :mode :calls))
         (points (with-printing-time (find-points counting names package nil))))
    (setf (counting-counters counting) (counters-for counting points)
          (counting-missed counting) (missed-texts points))
    counting))

(defun fresh-counting (prepared threads)
  "A COUNTING of what PREPARED counts, for another run, in THREADS, as for AMONG-THREADS-P."
  (let ((counting (make-counting :mode :calls :threads threads :missed (counting-missed prepared))))
    (setf (counting-counters counting) (counters-for counting (counting-counters prepared)))
    counting))

;;; The reply

(defun counter-place (counter)
  "The place of the definition of COUNTER as PLACE-OF returns it."
  (place-of (or (point-method counter)
                (and (fboundp (point-name counter)) (fdefinition (point-name counter))))))

(defun counter-plist (counter end)
  "A plist for COUNTER, with times in microseconds. Its place is not looked for after END."
  (list* :name (point-text counter)
         :calls (counter-count counter)
         :self (round (counter-self counter) 1000)
         :cumulative (round (counter-total counter) 1000)
         (and (< (nanoseconds-now) end) (counter-place counter))))

(defun counted-findings (counting)
  "What COUNTING, which has ended, has found, as a plist."
  (let* ((counters (counting-counters counting))
         (calls (loop for counter in counters sum (counter-count counter)))
         (end (places-end)))
    (list :samples calls
          :outside 0
          :elsewhere '()
          :functions (loop for counter in (top counters #'counter-count #'counter-total) collect (counter-plist counter end))
          :path '()
          :stacks nil
          :interval 0
          :full nil
          :replaced nil
          :counts (list (length counters)
                        (count-if #'plusp counters :key #'counter-count)
                        (round (* calls (counting-call-cost counting)) 1000)
                        (counting-missed counting)))))

;;; Profiles code, or the whole program for some seconds.

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

(defun new-profile (key mode package stacks own-p)
  "A profile, remembered under KEY, of the code of this thread's evaluation if OWN-P, otherwise of all other threads.
If STACKS, its reply has the tree of calls."
  (let ((profile (if (eq mode :calls)
                     (fresh-counting (prepared-counting key) (if own-p *evaluation* t))
                     (make-sampled-profile :mode mode :thread (and own-p sb-thread:*current-thread*) :stacks stacks
                                           :waiting (and (not own-p) sb-thread:*current-thread*)
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

(defun profile-code (key mode package stacks code against)
  "Profile CODE in MODE, and return the tree of calls if STACKS. If AGAINST is not NIL, both are also measured in turn, unprofiled. It is called by evaluated code, so that it can stop.
=> the reply of PROFILE-FACTS"
  (let* ((profile (new-profile key mode package stacks t))
         (functions (compiled-parts code))
         (others (and against (compiled-parts against))))
    (when against
      (setf (profile-comparison profile) (compared-costs functions others)))
    (setf (profile-values profile)
          (value-texts (run-profile profile (lambda () (call-measured-code functions)))))
    (profile-facts profile)))

(defun profile-seconds (key mode package stacks milliseconds)
  "Profile all threads in MODE for MILLISECONDS, and return the tree of calls if STACKS. It is called by evaluated code, so that it can stop. => the reply of PROFILE-FACTS"
  (let ((profile (new-profile key mode package stacks nil)))
    (run-profile profile (lambda () (wait-milliseconds milliseconds profile "Profiling: ~d of ~d s")))
    (profile-facts profile)))

(defun profile-progress (key)
  "What the profile under KEY has found. => the reply of PROFILE-FACTS | (:unknown)"
  (facts-under key 'profile #'profile-facts))
