;;;; Tests of threads, locks and encapsulations, what threads wait for, and descriptions of stops.

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

;; ASDF's tables are not synchronized
(define-test announce-swank-in-one-thread-at-a-time
    "ASDF is told once that Swank is loaded, by however many threads begin at the same time, and forgets it again."
  (let ((told (list 0))
        (threads 4))
    (encapsulate-function 'asdf:register-immutable-system 'test
                          (lambda (register &rest arguments)
                            (sb-ext:atomic-incf (car told))
                            (apply register arguments)))
    (retract-swank)
    (unwind-protect
         (loop repeat 200
               do (let ((start (sb-thread:make-semaphore)))
                    (flet ((announce ()
                             (sb-thread:wait-on-semaphore start)
                             (announce-swank)))
                      (let ((all (loop repeat threads collect (sb-thread:make-thread #'announce))))
                        (sb-thread:signal-semaphore start threads)
                        (mapc #'sb-thread:join-thread all))))
                  (retract-swank))
      (unencapsulate-function 'asdf:register-immutable-system 'test))
    (is (equal (list 200) told))
    (is-false (asdf:registered-system "swank"))))

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

(define-test interrupts-that-are-repeated-do-not-nest
    "A thread that holds a lock is interrupted again only after it has left the interrupt before. SBCL ends the image at the eighth level."
  (let* ((ready (sb-thread:make-semaphore))
         (called (sb-thread:make-semaphore))
         (depths '())
         (thread (sb-thread:make-thread (lambda ()
                                          (sb-thread:with-recursive-lock ((world-lock))
                                            (sb-thread:signal-semaphore ready)
                                            (loop repeat 3000
                                                  until (sb-thread:try-semaphore called)
                                                  do (sleep 1/100)))))))
    (sb-thread:wait-on-semaphore ready)
    (call-in-thread thread
                    (lambda () (push (interrupt-depth sb-thread:*current-thread*) depths) t)
                    (lambda () (sb-thread:signal-semaphore called))
                    :patience 4)
    (sb-thread:join-thread thread :default nil :timeout 30)
    (is (equal '(1 1 1 1 1) depths))))

(defun start-waiting (function)
  "Start a thread that calls FUNCTION with a function that it calls before it waits, and return the thread once it has."
  (let* ((ready (sb-thread:make-semaphore))
         (thread (sb-thread:make-thread function :arguments (list (lambda () (sb-thread:signal-semaphore ready))))))
    (sb-thread:wait-on-semaphore ready)
    thread))

(defun start-evaluation (function)
  "Start a thread that calls FUNCTION as the code of an evaluation, with a function that it calls first. => the evaluation, once it has"
  (let ((thread (start-waiting (lambda (begin)
                                 (let ((*evaluation* (make-evaluation :id 1)))
                                   (funcall function begin))))))
    (value-in-thread '*evaluation* thread)))

(defun depth-here ()
  "The number of interrupts that this thread is in."
  (interrupt-depth sb-thread:*current-thread*))

(define-test interrupts-of-one-kind-do-not-nest
    "An evaluation whose thread holds a lock is interrupted by one interrupt of a kind, however many are sent before that has ended."
  (let* ((calls '())
         (depths '())
         (released nil)
         (end nil)
         (evaluation (start-evaluation (lambda (begin)
                                         (sb-thread:with-recursive-lock ((world-lock))
                                           (funcall begin)
                                           ;; interrupts do not count as sleep
                                           (loop with begun = (get-internal-real-time)
                                                 until (> (- (get-internal-real-time) begun) (/ internal-time-units-per-second 2))
                                                 do (sleep 1/1000)))
                                         (loop repeat 3000 until end do (sleep 1/100))))))
    (flet ((send (kind)
             (call-in-evaluation evaluation kind
                                 (lambda () (push kind calls) (loop repeat 3000 until released do (sleep 1/100)))
                                 :wanted-p (lambda () (push (depth-here) depths) (sleep 1/20) t))))
      (loop repeat 20 do (send :first) (sleep 1/100))
      (loop repeat 1000 until calls do (sleep 1/100))
      ;; while the function runs
      (send :first)
      (is (equal '(:first) calls))
      (is (every (lambda (depth) (= depth 1)) depths) "Depths: ~s" depths)
      (setf released t)
      (loop repeat 1000 while (evaluation-pending-interrupts evaluation) do (sleep 1/100))
      (send :first)
      (loop repeat 1000 until (rest calls) do (sleep 1/100))
      (is (equal '(:first :first) calls)))
    (setf end t)
    (sb-thread:join-thread (evaluation-thread evaluation) :default nil :timeout 30)))

(define-test an-interrupt-that-unwinds-or-does-not-run-lets-the-next-one-come
    "A kind of interrupt is free again when its function has been left by a throw, is not wanted any more, or the evaluation is over."
  (let* ((thrown 0)
         (inside nil)
         (end nil)
         (evaluation (start-evaluation (lambda (begin)
                                         (funcall begin)
                                         (loop until end
                                               do (catch 'leaving
                                                    (unwind-protect
                                                         (progn (setf inside t)
                                                                (loop until end do (sleep 1/100)))
                                                      (setf inside nil))))))))
    (flet ((send (wanted)
             (call-in-evaluation evaluation :kind (lambda () (when inside (incf thrown) (throw 'leaving nil))) :wanted-p (constantly wanted))
             (loop repeat 1000 while (evaluation-pending-interrupts evaluation) do (sleep 1/100))))
      (loop repeat 1000 until (plusp thrown) do (send t))
      (send nil)
      (loop repeat 1000 until (> thrown 1) do (send t))
      (is (= 2 thrown))
      (setf end t)
      (sb-thread:join-thread (evaluation-thread evaluation) :default nil :timeout 30)
      (send t)
      (is (null (evaluation-pending-interrupts evaluation))))))

(define-test the-c-library-is-told-from-lisp
    "Wherever the system has put the C library, its addresses are not taken for Lisp's, nor those of functions and objects of Lisp for C's."
  (dolist (name '("malloc" "dlsym"))
    (is-true (c-address-p (sb-sys:find-foreign-symbol-address name)) "~a" name))
  (dolist (object (list #'car #'c-address-p (list 1) 'car))
    (is-false (c-address-p (sb-kernel:get-lisp-obj-address object)) "~s" object)))

(define-test a-thread-is-not-unwound-inside-the-c-library
    "Interrupts, also those of others, wait until a thread has left C code, which may hold a lock of the C library."
  (let* ((end nil)
         (inside nil)
         (unwound (list 0))
         (thread (sb-thread:make-thread
                  (lambda ()
                    (loop until end
                          do (catch 'leaving
                               (unwind-protect
                                    (progn (setf inside t)
                                           ;; dlsym holds a lock, also while it asks malloc for memory
                                           (loop until end do (sb-sys:find-dynamic-foreign-symbol-address "swank_client_nothing")))
                                 (setf inside nil))))))))
    (flet ((unwind ()
             (when inside
               (sb-ext:atomic-incf (car unwound))
               (throw 'leaving nil))))
      (flet ((unwind-often ()
               (loop repeat 200
                     do (let ((over (sb-thread:make-semaphore)))
                          (call-in-thread thread
                                          ;; another interrupt comes
                                          (lambda () (sleep 1/1000) t)
                                          #'unwind
                                          :ended (lambda () (sb-thread:signal-semaphore over)))
                          (unless (sb-thread:wait-on-semaphore over :timeout 10) (return))
                          ;; the thread leaves the interrupt; it may be in one of the other sender
                          (loop repeat 10000 while (< 1 (interrupt-depth thread)) do (sleep 1/1000))))))
        (let ((senders (loop repeat 2 collect (sb-thread:make-thread #'unwind-often))))
          (dolist (sender senders) (sb-thread:join-thread sender :default nil :timeout 50))))
      (setf end t)
      (is (not (eq :hangs (sb-thread:join-thread thread :default :hangs :timeout 10))))
      (is (< 100 (car unwound))))))

(define-test mailboxes-without-a-thread-are-removed
    "A mailbox for no thread, to which Swank can send before a connection has its threads, is removed like those of threads that have ended."
  (send nil :message)
  (send (let ((thread (sb-thread:make-thread (constantly nil)))) (sb-thread:join-thread thread) thread) :message)
  (prune-mailboxes)
  (is (every (lambda (mailbox) (and (mailbox.thread mailbox) (sb-thread:thread-alive-p (mailbox.thread mailbox)))) *mailboxes*)))

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

(define-test queue-interrupt-reaches-a-thread-that-was-not-woken
    "An interrupt that Swank has queued while the thread was about to wait for a message is taken during the wait."
  (let* ((taken (sb-thread:make-semaphore))
         (woken 0)
         (thread (sb-thread:make-thread
                  (lambda ()
                    (let ((*slime-interrupts-enabled* nil)
                          (swank/backend:*pending-slime-interrupts* '()))
                      (swank/backend:receive-if (lambda (message) (eq message :end))))))))
    (unwind-protect
         (progn
           ;; what reaches no thread that waits has no effect
           (encapsulate 'wake-thread 'test (lambda (wake thread) (when (< 1 (incf woken)) (funcall wake thread))))
           (sleep 1/20)
           (queue-interrupt thread (lambda () (sb-thread:signal-semaphore taken)))
           (is-true (sb-thread:wait-on-semaphore taken :timeout 10)))
      (unencapsulate 'wake-thread 'test)
      (swank/backend:send thread :end))
    (is (eq :end (sb-thread:join-thread thread :default :lost :timeout 30)))))

(define-test runtime-threads-run-no-code-of-a-session
    "A thread of the runtime does not belong to the session whose code caused it to start."
  (let ((*code-session* :session))
    (is (eq :none (sb-thread:join-thread (start-runtime-thread (lambda () (or *code-session* :none)) "test"))))))

(define-test version-symbols-finds-systems-loaded-by-hand
    "Symbols are found in packages without a version, as loaded here, and in packages with one."
  (is (member '*sessions* (version-symbols "EVALUATE" "*SESSIONS*")))
  (let ((other (make-package "SWANK-CLIENT/EVALUATE/0123456789AB" :use '())))
    (unwind-protect
         (is (member (intern "*SESSIONS*" other) (version-symbols "EVALUATE" "*SESSIONS*")))
      (delete-package other)))
  (let ((unlike (make-package "SWANK-CLIENT/EVALUATED" :use '())))
    (unwind-protect
         (is-false (member (intern "*SESSIONS*" unlike) (version-symbols "EVALUATE" "*SESSIONS*")))
      (delete-package unlike))))

;;; Tests of what threads wait for.

(defun await-wait (thread kind &optional (wanted nil wanted-p))
  "Wait until THREAD is in a wait of KIND, for WANTED if that is given, 30 s at most, and return the object of the wait."
  (loop repeat 3000
        do (multiple-value-bind (found object) (wait-of thread)
             (when (and (eq found kind) (or (not wanted-p) (eq object wanted))) (return object)))
           (sleep 1/100)))

(define-test wait-of-a-mutex-and-of-the-end-of-a-thread
    "The mutex, and the thread whose end is awaited, are known without disturbing the waiting thread."
  (let ((mutex (sb-thread:make-mutex :name "held")) (taker nil) (joiner nil))
    (sb-thread:with-mutex (mutex)
      (setf taker (start-waiting (lambda (begin)
                                   (funcall begin)
                                   (sb-thread:with-mutex (mutex :timeout 60) :taken)))
            joiner (start-waiting (lambda (begin)
                                    (funcall begin)
                                    (sb-thread:join-thread taker))))
      (is (eq mutex (await-wait taker :mutex)))
      #+(and linux x86-64)
      (is (eq taker (await-wait joiner :join)))
      (is-false (wait-cycles (list taker joiner))))
    (is (eq :taken (sb-thread:join-thread joiner :timeout 60)))))

(define-test deadlock-text-of-a-cycle
    "Two threads that wait for each other's locks are a deadlock, which begins with the thread of the least number."
  (let* ((first (sb-thread:make-mutex :name "first"))
         (second (sb-thread:make-mutex :name "second"))
         (go (sb-thread:make-semaphore))
         (threads (loop for (own other) in (list (list first second) (list second first))
                        collect (let ((own own) (other other))
                                  (start-waiting (lambda (begin)
                                                   (sb-thread:with-mutex (own)
                                                     (funcall begin)
                                                     (sb-thread:wait-on-semaphore go)
                                                     ;; with a timeout, SBCL signals no error
                                                     (sb-thread:with-mutex (other :timeout 60) :taken))))))))
    (sb-thread:signal-semaphore go 2)
    ;; before, both may wait for the mutex of the semaphore
    (mapc (lambda (thread other) (await-wait thread :mutex other)) threads (list second first))
    (destructuring-bind (one two) (mapcar #'thread-number threads)
      (is (equal (if (< one two)
                     (format nil "DEADLOCK: ~d waits for MUTEX \"second\" held by ~d, ~d waits for MUTEX \"first\" held by ~d"
                             one two two one)
                     (format nil "DEADLOCK: ~d waits for MUTEX \"first\" held by ~d, ~d waits for MUTEX \"second\" held by ~d"
                             two one one two))
                 (deadlock-text (cycle-from (first threads))))))
    (is (= 1 (length (wait-cycles threads))))
    (sb-thread:terminate-thread (first threads))
    (is (eq :taken (sb-thread:join-thread (second threads) :timeout 60)))))

(define-test wait-of-an-interrupted-thread
    "A thread that was interrupted in a wait still waits for the same."
  (let* ((mutex (sb-thread:make-mutex))
         (end (sb-thread:make-semaphore))
         (thread (start-waiting (lambda (begin)
                                  (let ((*interrupted-wait* (cons :mutex mutex)))
                                    (funcall begin)
                                    (sb-thread:wait-on-semaphore end))))))
    (is (equal (list :mutex mutex) (multiple-value-list (wait-of thread))))
    (sb-thread:signal-semaphore end)
    (sb-thread:join-thread thread)))

;;; Tests of descriptions of stops.

(define-condition out-of-stock (error) ()
  (:documentation "A condition of a user.")
  (:report "Nothing is left."))

(define-test shown-class-is-the-most-specific-useful-one
    "A condition of the user is shown by its own class, one of SBCL by the most specific standard class."
  (is (equal "SWANK-CLIENT/TESTS::OUT-OF-STOCK" (class-name-text (shown-class (make-condition 'out-of-stock)))))
  (is (equal "CONTROL-ERROR" (class-name-text (shown-class (make-condition 'sb-int:simple-control-error)))))
  (is (equal "Nothing is left." (message-text (make-condition 'out-of-stock)))))

(defun describe-a-stop (leaves-p)
  "What DESCRIBE-STOP returns of a thread whose restarts cannot be read, which leaves its stop before that if LEAVES-P is true."
  (let* ((leave (sb-thread:make-semaphore))
         (restarts (list :first))
         (thread (start-waiting (lambda (begin)
                                  (let ((*sldb-level* 1)
                                        (*sldb-restarts* restarts)
                                        (*swank-debugger-condition* (make-condition 'out-of-stock)))
                                    (funcall begin)
                                    (sb-thread:wait-on-semaphore leave))))))
    (flet ((leave ()
             (sb-thread:signal-semaphore leave)
             (sb-thread:join-thread thread)))
      (encapsulate 'restart-texts 'test (lambda (function restarts)
                                          (declare (ignore function restarts))
                                          (when leaves-p (leave))
                                          (error 'sb-sys:memory-fault-error)))
      (unwind-protect (describe-stop restarts thread)
        (unencapsulate 'restart-texts 'test)
        (unless leaves-p (leave))))))

(define-test describe-stop-of-a-thread-that-leaves-it
    "A thread that leaves its stop takes its restarts along, which are then not described; while it is there, they can be read."
  (is-false (describe-a-stop t))
  (signals sb-sys:memory-fault-error (describe-a-stop nil)))

(define-test frame-kinds-are-system-user-and-toplevel
    "Frames above the user's first frame are Lisp's, and those below the start of an evaluation, a thread or a test are not the user's."
  (let ((work (intern "WORK" "COMMON-LISP-USER"))
        (run (intern "RUN" "SB-THREAD"))
        (body (intern "BODY" "SB-UNIX")))
    (is (equal '(:system :user :user :toplevel :toplevel)
               (frame-kinds (list 'error work work 'call-user 'other)
                            (make-condition 'simple-error))))
    (is (equal '(:user :toplevel :toplevel :toplevel)
               (frame-kinds (list work run `(flet ,body :in ,run) "foreign function: call_into_lisp_")
                            (make-condition 'simple-error))))
    (is (equal '(:user :user :toplevel :toplevel :toplevel)
               (frame-kinds (list work `(labels work :in "tests.fasl") `(lambda () :in fiveam:run) 'fiveam:run
                                  'call-framework)
                            (make-condition 'simple-error))))
    (is (equal '(:user :system :user :toplevel :toplevel :toplevel :toplevel)
               (frame-kinds (list work '(lambda () :in call-own) work `(method fiveam:run (t))
                                  `(flet call-next-method :in "tests.fasl") 'fiveam:run 'call-framework)
                            (make-condition 'simple-error))))))

(define-test argument-range-comes-from-the-function
    "The number of arguments that a restart takes is found from its function."
  (restart-bind ((none (lambda () 0))
                 (some (lambda (a &optional b) (list a b)))
                 (any (lambda (&rest all) all))
                 (prompting (lambda (&optional a) a) :interactive-function (lambda () (list 1))))
    (flet ((range (name) (multiple-value-list (argument-range (find-restart name)))))
      (is (equal '(0 0) (range 'none)))
      (is (equal '(1 2) (range 'some)))
      (is (equal '(0 nil) (range 'any)))
      (is (equal '(1 1) (range 'prompting))))))

(define-test restart-texts-are-one-line-each
    "Each restart has its name and its report, even if the report cannot be printed."
  (restart-case
      (is (equal '(("PLAIN" "On two lines" 0 0) ("FAILING" "<<error printing restart>>" 0 0))
                 (restart-texts (list (find-restart 'plain) (find-restart 'failing)))))
    (plain () :report (lambda (stream) (format stream "On~%  two lines")))
    (failing () :report (lambda (stream) (declare (ignore stream)) (error "no")))))

(define-test source-forms-reads-all
    "All forms of a text are read; an incomplete form is an error."
  (is (equal '(1 (2 3)) (source-forms "1 (2 3)")))
  (signals error (source-forms "(1"))
  (is (= 3 (value-of-source "(+ 1 2)")))
  (signals error (value-of-source "1 2")))

(define-test named-arguments-follow-the-lambda-list
    "Arguments get the names in the lambda list."
  (is (equal '((a . 1) (b . 2) (rest . (:c 3)) (c . 3))
             (named-arguments '(a &optional (b 9) &rest rest &key c) '(1 2 :c 3))))
  (is (equal '((a . 1)) (named-arguments '(a &optional b) '(1)))))

(define-test first-form-text-ends-with-the-form
    "Only the first form of a text is returned, or the whole text if it cannot be read."
  (is (equal "(a b)" (first-form-text (format nil " (a b)~%(c)"))))
  (is (equal "(a" (first-form-text "(a"))))

(define-test undefined-thing-names-the-missing-definition
    "A warning has a type, and the kind and name of the missing definition."
  (let ((warnings '()))
    (handler-bind ((warning (lambda (warning) (push warning warnings) (muffle-warning warning))))
      (let ((*error-output* (make-broadcast-stream)))
        (funcall (compile nil '(lambda () (if nil (never-defined-anywhere)))))
        (compile nil '(lambda () (never-defined-anywhere)))))
    (let ((warning (find "undefined" warnings :test #'search :key #'princ-to-string)))
      (is (equal "STYLE-WARNING" (warning-type warning)))
      (is (equal '(:function never-defined-anywhere) (undefined-thing warning (princ-to-string warning)))))))
