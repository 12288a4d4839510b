;;; Sent after connecting, as a form, in an image that does not have it yet; nothing is defined by it. What it makes is kept under NAME:
;;; :END-REQUEST ends the request with an id of the connection that calls it, :END-REQUESTS ends all requests of a closed connection.
;;; Without them, a request whose client has stopped waiting would run for ever. Evaluations are ended by the runtime.
(cl:lambda (name)
  (cl:declare (cl:optimize (cl:safety 1) (sb-c:insert-step-conditions 0)))
  (cl:labels
      ;; Which threads
      ((value-in (symbol thread)
         (cl:ignore-errors (sb-thread:symbol-value-in-thread symbol thread cl:nil)))
       ;; ids, the innermost first
       (requests-in (connection thread)
         (cl:and (cl:eq connection (value-in 'swank::*emacs-connection* thread))
                 (value-in 'swank::*pending-continuations* thread)))
       (stopped-p (thread)
         (cl:plusp (cl:or (value-in 'swank::*sldb-level* thread) 0)))
       (evaluation-p (thread)
         (cl:loop :for package :in (cl:list-all-packages)
                  :for symbol := (cl:and (cl:eql 0 (cl:search "SWANK-CLIENT/EVALUATE/" (cl:package-name package)))
                                         (cl:find-symbol "*EVALUATION*" package))
                  :thereis (cl:and symbol (value-in symbol thread))))
       ;; a thread for a request that has not begun with it, or is about to end
       (between-requests-p (thread)
         (cl:and (cl:equal "worker" (sb-thread:thread-name thread))
                 (cl:null (value-in 'swank::*pending-continuations* thread))))
       (find-request (connection id)
         (cl:find-if (cl:lambda (thread) (cl:member id (requests-in connection thread))) (sb-thread:list-all-threads)))
       (await-request (connection id)
         (cl:loop :repeat 500
                  :for thread := (find-request connection id)
                  :until (cl:or thread (cl:notany (cl:function between-requests-p) (sb-thread:list-all-threads)))
                  :do (cl:sleep 1/50)
                  :finally (cl:return thread)))

       ;; Locks that a thread must not be made to leave with
       (own-lock-p (lock)
         (cl:eq sb-thread:*current-thread* (sb-thread:mutex-owner lock)))
       (holds-p (name package)
         (cl:let ((lock (cl:find-symbol name package)))
           (cl:and lock (cl:boundp lock) (own-lock-p (cl:symbol-value lock)))))
       ;; the image's readers and compilers wait for these; a request may also loop while it holds one
       (holds-shared-lock-p ()
         (cl:or (holds-p "*PACKAGE-GRAPH-LOCK*" "SB-IMPL")
                (holds-p "**WORLD-LOCK**" "SB-KERNEL")))
       ;; up to 2.30, the next message that such a thread sends ends the image
       (holds-mailbox-p ()
         (cl:or (holds-p "*MAILBOX-LOCK*" "SWANK/SBCL")
                (cl:some (cl:lambda (mailbox) (own-lock-p (swank/sbcl::mailbox.mutex mailbox))) swank/sbcl::*mailboxes*)))

       ;; Ways to end a request, in its thread
       (unwind ()
         (swank:throw-to-toplevel))
       (unwind-closed ()
         ;; nobody acknowledges what is sent from here
         (cl:setf swank::*send-counter* 0)
         (swank:throw-to-toplevel))
       (end-thread ()
         (sb-thread:abort-thread :allow-exit cl:t))
       ;; back to the stop: through the last restart that is newer than those of the stop
       (return-to-stop ()
         (cl:loop :for (restart next) :on (cl:compute-restarts)
                  :when (cl:and next (cl:eq next (cl:first swank::*sldb-restarts*)))
                    :do (cl:invoke-restart restart)))

       ;; C code, as far as addresses tell: it may hold malloc's lock, which is never released once the thread has left. Newer SBCLs call
       ;; such code in the compiler. A thread that waits for the system is there, too.
       (in-foreign-code-p ()
         (cl:let ((count sb-kernel::*free-interrupt-context-index*))
           (cl:and (cl:plusp count)
                   (cl:let ((pc (sb-vm:context-pc (sb-di::nth-interrupt-context (cl:1- count)))))
                     (cl:>= (cl:if (cl:integerp pc) pc (sb-sys:sap-int pc)) #x7f0000000000)))))
       ;; TRIES counts the interrupts that found the thread in a bad moment: who compiles has four seconds
       (good-moment-p (tries)
         (cl:not (cl:or (holds-mailbox-p)
                        (cl:and (cl:< tries 20) (in-foreign-code-p))
                        (cl:and (cl:< tries 200) (holds-shared-lock-p)))))

       ;; WAY is taken once, at the first good moment. An interrupt is sent when the one before has arrived: SBCL does not survive many.
       (take (way thread running-p)
         (cl:let ((arrived cl:t) (taken cl:nil) (tries 0))
           (cl:flet ((arrive ()
                       (cl:setf arrived cl:t)
                       (cl:when (cl:and (cl:not taken) (cl:funcall running-p sb-thread:*current-thread*))
                         (cl:cond ((good-moment-p tries)
                                   (cl:setf taken cl:t)
                                   (sb-sys:with-interrupts (cl:funcall way)))
                                  (cl:t (cl:incf tries))))))
             (cl:loop :repeat 250
                      :while (cl:and (cl:not taken) (cl:funcall running-p thread))
                      :do (cl:when arrived
                            (cl:setf arrived cl:nil)
                            ;; it may have ended
                            (cl:ignore-errors (sb-thread:interrupt-thread thread (cl:function arrive))))
                          (cl:sleep 1/50)))))
       ;; cleanup forms have a second for each way
       (end (thread running-p ways)
         (cl:dolist (way ways)
           (take way thread running-p)
           (cl:loop :repeat 50
                    :while (cl:funcall running-p thread)
                    :do (cl:sleep 1/50))))

       (end-request (id)
         (cl:let* ((connection swank::*emacs-connection*)
                   (thread (await-request connection id)))
           (cl:flet ((running-p (thread) (cl:and (sb-thread:thread-alive-p thread) (cl:member id (requests-in connection thread)))))
             (cl:when thread
               (end thread (cl:function running-p)
                    (cl:if (stopped-p thread)
                           (cl:list (cl:function return-to-stop) (cl:function return-to-stop))
                           (cl:list (cl:function unwind) (cl:function unwind) (cl:function end-thread))))))
           cl:t))

       (end-requests (connection)
         (cl:flet ((running-p (thread)
                     (cl:and (sb-thread:thread-alive-p thread)
                             (requests-in connection thread)
                             (cl:not (stopped-p thread))
                             (cl:not (evaluation-p thread)))))
           (cl:loop :with asked := '()
                    ;; a request that was sent last may begin only now
                    :repeat 5
                    :do (cl:dolist (thread (cl:set-difference (cl:remove-if-not (cl:function running-p) (sb-thread:list-all-threads)) asked))
                          (cl:push thread asked)
                          (sb-thread:make-thread (cl:function end)
                                                 :arguments (cl:list thread (cl:function running-p)
                                                                     (cl:list (cl:function unwind-closed) (cl:function unwind-closed)
                                                                              (cl:function end-thread)))
                                                 :name "swank-client clean-up"))
                        (cl:sleep 1/5)))))
    (cl:setf (cl:get name :end-request) (cl:function end-request)
             (cl:get name :end-requests) (cl:function end-requests))
    ;; a function could not be read from the wire
    cl:t))
