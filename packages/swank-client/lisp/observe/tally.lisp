;;;; What all profiles have in common: a run, what code costs, the hottest functions and paths; and profiles by samples.

(in-package #:swank-client/observe)

;;; Counts samples by function, and finds the hottest path.

(defconstant +functions-limit+ 20 "Most functions of a reply.")

(defconstant +path-limit+ 20 "Most functions of the hottest path.")

(defconstant +nodes-limit+ 20000 "Most nodes of the tree of calls.")

(defconstant +stack-nodes-limit+ 500 "Most nodes of the tree of calls in a reply.")

(defconstant +path-share+ 1/10 "The hottest path ends where fewer of all samples than this share go on.")

(defstruct (counted (:constructor make-counted (name info)) (:predicate nil) (:copier nil))
  "The samples of a function. SELF: it was innermost."
  name info (self 0 :type fixnum) (cumulative 0 :type fixnum))

(defstruct (node (:constructor make-node (name)))
  "A function below certain callers. CHILDREN are those that it called."
  name (count 0 :type fixnum) (children '() :type list))

(defstruct tally
  "The samples of a run, by function."
  (counts (make-hash-table :test 'equal))
  (root (make-node nil))
  (nodes 0 :type fixnum)
  (samples 0 :type fixnum)
  ;; samples outside the package that is asked for
  (outside 0 :type fixnum)
  ;; ((THREAD . COUNT) ...) of samples in threads that are not asked for
  (elsewhere '() :type list))

;;; The program's part of a stack

(defun start-name-p (name)
  "True if NAME is that of a function with which the runtime begins the program's code."
  (member name '(call-own call-user call-framework)))

(defun program-part (stack)
  "The part of STACK, ((NAME . INFO) ...), outermost first, that belongs to the program."
  (let ((start (or (position 'call-own stack :key #'car) (position-if #'start-name-p stack :key #'car))))
    (if start
        (nthcdr (1+ start) stack)
        (member-if-not (lambda (name) (or (eq name 'eval) (equal name '(lambda ())) (system-name-p name))) stack :key #'car))))

(defun without-repetitions (stack)
  "STACK without the repetitions of functions that call themselves."
  (loop for (entry next) on stack
        unless (and next (equal (car entry) (car next))) collect entry))

(defun of-package (stack package)
  "The entries of STACK whose functions have names in PACKAGE; all if that is NIL."
  (if package
      (remove-if-not (lambda (entry)
                       (let ((symbol (name-symbol (car entry)))) (and symbol (eq package (symbol-package symbol)))))
                     stack)
      stack))

;;; Counting

(defun count-function (tally entry self-p seen)
  "Count ENTRY of a stack in TALLY, unless its name is in SEEN; it was innermost if SELF-P."
  (let ((counted (or (gethash (car entry) (tally-counts tally))
                     (setf (gethash (car entry) (tally-counts tally)) (make-counted (car entry) (cdr entry))))))
    (when self-p (incf (counted-self counted)))
    (unless (member (car entry) seen :test #'equal) (incf (counted-cumulative counted)))))

(defun count-path (tally stack)
  "Count STACK in the tree of TALLY."
  (let ((node (tally-root tally)))
    (incf (node-count node))
    (loop for (name) in stack
          do (let ((child (find name (node-children node) :key #'node-name :test #'equal)))
               (unless child
                 (when (>= (tally-nodes tally) +nodes-limit+) (return))
                 (incf (tally-nodes tally))
                 (setf child (make-node name))
                 (push child (node-children node)))
               (incf (node-count child))
               (setf node child)))))

(defun count-sample (tally stack package)
  "Count a sample with STACK, ((NAME . INFO) ...), outermost first, in TALLY. Only functions of PACKAGE count, unless that is NIL."
  (let ((stack (of-package (without-repetitions (program-part stack)) package)))
    (incf (tally-samples tally))
    (if (null stack)
        (incf (tally-outside tally))
        (let ((seen '()))
          (loop for (entry . more) on stack
                do (count-function tally entry (null more) seen)
                   (push (car entry) seen))
          (count-path tally stack)))))

(defun count-elsewhere (tally thread)
  "Count a sample in THREAD, which is not asked for."
  (let ((entry (assoc thread (tally-elsewhere tally))))
    (if entry (incf (cdr entry)) (push (cons thread 1) (tally-elsewhere tally)))))

;;; Results

(defun most (list key count)
  "The COUNT elements of LIST with the greatest KEY that is positive."
  (let ((sorted (stable-sort (remove-if #'zerop list :key key) #'> :key key)))
    (subseq sorted 0 (min count (length sorted)))))

(defun top (list first-key second-key)
  "The elements of LIST that have the most of FIRST-KEY, most first, and then others with the most of SECOND-KEY."
  (let* ((first (most list first-key (- +functions-limit+ 6)))
         (others (set-difference (most list second-key +functions-limit+) first)))
    (append first (most others second-key (- +functions-limit+ (length first))))))

(defun top-functions (tally)
  "The functions of TALLY with the most samples, those that were innermost first."
  (top (loop for counted being the hash-values of (tally-counts tally) collect counted) #'counted-self #'counted-cumulative))

(defun hottest-path (tally)
  "((NAME . COUNT) ...) of the calls that most samples went through."
  (loop with least = (* +path-share+ (tally-samples tally))
        for node = (tally-root tally) then next
        for next = (first (most (node-children node) #'node-count 1))
        while (and next (>= (node-count next) least))
        repeat +path-limit+
        collect (cons (node-name next) (node-count next))))

;;; The tree of calls in a reply

(defun hottest-nodes (root)
  "A table of the nodes below ROOT with the most samples, as many as a reply has, and the number of the others."
  (let ((nodes '()) (kept (make-hash-table :test 'eq)))
    (labels ((note (node)
               (dolist (child (node-children node))
                 (push child nodes)
                 (note child))))
      (note root))
    ;; a node has at least the samples of each child: in the order of a walk, its callers stay before it
    (let ((sorted (stable-sort (nreverse nodes) #'> :key #'node-count)))
      (loop for node in sorted repeat +stack-nodes-limit+ do (setf (gethash node kept) t))
      (values kept (- (length sorted) (hash-table-count kept))))))

(defun own-count (node)
  "The samples in which NODE was innermost."
  (- (node-count node) (loop for child in (node-children node) sum (node-count child))))

(defun stack-rows (root name-text)
  "(ROWS LEFT) for the tree of calls below ROOT: ROWS is ((DEPTH NAME COUNT OWN-COUNT) ...), each node before those that it called, those with the
most samples first. LEFT is the number of nodes without a row. NAME-TEXT makes the text of a name."
  (multiple-value-bind (kept left) (hottest-nodes root)
    (let ((rows '()))
      (labels ((add (node depth)
                 (dolist (child (most (node-children node) #'node-count (length (node-children node))))
                   (when (gethash child kept)
                     (push (list depth (funcall name-text (node-name child)) (node-count child) (own-count child)) rows)
                     (add child (1+ depth))))))
        (add root 0))
      (list (nreverse rows) left))))

;;; Measures what code costs, alone or compared with other code.

(defconstant +fewest-rounds+ 3 "Times that both pieces of code run to be compared.")

(defconstant +most-rounds+ 15 "Most times that both run.")

(defconstant +comparing-seconds+ 3 "Seconds after which no more rounds begin.")

(defstruct cost
  "What something has cost: nanoseconds of time, of processor time of all threads, and of garbage collections, and bytes allocated."
  (real 0) (run 0) (gc 0) (bytes 0))

(defun cost-now ()
  "What the image has cost so far."
  (make-cost :real (nanoseconds-now) :run (nanoseconds-run) :gc (* 1000 (gc-microseconds)) :bytes (bytes-allocated)))

(defun cost-since (start)
  "What has been spent since the cost was START."
  (let ((now (cost-now)))
    (flet ((spent (key) (max 0 (- (funcall key now) (funcall key start)))))
      (make-cost :real (spent #'cost-real) :run (spent #'cost-run) :gc (spent #'cost-gc) :bytes (spent #'cost-bytes)))))

(defun cost-list (cost)
  "COST as (REAL RUN GC BYTES), times in microseconds."
  (list (round (cost-real cost) 1000) (round (cost-run cost) 1000) (round (cost-gc cost) 1000) (cost-bytes cost)))

(defun median-cost (costs)
  "The medians of COSTS."
  (flet ((median (key) (nth (floor (length costs) 2) (sort (mapcar key costs) #'<))))
    (make-cost :real (median #'cost-real) :run (median #'cost-run) :gc (median #'cost-gc) :bytes (median #'cost-bytes))))

(defun cost-of (functions)
  "What calls of FUNCTIONS cost."
  (let ((start (cost-now)))
    (call-measured-code functions)
    (cost-since start)))

(defun compared-costs (code against)
  "Call the functions of CODE and those of AGAINST in turn. => (ROUNDS COST-LIST COST-LIST) with the medians of both"
  (loop with start = (nanoseconds-now)
        for rounds from 1
        collect (cost-of code) into costs
        collect (cost-of against) into others
        until (or (>= rounds +most-rounds+)
                  (and (>= rounds +fewest-rounds+) (> (- (nanoseconds-now) start) (* +comparing-seconds+ 1000000000))))
        finally (return (list rounds (cost-list (median-cost costs)) (cost-list (median-cost others))))))

;;; A run of the profiler: what it has in common in all modes.

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

(defconstant +lines-seconds+ 1 "Seconds that looking for the lines of functions may take.")

(defun places-end ()
  "The time after which no more lines of functions are looked for."
  (+ (nanoseconds-now) (* +lines-seconds+ 1000000000)))

(defun place-of (function)
  "(:file FILE :line LINE) for FUNCTION, a function or method, or NIL if that is in no file of the program."
  (destructuring-bind (&optional kind file line &rest column)
      (and function (or-nil (described-location (swank/backend:find-source-location function))))
    (declare (ignore column))
    (and (eq kind :file) line (list :file (short-file-name file) :line line))))

;;; Profiles by samples, which SBCL's statistical profiler takes.

(defconstant +samples-limit+ 20000 "Most samples of a profile.")

(defstruct (sampled-profile (:include profile (switch-on #'start-sampling-of) (switch-off #'stop-sampling-of) (findings #'sampled-findings)))
  "A profile by samples."
  ;; only functions of this package count, or NIL
  package
  ;; true if the reply has the tree of calls
  stacks
  ;; a thread that only waits for the end of the profile, or NIL
  waiting
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
                     (cond ((eq thread (sampled-profile-waiting profile)))
                           ((asked-thread-p profile thread)
                            (count-sample tally (loop for info in infos collect (cons (sampled-name info) info))
                                          (sampled-profile-package profile)))
                           (t (count-elsewhere tally thread))))
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
          :stacks (and (sampled-profile-stacks profile) (stack-rows (tally-root tally) #'function-name-text))
          :interval (* 1000 (round (* 1000 +sample-seconds+)))
          :full (and sampling (sampling-over sampling) (>= (sampling-count sampling) +samples-limit+))
          :replaced (and sampling (sampling-replaced sampling))
          :counts nil)))
