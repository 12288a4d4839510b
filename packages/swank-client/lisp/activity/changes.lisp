;;;; The definitions that live in the image and not in their files, for the user's Emacs.

(in-package #:swank-client/activity)

(defun request-module (module)
  "Let the client of an agent load MODULE, a keyword. => true if there is one"
  (let ((agent (first (open-agents))))
    (when agent
      (send (mconn.control-thread (first agent)) (list :write-string "" (list :load-module module)))
      t)))

(defun prepare-changes ()
  "Load what CHANGES needs before it is needed, if an agent's client can. => true if it can"
  (and (or *live-changes* (request-module :code)) t))

(defun changes (file)
  "The definitions that differ from FILE, or from all files if it is NIL.
=> (:changes (ENTRY ...) LEFT-OUT), (:loading) if the answer is available soon, (:unavailable) without an agent, or the reason"
  (cond (*live-changes*
         ;; Emacs must not become a client of this library
         (unwind-protect (let ((*emacs-connection* nil)) (funcall *live-changes* file))
           (remhash nil *sessions*)))
        ((request-module :code) '(:loading))
        (t '(:unavailable))))
