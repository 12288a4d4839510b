;;;; The definitions that live in the image and not in their files, for the user's Emacs.

(in-package #:swank-client/activity)

(defun function-of-module (module name)
  "The function NAME of this version of MODULE, or NIL if that is not loaded."
  (let* ((own (package-name (symbol-package 'function-of-module)))
         (home (find-package (concatenate 'string "SWANK-CLIENT/" module (subseq own (length "SWANK-CLIENT/ACTIVITY")))))
         (symbol (and home (find-symbol name home))))
    (and symbol (fboundp symbol) (fdefinition symbol))))

(defun request-module (module)
  "Let the client of an agent load MODULE. => true if there is one"
  (let ((agent (first (open-agents))))
    (when agent
      (send (mconn.control-thread (first agent)) (list :write-string "" (list :load-module (intern module "KEYWORD"))))
      t)))

(defun changes (file)
  "The definitions that differ from FILE, or from all files if it is NIL.
=> (:changes (ENTRY ...) LEFT-OUT), (:loading) if the answer is available soon, (:unavailable) without an agent, or the reason"
  (let ((list-them (function-of-module "CODE" "LIVE-CHANGES")))
    (cond (list-them
           ;; Emacs must not become a client of this library
           (unwind-protect (let ((*emacs-connection* nil)) (funcall list-them file))
             (remhash nil *sessions*)))
          ((request-module "CODE") '(:loading))
          (t '(:unavailable)))))
