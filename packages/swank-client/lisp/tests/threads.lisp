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

(define-test encapsulate-calls-by-name-leaves-machine-code-alone
    "A function that SBCL's own code calls by address is encapsulated for callers by name, and its other callers are left as they are."
  (let ((direct (called-directly-p 'sb-ext:exit)))
    (encapsulate-calls-by-name 'sb-ext:exit 'test (lambda (exit &rest arguments)
                                                    (declare (ignore exit arguments))
                                                    (throw 'exit :encapsulated)))
    (unwind-protect (is (eq :encapsulated (catch 'exit (funcall 'sb-ext:exit))))
      (unencapsulate-calls-by-name 'sb-ext:exit 'test))
    (is (eq direct (called-directly-p 'sb-ext:exit)))))

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
