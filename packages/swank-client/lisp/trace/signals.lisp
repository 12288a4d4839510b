;;;; The conditions that are signalled inside recorded calls, and the handlers that took them.

(in-package #:swank-client/trace)

(defstruct (signalled (:constructor make-signalled (class clause handler condition)))
  "COUNT conditions of CLASS. CLAUSE and HANDLER are the type in the clause of the handler that took them, and the function that the clause
is in; both NIL if none did. CONDITION is the first one, if it can be printed later."
  class clause handler condition
  (count 1 :type fixnum))

(defun same-signal-p (item class clause handler)
  "True if ITEM, a child of a call, is for conditions with these facts."
  (and (signalled-p item)
       (eq class (signalled-class item))
       (equal clause (signalled-clause item))
       (equal handler (signalled-handler item))))

(defun note-signal (call condition test handler)
  "Note in CALL that CONDITION was signalled, and that HANDLER with TEST took it, or none if both are NIL. Lisp's own handlers do not count."
  (let ((home (and handler (not (eq handler :runtime)) (handler-home handler))))
    (unless (or (eq handler :runtime) (and home (no-program-p home)))
      (let* ((class (reported-class condition))
             (clause (and handler (handled-type test)))
             (before (first (call-children call))))
        (if (and before (same-signal-p before class clause home))
            (incf (signalled-count before))
            (push (make-signalled class clause home (and (kept-safely-p condition) condition)) (call-children call)))))))

(defun signal-in-call (signal condition call)
  "Call SIGNAL, which calls the handlers of CONDITION, and note in CALL which one took it."
  (signal-watched signal condition
                  (lambda (test handler)
                    (let ((*inside* t)) (note-signal call condition test handler)))))

(defun signal-recorder (recording)
  "A function that encapsulates SBCL's function that finds handlers, and notes conditions in the calls of RECORDING."
  (lambda (signal condition)
    (let ((call (and *calls* (cdr (assoc recording *calls*)))))
      (if (and call
               (recorded-now-p recording)
               ;; there is no stack or memory left to note exhaustion
               (not (typep condition '(or storage-condition sb-ext:step-condition))))
          (signal-in-call signal condition call)
          (funcall signal condition)))))

(defun watch-signals (recording)
  "Note the conditions that are signalled in calls of RECORDING, if this SBCL has a function for that."
  (when *signal-function*
    (encapsulate-function *signal-function* (recording-signal-tag recording) (signal-recorder recording))))

(defun unwatch-signals (recording)
  "Undo WATCH-SIGNALS."
  (when *signal-function*
    (unencapsulate-function *signal-function* (recording-signal-tag recording))))
