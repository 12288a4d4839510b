;;; emacs.el --- What the tests ask of an Emacs with SLIME  -*- lexical-binding: t -*-

(require 'json)
(require 'slime)

(setq inferior-lisp-program (concat (or (getenv "SBCL") "sbcl") " --noinform --no-sysinit --no-userinit")
      slime-backend (if (getenv "SWANK") (expand-file-name "swank-loader.lisp" (getenv "SWANK")) slime-backend)
      slime-kill-without-query-p t
      ;; nobody could answer the question whether other versions may be mixed
      slime-protocol-version 'ignore
      slime-repl-history-file (expand-file-name "slime-history" "~/"))

(defun swank-test-answer (value file)
  "Write VALUE as JSON to FILE.  Long answers do not come through emacsclient as they are."
  (let ((coding-system-for-write 'utf-8))
    (write-region (json-encode value) nil file nil 'silent)))

(defun swank-test-start-lisp ()
  "Press M-x slime, and y where it asks whether one more Lisp is wanted.  The process id of the new Lisp."
  (let ((before (process-list)))
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t)))
      (call-interactively 'slime))
    (process-id (seq-find (lambda (process) (string-prefix-p "inferior-lisp" (process-name process)))
                          (seq-difference (process-list) before)))))

(defun swank-test-repl-waits ()
  "Whether the default connection's REPL shows an empty prompt and nothing is on its way."
  (let ((buffer (and (slime-connected-p) (slime-connection-output-buffer))))
    (and buffer
         (with-current-buffer buffer
           (save-excursion
             (goto-char (point-max))
             (and (eq major-mode 'slime-repl-mode)
                  (null (slime-rex-continuations))
                  (= (point) slime-repl-input-start-mark)
                  t))))))

(defun swank-test-repl-text ()
  (with-current-buffer (slime-connection-output-buffer)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun swank-test-type-in-repl (text)
  "Enter TEXT at the prompt and press RET."
  (with-current-buffer (slime-connection-output-buffer)
    (goto-char (point-max))
    (insert text)
    (call-interactively (key-binding (kbd "RET")))))

(defun swank-test-compile (text)
  "Press C-c C-c on TEXT in a buffer of Lisp."
  (with-current-buffer (generate-new-buffer "compiled.lisp")
    (lisp-mode)
    (slime-mode 1)
    (insert text)
    (setq slime-last-compilation-result nil)
    (call-interactively (key-binding (kbd "C-c C-c")))))

(defun swank-test-debuggers ()
  "What the buffer of every debugger shows whose connection is open."
  (vconcat
   (mapcar (lambda (buffer)
             (with-current-buffer buffer
               `((thread . ,slime-current-thread)
                 (level . ,sldb-level)
                 (connection . ,(slime-connection-name slime-buffer-connection))
                 (condition . ,(car sldb-condition))
                 (type . ,(cadr sldb-condition))
                 (restarts . ,(vconcat (mapcar (lambda (restart) `((name . ,(car restart)) (description . ,(cadr restart))))
                                               sldb-restarts)))
                 (text . ,(buffer-substring-no-properties (point-min) (point-max))))))
           (seq-filter (lambda (buffer)
                         ;; one that is being filled, or whose thread runs on, has no level
                         (and (buffer-local-value 'sldb-level buffer)
                              (memq (buffer-local-value 'slime-buffer-connection buffer) slime-net-processes)))
                       (sldb-buffers)))))

(defun swank-test-shown (buffer)
  "The text of BUFFER, and the line that point is in."
  (with-current-buffer buffer
    `((buffer . ,(buffer-name))
      (text . ,(buffer-substring-no-properties (point-min) (point-max)))
      (line . ,(buffer-substring-no-properties (line-beginning-position) (line-end-position))))))

(defun swank-test-definition (name)
  "What is shown when M-. is pressed in the REPL and NAME entered."
  (with-current-buffer (slime-connection-output-buffer)
    (slime-edit-definition name))
  (swank-test-shown (window-buffer)))

(defun swank-test-press-in-debugger (thread keys &optional frame)
  "Press KEYS in the debugger's buffer of THREAD, on the line that has the text FRAME."
  (with-current-buffer (or (seq-find (lambda (buffer) (eql thread (buffer-local-value 'slime-current-thread buffer)))
                                     (sldb-buffers))
                           (error "No debugger of thread %s" thread))
    (when frame
      (goto-char (point-min))
      (search-forward frame))
    (call-interactively (key-binding (kbd keys)))))

(defun swank-test-press-on-thread (name key)
  "Press KEY on the first thread in SLIME's list whose line contains NAME.  Nil, and list again, if there is none yet."
  (with-current-buffer slime-threads-buffer-name
    (goto-char (point-min))
    (cond ((search-forward name nil t)
           (beginning-of-line)
           (call-interactively (key-binding (kbd key)))
           t)
          ((null (slime-rex-continuations))
           (slime-update-threads-buffer)
           nil))))

(defun swank-test-reset ()
  "Remove what a test has left: its connections, frames, buffers, messages, settings and secret.  t"
  (when (bound-and-true-p swank-mcp-mode)
    (swank-mcp-mode 0))
  (while slime-net-processes
    (slime-net-close (car slime-net-processes)))
  (dolist (frame (frame-list))
    (when (frame-parameter frame 'client)
      (delete-frame frame t)))
  (dolist (buffer (buffer-list))
    (unless (or (member (buffer-name buffer) '("*scratch*" "*Messages*"))
                (eq ?\s (aref (buffer-name buffer) 0)))
      (with-current-buffer buffer
        (set-buffer-modified-p nil)
        (setq-local kill-buffer-hook nil
                    kill-buffer-query-functions nil))
      (kill-buffer buffer)))
  (when (fboundp 'swank-mcp-test-reset)
    (swank-mcp-test-reset))
  (with-current-buffer "*Messages*"
    (let ((inhibit-read-only t))
      (erase-buffer)))
  (delete-file "~/.slime-secret")
  t)

;;; emacs.el ends here
