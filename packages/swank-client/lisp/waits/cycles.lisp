;;;; Cycles of threads that wait for each other.

(in-package #:swank-client/waits)

(defun link-of (thread)
  "(THREAD KIND OBJECT BLOCKER) if THREAD waits for BLOCKER, else NIL."
  (multiple-value-bind (kind object) (wait-of thread)
    (let ((blocker (blocker kind object)))
      (and blocker (list thread kind object blocker)))))

(defun same-link-p (link)
  "True if the thread of LINK still waits as LINK says."
  (equal link (link-of (first link))))

(defun cycle-from (thread)
  "The links of the cycle that waiting for what THREAD waits for leads to, or NIL."
  (loop with links = '()
        for link = (link-of thread) then (link-of (fourth link))
        while link
        do (let ((known (member (first link) links :key #'first)))
             (push link links)
             (when known
               (let ((cycle (rest (member (first link) (reverse links) :key #'first))))
                 ;; waits that end while they are followed make no cycle
                 (return (and (every #'same-link-p cycle) (rotated cycle))))))))

(defun rotated (cycle)
  "CYCLE, beginning with the link of the thread with the least number, so that equal cycles are equal lists."
  (let* ((numbers (mapcar (lambda (link) (thread-number (first link))) cycle))
         (start (position (reduce #'min numbers) numbers)))
    (append (nthcdr start cycle) (subseq cycle 0 start))))

(defun wait-cycles (threads)
  "The cycles that THREADS wait in or for, each once."
  (remove-duplicates (remove nil (mapcar #'cycle-from threads)) :test #'equal))

(defun link-text (link)
  "LINK as text: 7 waits for MUTEX \"b\" held by 9."
  (destructuring-bind (thread kind object blocker) link
    (format nil "~d waits for ~a ~d" (thread-number thread)
            (if (eq kind :mutex) (format nil "~a held by" (named-text "MUTEX" (sb-thread:mutex-name object))) "the end of")
            (thread-number blocker))))

(defun deadlock-text (cycle)
  "CYCLE as text."
  (format nil "DEADLOCK: ~{~a~^, ~}" (mapcar #'link-text cycle)))
