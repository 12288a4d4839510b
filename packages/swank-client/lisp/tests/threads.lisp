;;;; Tests of threads, locks and encapsulations.

(in-package #:swank-client/tests)

(defvar *place* :global
  "A variable that threads bind.")

(defun doubled (number)
  "NUMBER twice."
  (* 2 number))

(define-test encapsulate-function-until-unencapsulated
    "An encapsulation is called in place of the function until it is removed."
  (encapsulate-function 'doubled 'test (lambda (function number) (1+ (funcall function number))))
  (is (= 5 (funcall 'doubled 2)))
  (unencapsulate-function 'doubled 'test)
  (is (= 4 (funcall 'doubled 2))))

(define-test change-encapsulation-one-thread-at-a-time
    "Only one thread at a time changes encapsulations, because SBCL loses one of two simultaneous changes."
  (let* ((inside (list 0))
         (most 0)
         (change (lambda ()
                   (setf most (max most (1+ (sb-ext:atomic-incf (car inside)))))
                   (sleep 1/50)
                   (sb-ext:atomic-decf (car inside))))
         (threads (loop repeat 4 collect (sb-thread:make-thread #'change-encapsulation :arguments (list change)))))
    (mapc #'sb-thread:join-thread threads)
    (is (= 1 most))))

(define-test change-encapsulation-retries
    "A change is tried again if SBCL's search for direct calls fails. Other errors are signalled, and the lock is released."
  (let ((tries 0))
    (change-encapsulation (lambda () (when (< (incf tries) 3) (error 'sb-int:bug :format-control "AVER"))))
    (is (= 3 tries)))
  (signals undefined-function (change-encapsulation (lambda () (error 'undefined-function :name 'nothing))))
  (is (null (sb-thread:mutex-owner *encapsulation-lock*))))

(define-test prepare-encapsulations-changes-direct-calls
    "After one search for several functions, SBCL's own code, too, calls an encapsulation in place of the function."
  (let ((names '(sb-ext:exit sb-ext:quit doubled)))
    (prepare-encapsulations names (direct-calls-if-found names)))
  (is (not (called-directly-p 'sb-ext:exit)))
  (encapsulate-function 'sb-ext:exit 'test (lambda (exit &rest arguments)
                                             (declare (ignore exit arguments))
                                             (throw 'exit :encapsulated)))
  (unwind-protect (is (eq :encapsulated (catch 'exit (funcall 'sb-ext:quit))))
    (unencapsulate-function 'sb-ext:exit 'test)))

;;; SBCL 2.2.9 to 2.3.11 have direct calls and no table of them.
(define-test known-direct-calls-hold-for-their-core-only
    "The places of direct calls that were found in one image are used in others of the same core, after each is checked."
  (when (and (fboundp 'map-direct-calls) (called-directly-p 'sb-kernel:%find-position))
    (let* ((name 'sb-kernel:%find-position)
           (known (direct-calls-of-core (list name)))
           (places (rest (assoc name (cddr known)))))
      (is (plusp (length places)))
      (is (= (length places) (length (known-calls-of (list name) known))))
      (is (null (known-calls-of (list name) (cons '(1 2 3 4) (rest known)))))
      (is (null (known-calls-of (list name 'car) known)))
      (is (null (known-calls-of (list name) (list (first known) (second known) (list* name (1+ (first places)) (rest places))))))
      (is (null (known-calls-of (list name) (list (first known) (second known) (list name 16))))))))

(define-test known-direct-calls-do-not-hide-later-ones
    "Code that was loaded after the core is searched even if the calls of the core are known."
  (when (and (fboundp 'map-direct-calls) (called-directly-p 'sb-ext:cancel-finalization))
    (let* ((name 'sb-ext:cancel-finalization)
           (known (direct-calls-of-core (list name)))
           (caller (progv (list (accessible-symbol "*COMPILE-TO-MEMORY-SPACE*" "SB-C")) '(:immobile)
                     (compile nil '(lambda () (list (sb-ext:cancel-finalization "object")))))))
      (is-true (known-calls-of (list name) known))
      (prepare-encapsulations (list name) known)
      (encapsulate-function name 'test (constantly :encapsulated))
      (unwind-protect (is (equal '(:encapsulated) (funcall caller)))
        (unencapsulate-function name 'test)))))

(define-test own-lock-p-is-true-in-the-holding-thread
    "A lock is a thread's own while the thread holds it; NIL, a lock that this Lisp lacks, is never."
  (let ((lock (sb-thread:make-mutex)))
    (is-false (own-lock-p lock))
    (sb-thread:with-mutex (lock)
      (is-true (own-lock-p lock))
      (is-false (sb-thread:join-thread (sb-thread:make-thread (lambda () (own-lock-p lock))))))
    (is-false (own-lock-p nil))))

(define-test locks-of-sbcl-are-found
    "This SBCL has the locks that a thread must not hold when it is stopped."
  (is (typep (package-graph-lock) 'sb-thread:mutex))
  (is (typep (world-lock) 'sb-thread:mutex)))

(define-test call-in-thread-interrupts-once-wanted
    "The function runs in the other thread, with its bindings, only if WANTED-P is true there."
  (let* ((ready (sb-thread:make-semaphore))
         (done (sb-thread:make-semaphore))
         (seen '())
         (thread (sb-thread:make-thread (lambda ()
                                          (let ((*place* :bound))
                                            (sb-thread:signal-semaphore ready)
                                            (sb-thread:wait-on-semaphore done :timeout 30))))))
    (sb-thread:wait-on-semaphore ready)
    (is (eq :bound (value-in-thread '*place* thread)))
    (call-in-thread thread (constantly nil) (lambda () (push :unwanted seen)))
    (let ((called (sb-thread:make-semaphore)))
      (call-in-thread thread (constantly t) (lambda () (push *place* seen) (sb-thread:signal-semaphore called)))
      (is-true (sb-thread:wait-on-semaphore called :timeout 30)))
    (sb-thread:signal-semaphore done)
    (sb-thread:join-thread thread :default nil :timeout 30)
    (is (equal '(:bound) seen))
    (is-false (value-in-thread '*place* thread))
    (is-false (call-in-thread thread (constantly t) (lambda () (push :late seen))))))

(define-test queue-interrupt-waits-for-the-lock-on-mailboxes
    "A thread that holds the lock on mailboxes takes the interrupt after it has released the lock."
  (let* ((locked (sb-thread:make-semaphore))
         (called nil)
         (thread (sb-thread:make-thread
                  (lambda ()
                    (handler-case
                        (let ((*slime-interrupts-enabled* t))
                          (sb-thread:with-mutex ((mailbox-lock))
                            (sb-thread:signal-semaphore locked)
                            (sleep 1/10)
                            (when called (error "The interrupt did not wait.")))
                          (loop repeat 1000 until called do (sleep 1/100)))
                      (error (condition) condition))))))
    (sb-thread:wait-on-semaphore locked)
    (queue-interrupt thread (lambda () (setf called t)))
    (is (null (sb-thread:join-thread thread :default :lost :timeout 30)))
    (is-true called)))

(define-test runtime-threads-run-no-code-of-a-session
    "A thread of the runtime does not belong to the session whose code caused it to start."
  (let ((*code-session* :session))
    (is (eq :none (sb-thread:join-thread (start-runtime-thread (lambda () (or *code-session* :none)) "test"))))))

(define-test version-symbols-finds-systems-loaded-by-hand
    "Symbols are found in packages without a version, as loaded here, and in packages with one."
  (is (member 'swank-client/evaluate:*sessions* (version-symbols "EVALUATE" "*SESSIONS*")))
  (let ((other (make-package "SWANK-CLIENT/EVALUATE/0123456789AB" :use '())))
    (unwind-protect
         (is (member (intern "*SESSIONS*" other) (version-symbols "EVALUATE" "*SESSIONS*")))
      (delete-package other)))
  (let ((unlike (make-package "SWANK-CLIENT/EVALUATED" :use '())))
    (unwind-protect
         (is-false (member (intern "*SESSIONS*" unlike) (version-symbols "EVALUATE" "*SESSIONS*")))
      (delete-package unlike))))
