;;; swank-mcp-door.el --- Let agents into a Lisp, and throw them out  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; `swank-mcp-listen' opens a port for agents, `swank-mcp-kick' throws
;; them out and closes it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'swank-mcp)

(defcustom swank-mcp-port 4005
  "The port on which `swank-mcp-listen' lets agents in."
  :type '(restricted-sexp :match-alternatives (natnump))
  :group 'swank-mcp)

(defcustom swank-mcp-program nil
  "The program `swank-mcp', or nil for the one that this file came with."
  :type '(choice (const :tag "The one that this file came with" nil) file)
  :group 'swank-mcp)

(defcustom swank-mcp-clients
  '(("Claude Code" . "claude mcp add lisp -- %s")
    ("Codex" . "codex mcp add lisp -- %s")
    ("Gemini CLI" . "gemini mcp add lisp %s")
    ("other" . "%s"))
  "Commands that add an MCP server to clients of agents.
In each, %s stands for the command that starts the server."
  :type '(alist :key-type string :value-type string)
  :group 'swank-mcp)

(defcustom swank-mcp-secret-file nil
  "The file whose first line clients must send to a Lisp.
Nil means ~/.slime-secret, the only name that SLIME and Swank know, or
~/.sly-secret for SLY and Slynk."
  :type '(choice (const :tag "That of SLIME or SLY" nil) file)
  :group 'swank-mcp)

;;;; The secret

(defun swank-mcp--secret-file ()
  "Return the name of the file of the secret."
  (expand-file-name (or swank-mcp-secret-file (concat "~/" (swank-mcp--secret-name)))))

(defun swank-mcp--new-secret ()
  "Return a secret that nobody can guess."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (unless (eq 0 (call-process "head" nil t nil "-c" "32" "/dev/urandom"))
      (user-error "No random bytes can be read.  Write a secret to %s yourself" (swank-mcp--secret-file)))
    (secure-hash 'sha256 (current-buffer))))

(defun swank-mcp--ensure-secret ()
  "Make a secret if there is none.
Signal an error if other users can read the one that exists."
  (let ((file (swank-mcp--secret-file)))
    (cond ((not (file-exists-p file))
           (with-file-modes #o600
             (let ((coding-system-for-write 'us-ascii))
               (write-region (concat (swank-mcp--new-secret) "\n") nil file nil 'silent nil 'excl))))
          ((/= 0 (logand #o077 (file-modes file)))
           (user-error "Other users can read %s.  Correct this first: chmod 600 %s" file file)))))

;;;; Opening

(defun swank-mcp--program ()
  "Return the command for the server swank-mcp, without options."
  (let ((beside (expand-file-name "../bin/swank-mcp.js"
                                  (file-name-directory (or (locate-library "swank-mcp") default-directory)))))
    (shell-quote-argument
     (cond (swank-mcp-program (expand-file-name swank-mcp-program))
           ((file-executable-p beside) (file-truename beside))
           ((executable-find "swank-mcp"))
           (t (user-error "The program swank-mcp is not on `exec-path'.  Install it with npm, or set `swank-mcp-program' to its file"))))))

(defun swank-mcp--client-command (client port)
  "Return the command to let CLIENT, of `swank-mcp-clients', in by PORT."
  (let ((arguments (concat (format "--attach %d" port)
                           ;; swank-mcp looks for SLIME's first
                           (if (swank-mcp--sly-p) (format " --secret-file %s" (shell-quote-argument (swank-mcp--secret-file))) "")))
        (format (or (cdr (assoc client swank-mcp-clients)) "%s")))
    (if (equal client "Gemini CLI")
        (format "%s -- %s" (format format (swank-mcp--program)) arguments)
      (format format (format "%s %s" (swank-mcp--program) arguments)))))

(defun swank-mcp--threads-p (lisp)
  "Return non-nil if LISP can send events to this Emacs at any time."
  (swank-mcp--with-connection (swank-mcp--lisp-process lisp)
    (eq :spawn (swank-mcp--call 'slime-communication-style))))

(defun swank-mcp--open-form (port)
  "Return the form that opens PORT in the Lisp.
Its value is nil, or the text of a problem."
  `(cl:let ((home (cl:merge-pathnames ,(swank-mcp--secret-name) (cl:user-homedir-pathname))))
           (cl:cond ((cl:not (cl:find :sb-thread cl:*features*)) "it has no threads, which agents need")
                    ((cl:find ,port swank::*servers* :key (cl:quote cl:second)) cl:nil)
                    ((cl:not (cl:probe-file home))
                     (cl:format cl:nil "the Lisp sees no file ~a, which must contain a secret" home))
                    (cl:t (cl:handler-case
                           (cl:progn (swank:create-server :port ,port :style :spawn :dont-close cl:t) cl:nil)
                           (cl:error (problem) (cl:princ-to-string problem)))))))

;;;###autoload
(defun swank-mcp-listen (port client)
  "Open PORT in the current Lisp for agents.
Show and copy the command for adding the Lisp to CLIENT, a program that
runs agents.  With a prefix argument, ask for the port, by default
`swank-mcp-port'.  Clients must send the secret in
`swank-mcp-secret-file', which is made if there is none.  Only programs
of this machine can reach the port."
  (interactive
   (list (if current-prefix-arg (read-number "Port for agents: " swank-mcp-port) swank-mcp-port)
         (completing-read "The agent's client: " swank-mcp-clients nil t nil nil (caar swank-mcp-clients))))
  (unless swank-mcp-mode (swank-mcp-mode 1))
  (let ((lisp (swank-mcp--current-lisp))
        (command (swank-mcp--client-command client port)))
    (swank-mcp--ensure-secret)
    (swank-mcp--with-connection (swank-mcp--lisp-process lisp)
      (let ((problem (swank-mcp--call 'slime-eval (swank-mcp--form (swank-mcp--open-form port)) "COMMON-LISP-USER")))
        (when problem
          (user-error "Agents cannot join %s: %s" (swank-mcp--call 'slime-connection-name) problem))))
    (kill-new command)
    (message "Agents can join.  Run this once in your project (copied): %s%s" command
             (if (swank-mcp--threads-p lisp)
                 ""
               (format "\nThis Emacs cannot show what they do or ask you for them: its own connection has no threads (see `%s')"
                       (if (swank-mcp--sly-p) "slynk:*communication-style*" "swank:*communication-style*"))))
    command))

;;;; Throwing out

(defun swank-mcp--kick-form ()
  "Return the form that throws agents out of a Lisp that has no runtime yet.
It stops the ports through which agents have come, and no others."
  `(cl:let* ((agents (cl:remove-if-not (cl:lambda (connection)
                                         ,(swank-mcp--agent-test))
                                       swank::*connections*))
             (ports (cl:mapcar
                     (cl:lambda (agent)
                       (cl:ignore-errors
                        (cl:let ((socket (cl:make-instance
                                          'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp
                                          :descriptor (sb-sys:fd-stream-fd (swank::connection.socket-io agent)))))
                          ;; else the garbage collector would close the agent's descriptor
                          (sb-ext:cancel-finalization socket)
                          (cl:nth-value 1 (sb-bsd-sockets:socket-name socket)))))
                     agents))
             (known (cl:remove-duplicates (cl:remove cl:nil ports))))
            (cl:dolist (port known) (cl:ignore-errors (swank:stop-server port)))
            (cl:ignore-errors
             (cl:mapc (cl:lambda (agent port)
                        (cl:when port
                                 (swank::send (swank::mconn.control-thread agent) (cl:quote (:write-string "" (:kicked))))))
                      agents ports)
             ;; until it is sent
             (cl:sleep 1/10))
            (cl:mapc (cl:lambda (agent port)
                       (cl:when port (cl:ignore-errors (swank::close-connection agent cl:nil cl:nil))))
                     agents ports)
            (cl:list :kicked (cl:count-if-not (cl:function cl:null) ports) :stayed (cl:count cl:nil ports) :ports known)))

(defun swank-mcp--report-kick (answers)
  "Show what came of throwing agents out, as ANSWERS say."
  ;; each version of the runtime counts the agents of all versions
  (let ((kicked (apply #'max 0 (mapcar (lambda (answer) (plist-get answer :kicked)) answers)))
        (stayed (apply #'max 0 (mapcar (lambda (answer) (plist-get answer :stayed)) answers)))
        (ports (delete-dups (cl-mapcan (lambda (answer) (copy-sequence (plist-get answer :ports))) answers))))
    (message "%s%s"
             (cond ((> kicked 0)
                    (format "%s thrown out.%s"
                            (if (= kicked 1) "1 agent was" (format "%d agents were" kicked))
                            (if ports
                                (format "  Port %s is closed; M-x swank-mcp-listen opens it again."
                                        (mapconcat #'number-to-string ports ", "))
                              "")))
                   ((= stayed 0)
                    ;; an agent that is connecting is not counted yet
                    "No agent was thrown out: none has finished connecting.  If one is connecting now, kick again.")
                   (t ""))
             (if (> stayed 0) "All that the agent ran was aborted.  It stays, because this Lisp is its own." ""))))

;;;###autoload
(defun swank-mcp-kick ()
  "Throw all agents out of the current Lisp, at once.
All that they run and have stopped is aborted.  The port that they came
through is closed, so that none returns; `swank-mcp-listen' opens it
again.  Your own connection and your own work are left alone."
  (interactive)
  (let* ((process (swank-mcp--call 'slime-connection))
         ;; also while `swank-mcp-mode' is off
         (lisp (or (swank-mcp--lisp-of process) (swank-mcp--make-lisp process)))
         (end (+ (float-time) 2))
         (done nil))
    (cl-flet ((report (answers) (setq done t) (swank-mcp--report-kick answers)))
      (swank-mcp--request
       lisp
       (lambda (answers)
         (if answers
             (report answers)
           (swank-mcp--eval lisp (swank-mcp--kick-form) (lambda (answer) (report (list answer))))))
       :kick))
    ;; what M-x says about keys would hide a later message
    (while (and (not done) (< (float-time) end) (process-live-p process))
      (accept-process-output nil 0.05))))

(provide 'swank-mcp-door)

;;; swank-mcp-door.el ends here
