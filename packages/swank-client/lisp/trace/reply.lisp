;;;; The reply about a trace: the trees as rows, each call before what it called.

(in-package #:swank-client/trace)

(defconstant +rows-limit+ 1500 "Most rows of a reply.")

(defun signalled-row (item depth)
  "The row of ITEM, conditions that were signalled at DEPTH."
  (let ((condition (signalled-condition item)))
    (list :condition depth
          (class-name-text (signalled-class item))
          (and condition (in-time nil (report-text condition 300)))
          (and (signalled-handler item) (line-text-in-time (signalled-clause item) 200))
          (place-name (signalled-handler item))
          (signalled-count item))))

(defun time-of (call)
  "Nanoseconds that CALL has taken, so far if it has not ended."
  (if (and (eq :open (call-exit call)) (= 1 (call-count call)))
      (- (nanoseconds-now) (call-begun call))
      (call-total call)))

(defun call-row (call depth)
  "The row of CALL at DEPTH."
  (let ((time (time-of call)))
    (list :call depth
          (or (call-text call) (format nil "(~a ...)" (point-text (call-point call))))
          (call-values call)
          (call-exit call)
          (call-count call)
          (call-left call)
          (round time 1000)
          (round (max 0 (- time (call-below call))) 1000))))

(defun tree-rows (root room)
  "=> at most ROOM rows of the tree below ROOT, and the number of nodes left out"
  (let ((rows '()) (left 0)
        (pending (loop for child in (reverse (call-children root)) collect (cons child 0))))
    (loop while pending
          do (destructuring-bind (item . depth) (pop pending)
               (if (plusp room)
                   (progn (push (if (call-p item) (call-row item depth) (signalled-row item depth)) rows)
                          (decf room))
                   (incf left))
               (when (call-p item)
                 (setf pending (nconc (loop for child in (reverse (call-children item)) collect (cons child (1+ depth)))
                                      pending)))))
    (values (nreverse rows) left)))

(defun thread-entry (recording thread root room)
  "The plist of THREAD, whose tree in RECORDING is below ROOT, with at most ROOM rows."
  (multiple-value-bind (rows left) (tree-rows root room)
    (list :thread (line-text (or (sb-thread:thread-name thread) "") 100)
          :id (swank/backend:thread-id thread)
          :own (eq thread (recording-thread recording))
          :rows rows
          :left left)))

(defun trace-facts (recording)
  "The reply about RECORDING, which has ended."
  (let ((room +rows-limit+))
    (with-printing-time
      (list :trace
            :end (run-end recording)
            :calls (car (recording-count recording))
            :limit (recording-limit recording)
            :microseconds (round (or (recording-seconds recording) 0) 1000)
            :looking (round (car (recording-looking recording)) 1000)
            :switching (round (recording-switching recording) 1000)
            :failure (recording-failure recording)
            :values (recording-values recording)
            :threads (loop for (thread . root) in (reverse (car (recording-roots recording)))
                           for entry = (thread-entry recording thread root room)
                           do (decf room (length (getf entry :rows)))
                           collect entry)))))
