;;;; SBCL's statistical profiler, the contrib sb-sprof, which is loaded when it is first used. These are internals of SBCL.

(swank-client/sbcl-internals:define-port #:swank-client/sbcl-sprof
  (:documentation "SBCL's statistical profiler, used without disturbing the program's own use of it.")
  (:use #:common-lisp)
  (:import-from #:swank-client/any-names #:call-if-loaded #:existing-symbols #:value-if-loaded)
  (:import-from #:swank-client/any-lisp #:or-nil)
  (:import-from #:swank-client/sbcl-system #:require-part)
  (:import-from #:swank-client/sbcl-locks #:with-system-mutex)
  (:functions #:sb-di #:debug-fun-fun #:debug-fun-name)
  (:functions #:sb-int #:info)
  (:types #:sb-di #:compiled-debug-fun)
  (:export #:+sample-seconds+ #:begin-sampling #:bytes-allocated #:current-samples #:end-sampling #:gc-microseconds #:load-profiler
           #:map-samples #:profiling-p #:sampled-function #:sampled-name #:sampling-count #:sampling-over #:sampling-replaced))

(in-package #:swank-client/sbcl-sprof)

(defconstant +sample-seconds+ 4/1000 "Seconds between two samples, of time that the process computes. Linux counts that in steps of 4 ms.")

(defconstant +thread-lock-seconds+ 1 "Seconds to wait for SBCL's lock that guards the beginning of threads.")

(defparameter *needed-functions* '("START-PROFILING" "START-SAMPLING" "STOP-PROFILING" "CONVERT-RAW-DATA" "MAP-TRACES" "MAP-TRACE-PC-LOCS")
  "Names of functions of the profiler.")

(defparameter *needed-variables* '("*PROFILING*" "*SAMPLES*" "*ENCAPSULATIONS*") "Names of variables of the profiler.")

(defparameter *needed-slots* '("VECTOR" "TRACE-COUNT") "Names of slots of the profiler's samples.")

(defun sprof-symbol (name)
  "The symbol NAME of the profiler, or NIL."
  (and (find-package "SB-SPROF") (find-symbol name "SB-SPROF")))

(defparameter *sampled-threads-variable* (first (existing-symbols '(("SB-THREAD" "*PROFILED-THREADS*"))))
  "SBCL's variable for the threads that the profiler samples: a list, or :ALL, which includes threads that have not begun.")

(defparameter *make-thread-lock-variable* (first (existing-symbols '(("SB-THREAD" "*MAKE-THREAD-LOCK*"))))
  "SBCL's variable for the lock that is held from the beginning of a thread until SB-THREAD:LIST-ALL-THREADS includes it.")

(defparameter *finalizer-thread-variable* (first (existing-symbols '(("SB-IMPL" "*FINALIZER-THREAD*"))))
  "SBCL's variable for the thread that runs finalizers, which is a thread only after that has begun.")

(defun missing-names ()
  "The names that this SBCL lacks, all of the profiler's if it is not loaded."
  (flet ((lacking (names test)
           (loop for name in names
                 for symbol = (sprof-symbol name)
                 unless (and symbol (funcall test symbol)) collect (format nil "SB-SPROF::~a" name))))
    (append (lacking *needed-functions* #'fboundp)
            (lacking *needed-variables* #'boundp)
            (lacking *needed-slots* #'symbolp)
            (unless *sampled-threads-variable* '("SB-THREAD::*PROFILED-THREADS*"))
            (unless *make-thread-lock-variable* '("SB-THREAD::*MAKE-THREAD-LOCK*"))
            (unless *finalizer-thread-variable* '("SB-IMPL::*FINALIZER-THREAD*")))))

(defvar *loading-lock*
  (or (get :swank-client :profiler-loading-lock)
      (setf (get :swank-client :profiler-loading-lock) (sb-thread:make-mutex :name "swank-client profiler")))
  "Held while any version of the library loads the profiler.")

(defun loadedp ()
  "True if the profiler is loaded as a whole. A thread may load it now, or was ended when it had loaded half of it."
  (ecase (get :swank-client :profiler)
    (:loaded t)
    (:loading nil)
    ((nil) (and (member "SB-SPROF" *modules* :test #'string=) (null (missing-names))))))

(defun require-profiler ()
  "Load the profiler unless it is loaded."
  (unless (loadedp)
    (sb-thread:with-mutex (*loading-lock*)
      (unless (loadedp)
        (setf (get :swank-client :profiler) :loading
              ;; SBCL notes the module before all of it is loaded
              *modules* (remove "SB-SPROF" *modules* :test #'string=))
        (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
          (require-part "SB-SPROF"))
        (setf (get :swank-client :profiler) :loaded)))))

(defun load-profiler ()
  "Load the profiler unless it is loaded. => NIL, or a text that says what this SBCL lacks"
  (handler-case (require-profiler)
    (error (problem)
      (return-from load-profiler (format nil "sb-sprof, which cannot be loaded: ~a" problem))))
  (let ((missing (missing-names)))
    (and missing (format nil "~{~a~^, ~}" missing))))

(defun profiling-p ()
  "True if the profiler runs."
  (and (value-if-loaded "SB-SPROF" "*PROFILING*") t))

(defmacro with-own-counts (&body body)
  "Run BODY, which starts or stops the profiler, without the functions whose calls the program wants the profiler to count."
  `(progv (list (sprof-symbol "*ENCAPSULATIONS*")) (list (make-hash-table :test 'equal))
     ,@body))

;;; The samples of a run, in the order of SB-SPROF::*SAMPLES*

(defun current-samples ()
  "The profiler's object for the samples of the latest run, or NIL."
  (value-if-loaded "SB-SPROF" "*SAMPLES*"))

(defun samples-vector (samples)
  "The vector of SAMPLES, empty until they are collected."
  (slot-value samples (sprof-symbol "VECTOR")))

(defun collect-samples (samples)
  "Move what the threads have recorded into SAMPLES, unless that has happened."
  (when (and samples (zerop (length (samples-vector samples))))
    (setf (slot-value samples (sprof-symbol "VECTOR"))
          (call-if-loaded "SB-SPROF" "CONVERT-RAW-DATA"))))

;;; Sampling

(defstruct sampling
  "A run of the profiler."
  samples
  (over nil)
  ;; true if the program has started another run
  (replaced nil))

(defvar *sampling-lock*
  (or (get :swank-client :sampling-lock)
      (setf (get :swank-client :sampling-lock) (sb-thread:make-mutex :name "swank-client sampling")))
  "Held while any version of the library starts or ends a run of the profiler.")

(defun known-threads ()
  "All threads that have begun, also the one that runs finalizers, which SBCL does not list."
  (let ((finalizer (symbol-value *finalizer-thread-variable*))
        (threads (sb-thread:list-all-threads)))
    (if (typep finalizer 'sb-thread:thread) (cons finalizer threads) threads)))

(defun begun-threads ()
  "All threads that have begun, except the one that runs finalizers. Those that begin after this call has begun may be missing."
  (let ((lock (symbol-value *make-thread-lock-variable*)))
    (or (sb-thread:with-mutex (lock :timeout +thread-lock-seconds+) (sb-thread:list-all-threads))
        ;; An image that exits never releases the lock.
        (sb-thread:list-all-threads))))

(defun start-profiler (mode limit)
  "Start the profiler for all threads in MODE until there are LIMIT samples."
  ;; With :ALL, the profiler would also signal threads that are being created. Such a thread has no valid id yet: the signal ends the image
  ;; or fails, and the error stops this thread while it holds locks of SBCL.
  (with-own-counts
    (call-if-loaded "SB-SPROF" "START-PROFILING" :mode mode :max-samples limit :sample-interval +sample-seconds+
                                                 :threads (known-threads)))
  (setf (symbol-value *sampled-threads-variable*) :all)
  (dolist (thread (begun-threads))
    (call-if-loaded "SB-SPROF" "START-SAMPLING" thread)))

(defun begin-sampling (mode limit)
  "Sample all threads in MODE, :CPU or :ALLOC, until there are LIMIT samples. => a SAMPLING, or NIL if the profiler runs already or has samples
of the program"
  (with-system-mutex (*sampling-lock*)
    (unless (or (profiling-p) (current-samples))
      (start-profiler mode limit)
      (make-sampling :samples (current-samples)))))

(defun end-sampling (sampling)
  "End SAMPLING unless it has ended. Any thread may call this, any number of times."
  (with-system-mutex (*sampling-lock*)
    (unless (sampling-over sampling)
      (setf (sampling-over sampling) t)
      (cond ((eq (sampling-samples sampling) (current-samples))
             (with-own-counts (call-if-loaded "SB-SPROF" "STOP-PROFILING"))
             (collect-samples (sampling-samples sampling))
             (setf (symbol-value (sprof-symbol "*SAMPLES*")) nil))
            (t (setf (sampling-replaced sampling) t))))))

(defun sampling-count (sampling)
  "The number of samples of SAMPLING, which has ended."
  (slot-value (sampling-samples sampling) (sprof-symbol "TRACE-COUNT")))

;;; Reading the samples

(defun sampled-name (info)
  "The name of the function that INFO, an element of a sample, stands for; a string for a foreign one."
  (typecase info
    (compiled-debug-fun (debug-fun-name info))
    (null "unknown code")
    (symbol info)
    (string info)
    (t "unknown code")))

(defun sampled-function (info)
  "The function that INFO, an element of a sample, stands for, or NIL."
  (and (typep info 'compiled-debug-fun)
       (or-nil (debug-fun-fun info))))

(defun map-samples (function sampling)
  "Call FUNCTION with the thread of each sample of SAMPLING, which has ended, and with the list of what was on its stack, outermost first."
  (let ((samples (sampling-samples sampling)))
    (when (plusp (length (samples-vector samples)))
      (flet ((take (thread trace)
               (let ((infos '()))
                 (call-if-loaded "SB-SPROF" "MAP-TRACE-PC-LOCS" (lambda (info place) (declare (ignore place)) (push info infos))
                                 trace)
                 (funcall function thread (nreverse infos)))))
        (call-if-loaded "SB-SPROF" "MAP-TRACES" #'take samples)))))

;;; Time and memory of the whole image

(defun gc-microseconds ()
  "Microseconds of processor time that garbage collections have taken."
  (round (* 1000000 sb-ext:*gc-run-time*) internal-time-units-per-second))

(defun bytes-allocated ()
  "Bytes that all threads have allocated."
  (sb-ext:get-bytes-consed))
