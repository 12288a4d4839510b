;;; Sent after connecting, as a form; nothing is defined by it. The function is kept, under NAME, for the next connection.
;;; The compiler is told what the image's own policy may not decide, here and in the other forms that are sent: that a thread which is
;;; being stepped does not step into them, and that they notice their errors.
;;; When an Emacs connects, background threads that stopped here while there was none are handed to it.
;;; When the connection is over, however that came about, its stopped threads are let go, and what is done here is undone.
(cl:lambda (name)
  (cl:declare (cl:optimize (cl:safety 1) (sb-c:insert-step-conditions 0)))
  (cl:labels
      ;; The socket
      ;; a program that the image runs would hold the connection open when the image is gone
      ((keep-from-children (descriptor)
         (sb-posix:fcntl descriptor sb-posix:f-setfd 1))
       (set-options (descriptor)
         (cl:let ((socket (cl:make-instance 'sb-bsd-sockets:inet-socket
                                            :type :stream :protocol :tcp :descriptor descriptor)))
           ;; or a collected socket object would close the connection
           (sb-ext:cancel-finalization socket)
           ;; without it a reply made of two messages waits 40 ms for our acknowledgement
           (cl:setf (sb-bsd-sockets:sockopt-tcp-nodelay socket) cl:t)
           ;; that our machine is gone, with no word of it, is found out within a minute
           (cl:setf (sb-bsd-sockets:sockopt-keep-alive socket) cl:t
                    (sb-bsd-sockets:sockopt-tcp-keepidle socket) 20
                    (sb-bsd-sockets:sockopt-tcp-keepintvl socket) 5
                    (sb-bsd-sockets:sockopt-tcp-keepcnt socket) 4)
           (cl:when (cl:member :linux cl:*features*)
             (set-user-timeout descriptor 40000))))
       ;; what is sent and never acknowledged would be sent again for a quarter of an hour
       (set-user-timeout (descriptor milliseconds)
         (sb-alien:with-alien ((value sb-alien:int milliseconds))
           (sb-alien:alien-funcall
            (sb-alien:extern-alien "setsockopt" (cl:function sb-alien:int sb-alien:int sb-alien:int sb-alien:int
                                                             (cl:* sb-alien:int) sb-alien:int))
            descriptor 6 18 (sb-alien:addr value) 4)))

       ;; Threads that stand in the debugger for the connection
       (value-in (symbol thread)
         (cl:ignore-errors (sb-thread:symbol-value-in-thread symbol thread cl:nil)))
       ;; 0 for a thread that does not stand there
       (level-for (connection thread)
         (cl:or (cl:and (cl:eq connection (value-in 'swank::*emacs-connection* thread))
                        (value-in 'swank::*sldb-level* thread))
                0))
       (release (connection thread level)
         (cl:ignore-errors
          (swank::queue-thread-interrupt thread
                                         (cl:lambda ()
                                           (cl:when (cl:= level (level-for connection sb-thread:*current-thread*))
                                             (leave swank::*swank-debugger-condition*))))))
       (release-those-not-yet-asked (connection asked)
         (cl:loop :for thread :in (sb-thread:list-all-threads)
                  :for level := (level-for connection thread)
                  :when (cl:and (cl:plusp level) (cl:not (cl:eql level (cl:cdr (cl:assoc thread asked)))))
                    :do (release connection thread level)
                        (cl:push (cl:cons thread level) asked))
         asked)
       ;; each once at each level: SBCL dies of interrupts that wait in numbers; and more than one look, as a thread may be about to
       ;; stop, or stands at another level below
       (release-all (connection)
         (cl:loop :with asked := '()
                  :repeat 40
                  :for before := asked
                  :do (cl:setf asked (release-those-not-yet-asked connection asked))
                      (cl:sleep 1/20)
                  :count (cl:eq asked before) :into quiet
                  :until (cl:= quiet 3)
                  :finally (release-those-who-wait connection)
                           (cl:funcall (cl:get name :end-requests) connection)))

       ;; Threads that run a request, and wait for a word from the connection: that it takes what is sent, or what it answers
       (release-those-who-wait (connection)
         (cl:loop :for thread :in (sb-thread:list-all-threads)
                  :when (cl:and (cl:eq connection (value-in 'swank::*emacs-connection* thread))
                                (value-in 'swank::*sldb-quit-restart* thread)
                                (waiting-p thread))
                    :do (cl:ignore-errors
                         (swank::queue-thread-interrupt thread (cl:function swank:throw-to-toplevel)))))
       ;; as Swank waits, which takes interrupts in between
       (waiting-p (thread)
         (cl:multiple-value-bind (enabled bound)
             (sb-thread:symbol-value-in-thread 'swank::*slime-interrupts-enabled* thread cl:nil)
           (cl:and bound (cl:not enabled))))

       ;; In the stopped thread
       (leave (condition)
         ;; nobody acknowledges what is sent from here
         (cl:setf swank::*send-counter* 0)
         (cl:cond ((of-runtime-p condition))
                  (swank::*sldb-quit-restart* (swank:throw-to-toplevel))
                  ((cl:> swank::*sldb-level* 1) (swank:sldb-abort))
                  (cl:t (hand-over condition))))
       ;; the runtime has stopped such a thread, and lets it go on
       (of-runtime-p (condition)
         (cl:or (cl:typep condition 'sb-ext:step-condition)
                (cl:string= "BREAKPOINT-REACHED" (cl:class-name (cl:class-of condition)))))
       ;; a thread that is somebody else's stops where it would have stopped without us
       (hand-over (condition)
         (cl:let ((next (swank::default-connection))
                  (swank::*sldb-level* 0)
                  (sb-debug:*stack-top-hint* swank/sbcl::*sldb-stack-top*)
                  (sb-kernel:*restart-clusters*
                    (cl:member-if (cl:lambda (cluster) (cl:intersection cluster swank::*sldb-restarts*))
                                  sb-kernel:*restart-clusters*)))
           (cl:if next
                  (swank::with-connection (next) (swank::debug-in-emacs condition))
                  (cl:let ((swank::*emacs-connection* cl:nil))
                    (swank::invoke-default-debugger condition)))))

       ;; An Emacs connects. A background thread leaves its stop here by the way that Swank has to another debugger, and stops again where
       ;; it would have stopped without us.
       (repl-p (connection)
         (cl:typep (swank::connection.user-output connection) '(cl:and cl:stream (cl:not cl:synonym-stream))))
       (open-p (connection)
         (cl:open-stream-p (swank::connection.socket-io connection)))
       ;; stopped for us, or for a client that has gone, and neither a request nor a thread of ours
       (stranded-p (thread connection)
         (cl:let ((owner (value-in 'swank::*emacs-connection* thread)))
           (cl:and owner
                   (cl:eql 1 (value-in 'swank::*sldb-level* thread))
                   (cl:null (value-in 'swank::*sldb-quit-restart* thread))
                   (cl:not (of-runtime-p (value-in 'swank::*swank-debugger-condition* thread)))
                   (cl:or (cl:eq owner connection) (cl:not (open-p owner))))))
       (hand-back (thread connection leaving)
         (cl:ignore-errors
          (swank::queue-thread-interrupt
           thread
           (cl:lambda ()
             ;; a connection that has closed meanwhile lets its threads go itself, and nothing would take this one up
             (cl:when (cl:and (open-p connection) (stranded-p thread connection))
               (cl:setf swank::*send-counter* 0)
               (sb-ext:atomic-push thread (cl:car leaving))
               (cl:signal 'swank::invoke-default-debugger)
               ;; nothing took the signal: it stays
               (no-longer leaving thread))))))
       (no-longer (leaving thread)
         (sb-ext:atomic-update (cl:car leaving) (cl:lambda (threads) (cl:remove thread threads))))
       (hand-back-to (new connection leaving)
         ;; its REPL's streams come a moment later, and so do those of other clients of this kind
         (cl:loop :repeat 600
                  :while (cl:and (open-p new) (open-p connection))
                  :until (cl:streamp (swank::connection.user-output new))
                  :do (cl:sleep 1/20))
         (cl:when (cl:and (open-p new) (open-p connection) (repl-p new) (cl:not (cl:eq connection (swank::default-connection))))
           (cl:loop :for thread :in (sb-thread:list-all-threads)
                    :when (stranded-p thread connection)
                      :do (hand-back thread connection leaving))))

       ;; Swank closes the stream of a lost connection before it forgets the connection and runs its hooks. With output in it that
       ;; nobody will take, that is an error, which parks Swank's own thread: no client can connect properly from then on.
       (close-in-any-case (close connection arguments)
         (cl:let ((swank::*log-output* (cl:make-broadcast-stream)))
           (cl:handler-case (cl:apply close connection arguments)
             (cl:error ()
               (cl:ignore-errors (cl:close (swank::connection.socket-io connection) :abort cl:t))
               (cl:apply close connection arguments)))))

       ;; Messages that do not fit: Swank writes their length in six hexadecimal digits, and closes the connection on a longer one, and
       ;; on one that cannot be printed
       (bytes-of (string exactly)
         (cl:if exactly
                (cl:loop :for char :across string
                         :for code := (cl:char-code char)
                         :sum (cl:cond ((cl:member code '(34 92)) 2)
                                       ((cl:< code 128) 1)
                                       ((cl:< code 2048) 2)
                                       ((cl:< code 65536) 3)
                                       (cl:t 4)))
                (cl:* 4 (cl:length string))))
       (printed (object)
         (swank::call/truncated-output-to-string
          1000000
          (cl:lambda (stream)
            (cl:with-standard-io-syntax
              (cl:let ((cl:*print-readably* cl:nil)
                       (cl:*package* swank::*swank-io-package*))
                (cl:prin1 object stream))))
          ""))
       ;; => the bytes that are left of ROOM when DATUM is printed, a negative number when there are too few
       (room-after (datum room exactly depth)
         (cl:cond ((cl:or (cl:minusp room) (cl:> depth 500)) -1)
                  (cl:t
                   (cl:typecase datum
                     (cl:string (cl:- room 2 (bytes-of datum exactly)))
                     (cl:symbol (cl:- room 8
                                      (bytes-of (cl:symbol-name datum) exactly)
                                      (cl:if (cl:symbol-package datum)
                                             (bytes-of (cl:package-name (cl:symbol-package datum)) exactly)
                                             0)))
                     (cl:integer (cl:- room 2 (cl:ceiling (cl:integer-length datum) 3)))
                     ((cl:or cl:float cl:character) (cl:- room 40))
                     (cl:cons (room-after-list datum room exactly (cl:1+ depth)))
                     (cl:vector (room-after-vector datum room exactly (cl:1+ depth)))
                     (cl:t (room-after-text (printed datum) room))))))
       ;; an object that fills its limit may print without end
       (room-after-text (text room)
         (cl:if (cl:< (cl:length text) 1000000)
                (cl:- room (bytes-of text cl:t))
                -1))
       (room-after-vector (vector room exactly depth)
         (cl:loop :for element :across vector
                  :until (cl:minusp room)
                  :do (cl:setf room (room-after element (cl:- room 3) exactly depth)))
         room)
       ;; a circular list takes all the room there is
       (room-after-list (list room exactly depth)
         (cl:loop :for rest := list :then (cl:cdr rest)
                  :while (cl:and (cl:consp rest) (cl:not (cl:minusp room)))
                  :do (cl:setf room (room-after (cl:car rest) (cl:- room 3) exactly depth))
                  :finally (cl:return (cl:if (cl:or (cl:null rest) (cl:consp rest))
                                             room
                                             (room-after rest (cl:- room 3) exactly depth)))))
       ;; => T; or why not, :TOO-LARGE or :UNPRINTABLE
       (fits-p (datum)
         (cl:handler-case
             (cl:if (cl:some (cl:lambda (exactly) (cl:<= 0 (room-after datum 16777000 exactly 0))) '(cl:nil cl:t))
                    cl:t
                    :too-large)
           (cl:serious-condition () :unprintable)))
       (shortened (datum)
         (cl:typecase datum
           (cl:string (cl:let ((length (cl:length datum)))
                        (cl:if (cl:< length 20000)
                               datum
                               (cl:format cl:nil "~a [... ~d characters left out ...] ~a"
                                          (cl:subseq datum 0 10000)
                                          (cl:- length 20000)
                                          (cl:subseq datum (cl:- length 10000))))))
           (cl:cons (cl:cons (shortened (cl:car datum)) (shortened (cl:cdr datum))))
           (cl:t datum)))
       ;; DATUM, which is no value of the user's, shortened if need be
       (fitting (datum)
         (cl:if (cl:eq cl:t (fits-p datum))
                datum
                (cl:let ((shorter (shortened datum)))
                  (cl:if (cl:eq cl:t (fits-p shorter))
                         shorter
                         (cl:list :background-message "A message was left out: it is too large.")))))
       (fitting-return (event)
         (cl:destructuring-bind (name thread (status cl:&rest result) id) event
           (cl:if (cl:eq status :ok)
                  (cl:let ((verdict (fits-p result)))
                    (cl:if (cl:eq verdict cl:t)
                           event
                           (cl:list name thread (cl:list :refused verdict) id)))
                  (cl:list name thread (cl:cons status (shortened result)) id))))
       (fitting-event (event)
         (cl:case (cl:first event)
           ((:emacs-rex :emacs-return :emacs-return-string :emacs-channel-send :emacs-interrupt :emacs-pong)
            event)
           ;; the condition in it is printed by Swank
           (:reader-error (cl:list* (cl:first event) (shortened (cl:second event)) (cl:cddr event)))
           (:return (fitting-return event))
           (cl:t (fitting event))))

       (guard (connection tag cl:&aux (leaving (cl:list cl:nil)))
         (cl:labels ((connected (new)
                       (cl:unless (cl:eq new connection)
                         (sb-thread:make-thread (cl:function hand-back-to) :arguments (cl:list new connection leaving)
                                                                           :name "swank-client hand-over")))
                     (closed (closing)
                       (cl:when (cl:eq closing connection)
                         (sb-int:unencapsulate 'swank::close-connection% tag)
                         (sb-int:unencapsulate 'swank::dispatch-event tag)
                         (sb-int:unencapsulate 'swank::invoke-default-debugger tag)
                         (sb-ext:atomic-update (cl:symbol-value 'swank::*new-connection-hook*)
                                               (cl:lambda (hooks) (cl:remove (cl:function connected) hooks)))
                         (sb-ext:atomic-update (cl:symbol-value 'swank::*connection-closed-hook*)
                                               (cl:lambda (hooks) (cl:remove (cl:function closed) hooks)))
                         (sb-thread:make-thread (cl:function release-all)
                                                :arguments (cl:list connection) :name "swank-client clean-up"))))
           (cl:ignore-errors (keep-from-children (sb-sys:fd-stream-fd (swank::connection.socket-io connection))))
           (sb-ext:atomic-push (cl:function connected) (cl:symbol-value 'swank::*new-connection-hook*))
           (sb-int:encapsulate 'swank::invoke-default-debugger tag
                               (cl:lambda (enter condition)
                                 (cl:cond ((cl:member sb-thread:*current-thread* (cl:car leaving))
                                           (no-longer leaving sb-thread:*current-thread*)
                                           (swank:swank-debugger-hook condition cl:nil))
                                          (cl:t (cl:funcall enter condition)))))
           (cl:ignore-errors (set-options (sb-sys:fd-stream-fd (swank::connection.socket-io connection))))
           (sb-ext:atomic-push (cl:function closed) (cl:symbol-value 'swank::*connection-closed-hook*))
           (sb-int:encapsulate 'swank::close-connection% tag
                               (cl:lambda (close closing cl:&rest arguments)
                                 (cl:if (cl:eq closing connection)
                                        (close-in-any-case close closing arguments)
                                        (cl:apply close closing arguments))))
           (sb-int:encapsulate 'swank::dispatch-event tag
                               (cl:lambda (dispatch receiver event)
                                 (cl:funcall dispatch receiver
                                             (cl:if (cl:eq receiver connection) (fitting-event event) event))))
           cl:t))
       (guard-this () (guard swank::*emacs-connection* (cl:gensym "SWANK-CLIENT"))))
    (cl:setf (cl:get name :function) (cl:function guard-this))
    (guard-this)))
