;;;; The stacks of running threads. A thread is interrupted briefly, and names the functions of its innermost frames. A thread that may hold
;;;; a lock of the C library is left alone: reading a stack calls the C library, too.

(in-package #:swank-client/program)

(defconstant +look-seconds+ 1/2 "Seconds within which a thread must begin to answer.")

(defvar *looking*
  (or (get :swank-client :looking)
      (setf (get :swank-client :looking) (sb-thread:make-mutex :name "swank-client stacks")))
  "Held while any version of the library reads stacks, because SBCL can hang if two threads are interrupted to read theirs.")

(defstruct look
  "A request to a thread for its innermost frames."
  (count 0 :type fixnum)
  ;; the address of the system call that the thread waits in, if it waits in one
  address
  ;; :WANTED until the thread begins, then :RUNNING; :DROPPED if it must not begin
  (state :wanted)
  ;; names of functions, or a keyword that says why there are none
  names
  (done (sb-thread:make-semaphore)))

(defun claim-look (look state)
  "Change the state of LOOK from :WANTED to STATE. => true if it was :WANTED"
  (eq :wanted (sb-ext:compare-and-swap (look-state look) :wanted state)))

;;; In the interrupted thread

(defun delivery-name-p (name)
  "True if NAME is that of a frame between an interrupt and the frame that it met."
  (or (stringp name)
      (string= "%INSTALL-HANDLER" (name-symbol name))))

(defun interrupted-frame ()
  "The frame that the interrupt of this thread met, or NIL."
  (loop with met = nil
        for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
        while frame
        do (cond ((eq (frame-name frame) 'sb-sys:invoke-interruption) (setf met t))
                 ((and met (not (delivery-name-p (frame-name frame)))) (return frame)))))

(defun local-name-p (name)
  "True if NAME is that of a local function of Lisp, such as the body of WITHOUT-INTERRUPTS."
  (and (consp name) (member (first name) '(flet labels lambda)) (system-name-p name)))

(defun innermost-names (count)
  "The names of the functions in the COUNT innermost frames that the interrupt of this thread met, without local functions of Lisp."
  (loop with left = count
        for frame = (interrupted-frame) then (sb-di:frame-down frame)
        while (and frame (plusp left))
        unless (local-name-p (frame-name frame))
          collect (frame-name frame)
          and do (decf left)))

(defun in-known-call-p (address)
  "True if the interrupt met the system call at ADDRESS."
  ;; the kernel repeats some calls after an interrupt
  (let ((interrupted (interrupted-address)))
    (and address interrupted (<= (abs (- address interrupted)) 16))))

(defun names-for (look)
  "What this interrupted thread answers to LOOK."
  (if (and (in-foreign-code-p) (not (in-known-call-p (look-address look))))
      :foreign
      (handler-case (sb-sys:without-interrupts (innermost-names (look-count look)))
        (serious-condition () :failed))))

(defun answer-look (look)
  "Answer LOOK in this interrupted thread, unless it is too late."
  (when (claim-look look :running)
    (setf (look-names look) (names-for look))
    (sb-thread:signal-semaphore (look-done look))))

;;; Asking

(defun untouchable (thread kind object call)
  "Why THREAD, which waits for OBJECT of KIND in the system call CALL, must not be interrupted: a keyword, or NIL."
  (cond ((plusp (debugger-level thread)) :stopped)
        ((not (interruptible-p thread)) :without-interrupts)
        ((and (world-lock) (eq thread (sb-thread:mutex-owner (world-lock)))) :compiling)
        ((and (eq kind :mutex) (eq object (world-lock))) :world-lock)
        ((member kind '(:c-lock :memory :lock :other)) :foreign)
        ;; an interrupt ends it early
        ((and (eq kind :queue) call (system-call-deadline-p call)) :timed-wait)))

(defun interrupt-way (thread kind)
  "The function that interrupts THREAD. One that runs an evaluation may be about to end. INTERRUPT-UNLESS-OVER explains KIND."
  (let ((evaluation (value-in-thread '*evaluation* thread)))
    (if evaluation
        (lambda (thread call)
          (declare (ignore thread))
          (interrupt-unless-over evaluation kind call))
        #'sb-thread:interrupt-thread)))

(defun await-look (look)
  "The answer to LOOK, or a keyword that says why there is none."
  (cond ((sb-thread:wait-on-semaphore (look-done look) :timeout +look-seconds+) (look-names look))
        ((claim-look look :dropped) :silent)
        ((sb-thread:wait-on-semaphore (look-done look) :timeout 2) (look-names look))
        (t :silent)))

(defun look-at (thread count)
  "The names of the functions in the COUNT innermost frames of THREAD, or a keyword that says why there are none."
  (multiple-value-bind (kind object) (wait-of thread)
    (let ((call (system-call thread)))
      (or (untouchable thread kind object call)
          (let ((look (make-look :count count :address (and call (system-call-address call)))))
            (call-in-thread thread
                            (lambda () (eq :wanted (look-state look)))
                            (lambda () (answer-look look))
                            :interrupt (interrupt-way thread :look)
                            :patience 50)
            (await-look look))))))

(defun innermost-frames (thread count)
  "LOOK-AT, repeated if THREAD has just entered C code."
  (sb-thread:with-mutex (*looking*)
    (loop repeat 3
          for names = (look-at thread count)
          while (eq names :foreign)
          finally (return names))))

(defun own-names (names)
  "NAMES without those of the functions of Lisp and Swank with which a thread begins."
  (loop for name in names
        for kind in (frame-kinds names nil)
        unless (eq kind :toplevel) collect name))

(defun name-texts (names)
  "NAMES, those of functions in frames, innermost first, as text."
  (mapcar (lambda (name) (line-text name 200)) (or (own-names names) names)))
