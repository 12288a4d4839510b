;;;; Tests of what threads wait for.

(in-package #:swank-client/tests)

(defun start-waiting (function)
  "Start a thread that calls FUNCTION with a function that it calls before it waits, and return the thread once it has."
  (let* ((ready (sb-thread:make-semaphore))
         (thread (sb-thread:make-thread function :arguments (list (lambda () (sb-thread:signal-semaphore ready))))))
    (sb-thread:wait-on-semaphore ready)
    thread))

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
