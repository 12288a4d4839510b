;;;; Going on from a stop: plainly, or to the next call. Everything here runs in the stopped thread.

(in-package #:@module@)

(defun offered (name)
  "The restart of that name at this stop."
  (find name swank::*sldb-restarts* :key #'restart-name))

(defun stepping-p ()
  (typep swank::*swank-debugger-condition* 'sb-ext:step-condition))

(defun continue-stop (level)
  "=> (:stale) | (:no-restart), or does not return"
  (let ((restart (offered (if (stepping-p) 'sb-ext:step-continue 'continue))))
    (cond ((/= level swank::*sldb-level*) '(:stale))
          (restart (invoke-restart restart))
          (t '(:no-restart)))))

(defun step-restart (mode)
  "STEP-OUT signals an error where nothing was stepped into: going on is what is left of it there."
  (offered (ecase mode
             (:into 'sb-ext:step-into)
             (:over 'sb-ext:step-next)
             (:out (if (member sb-impl::*step-out* '(t :maybe)) 'sb-ext:step-out 'sb-ext:step-continue)))))

(defun begin-stepping (mode)
  "From a stop that is no step, such as a breakpoint: the next call that can be stepped is the next stop."
  (let ((restart (offered 'continue)))
    (cond ((null restart) '(:not-steppable))
          ((eq mode :out) (invoke-restart restart))
          (t (setf swank::*sldb-stepping-p* t)
             (sb-impl::enable-stepping)
             (invoke-restart restart)))))

(defun step-on (level mode)
  "=> (:stale) | (:not-steppable), or does not return"
  (cond ((/= level swank::*sldb-level*) '(:stale))
        ((not (stepping-p)) (begin-stepping mode))
        (t (setf swank::*sldb-stepping-p* t)
           (invoke-restart (step-restart mode)))))
