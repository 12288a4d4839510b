;;; sly.el --- What the tests ask of an Emacs with SLY  -*- lexical-binding: t -*-

;; Loaded after emacs.el with the names of SLY.  This replaces what is otherwise in SLY.

(setq inferior-lisp-program (concat (or (getenv "SBCL") "sbcl") " --noinform --no-sysinit --no-userinit")
      sly-ignore-protocol-mismatches t
      sly-mrepl-history-file-name (expand-file-name "sly-history" "~/"))

(defun sly-connection-output-buffer ()
  "The buffer of the REPL of the default connection, or nil."
  (ignore-errors (sly-mrepl--find-buffer)))

(defun swank-test-repl-waits ()
  "Whether the default connection's REPL shows an empty prompt and nothing is on its way."
  (let ((buffer (and (sly-connected-p) (sly-connection-output-buffer))))
    (and buffer
         (with-current-buffer buffer
           (save-excursion
             (goto-char (point-max))
             (and (eq major-mode 'sly-mrepl-mode)
                  sly-mrepl--remote-channel
                  (sly-mrepl--process)
                  (null (sly-rex-continuations))
                  (= (point) (sly-mrepl--mark))
                  (looking-back "> " (- (point) 2))
                  t))))))

(defun swank-test-press-on-thread (name key)
  "Press KEY on the first thread in SLY's list whose line contains NAME.  Nil, and list again, if there is none yet."
  (with-current-buffer (sly-buffer-name :threads :connection t)
    (goto-char (point-min))
    (cond ((search-forward name nil t)
           (beginning-of-line)
           (call-interactively (key-binding (kbd key)))
           t)
          ((null (sly-rex-continuations))
           (sly-update-threads-buffer)
           nil))))

;;; sly.el ends here
