;;; swank-mcp.el --- See, steer and save what agents do in your Lisp  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors

;; Author: Swank toolkit contributors
;; Maintainer: Swank toolkit contributors
;; URL: https://github.com/swank-toolkit/swank-toolkit
;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: lisp, languages, tools
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; The MCP server swank-mcp connects agents to the Lisp that you use in
;; SLIME or SLY.  This package is your side of it: it shows what the agents
;; do, and lets you throw them out.  It speaks through the connection of
;; SLIME or SLY.
;;
;;     (require 'swank-mcp)
;;     (swank-mcp-mode 1)
;;
;; `swank-mcp-listen' opens a port for agents in the current Lisp, and
;; copies the command that adds it to an agent's client.
;; `swank-mcp-transcript' shows all that agents do, live.
;; `swank-mcp-kick' disconnects them at once.
;;
;; Only SBCL is supported.  SLIME 2.27 or SLY 1.0.43, or a newer one, is
;; needed.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(require 'swank-mcp-ide)

(defgroup swank-mcp nil
  "Agents in the Lisp that you use in SLIME or SLY."
  :prefix "swank-mcp-"
  :group 'lisp
  :link '(url-link "https://github.com/swank-toolkit/swank-toolkit"))

(defcustom swank-mcp-kept-calls 200
  "How many calls of agents Emacs keeps for each Lisp.
The oldest are forgotten."
  ;; Emacs 27 has no natnum
  :type '(restricted-sexp :match-alternatives (natnump)))

(defface swank-mcp-running '((t :inherit success))
  "Face of the mode line while an agent's code runs.")

(defface swank-mcp-stopped '((t :inherit warning))
  "Face of the mode line while an agent's code is stopped in the debugger.")

(defface swank-mcp-asking '((t :inherit error))
  "Face of the mode line while an agent waits for your answer.")

;;;; What Emacs knows about the agents of a Lisp

(cl-defstruct (swank-mcp--lisp (:constructor swank-mcp--make-lisp (process)))
  "What Emacs knows about the agents of a Lisp."
  process                               ; the connection of SLIME or SLY
  channel                               ; through which the Lisp sends events
  agents                                ; (VERSION NUMBER NAMES) of each runtime
  calls                                 ; all calls, latest first
  (earlier 0)                           ; how many calls came before these
  prepared                              ; whether it can compare itself with files
  questions)                            ; those without an answer, oldest first

(cl-defstruct (swank-mcp--call (:constructor swank-mcp--make-call (number)))
  "Something that an agent did in a Lisp."
  number revision agent operation code package
  begun ended                           ; in seconds since 1970
  output stop                           ; stop: (THREAD LEVEL MESSAGE)
  status result
  start end                             ; markers in the transcript
  folded fontified)

(defvar swank-mcp--lisps '()
  "An object for each connection whose Lisp has been greeted.")

(defvar swank-mcp--ended-calls '()
  "The calls in Lisps whose connections have ended, latest first.")

(defvar swank-mcp-change-hook nil
  "Functions called when an agent has done something.
Each gets the object of the Lisp and the call that has changed, or nil
if many have.")

(defun swank-mcp--lisp-of (process)
  "Return what is known about the Lisp of PROCESS, a connection."
  (cl-find process swank-mcp--lisps :key #'swank-mcp--lisp-process))

(defun swank-mcp--find-call (lisp number)
  "Return call NUMBER of LISP, or nil."
  (cl-find number (swank-mcp--lisp-calls lisp) :key #'swank-mcp--call-number))

(defun swank-mcp--all-calls ()
  "Return every kept call, in a new list."
  (append (cl-mapcan (lambda (lisp) (copy-sequence (swank-mcp--lisp-calls lisp))) swank-mcp--lisps)
          (copy-sequence swank-mcp--ended-calls)))

(defun swank-mcp--latest (sorted)
  "Return the part of SORTED, latest first, that is kept."
  (cl-subseq sorted 0 (min swank-mcp-kept-calls (length sorted))))

(defun swank-mcp--state (lisp)
  "Return what the agents of LISP do: asking, running, stopped, idle, or nil."
  (let ((open (cl-remove-if #'swank-mcp--call-status (swank-mcp--lisp-calls lisp))))
    (cond ((or (swank-mcp--lisp-questions lisp)
               (cl-find "approval" open :key #'swank-mcp--call-operation :test #'equal))
           'asking)
          ((cl-some (lambda (call) (not (swank-mcp--call-stop call))) open) 'running)
          (open 'stopped)
          ((cl-some (lambda (agents) (nth 2 agents)) (swank-mcp--lisp-agents lisp)) 'idle))))

(defun swank-mcp--changed (lisp &optional call)
  "Show that CALL of LISP has changed, or all that is known about LISP."
  (force-mode-line-update t)
  (run-hook-with-args 'swank-mcp-change-hook lisp call))

;;;; Events of a Lisp

(defun swank-mcp--fill-call (call plist)
  "Set the slots of CALL from PLIST, which the Lisp has sent."
  (cl-destructuring-bind (&key revision agent operation code package begun ended output stop status result
                               &allow-other-keys)
      plist
    (setf (swank-mcp--call-revision call) revision
          (swank-mcp--call-agent call) agent
          (swank-mcp--call-operation call) operation
          (swank-mcp--call-code call) code
          (swank-mcp--call-package call) package
          (swank-mcp--call-begun call) begun
          (swank-mcp--call-ended call) ended
          (swank-mcp--call-output call) output
          (swank-mcp--call-stop call) stop
          (swank-mcp--call-status call) status
          (swank-mcp--call-result call) result)
    call))

(defun swank-mcp--note-call (lisp plist)
  "Note the call of LISP that PLIST describes.  Return it.
A ledger can be older than events that came before it."
  (let* ((number (plist-get plist :number))
         (known (swank-mcp--find-call lisp number))
         (call (or known (swank-mcp--make-call number))))
    (unless (and known (>= (swank-mcp--call-revision known) (plist-get plist :revision)))
      (swank-mcp--fill-call call plist))
    (unless known (swank-mcp--add-call lisp call))
    call))

(defun swank-mcp--add-call (lisp call)
  "Keep CALL of LISP, which is new, and forget the oldest one."
  (let* ((calls (cons call (swank-mcp--lisp-calls lisp)))
         (forgotten (nthcdr swank-mcp-kept-calls calls))
         (twin (swank-mcp--ended-twin call)))
    (setf (swank-mcp--lisp-calls lisp) (swank-mcp--latest calls))
    (cl-incf (swank-mcp--lisp-earlier lisp) (length forgotten))
    (when twin (setq swank-mcp--ended-calls (remq twin swank-mcp--ended-calls)))
    (dolist (old (if twin (cons twin forgotten) forgotten))
      (swank-mcp--changed lisp old))))

(defun swank-mcp--ended-twin (call)
  "Return what an earlier connection to the same Lisp has sent about CALL, or nil."
  (cl-find-if (lambda (ended)
                (and (eql (swank-mcp--call-number ended) (swank-mcp--call-number call))
                     (equal (swank-mcp--call-begun ended) (swank-mcp--call-begun call))))
              swank-mcp--ended-calls))

(defun swank-mcp--note-agents (lisp agents)
  "Note AGENTS of LISP, (VERSION NUMBER NAMES), unless they are older."
  (let ((known (assoc (car agents) (swank-mcp--lisp-agents lisp))))
    (unless (and known (> (nth 1 known) (nth 1 agents)))
      (setf (swank-mcp--lisp-agents lisp)
            (cons agents (remq known (swank-mcp--lisp-agents lisp)))))))

(defun swank-mcp--take-ledger (lisp ledger)
  "Note the LEDGER that a runtime of LISP has sent."
  (cl-destructuring-bind (&key agents calls questions (total 0) &allow-other-keys) ledger
    (swank-mcp--note-agents lisp agents)
    (dolist (question questions) (swank-mcp--on-ask lisp question))
    (dolist (call calls) (swank-mcp--note-call lisp call))
    (setf (swank-mcp--lisp-calls lisp)
          (cl-sort (swank-mcp--lisp-calls lisp) #'> :key #'swank-mcp--call-number)
          (swank-mcp--lisp-earlier lisp)
          (max (swank-mcp--lisp-earlier lisp) (- total (length (swank-mcp--lisp-calls lisp)))))
    (swank-mcp--changed lisp)))

(defun swank-mcp--on-agents (lisp agents)
  "Note AGENTS, (VERSION NUMBER NAMES), of LISP."
  (swank-mcp--note-agents lisp agents)
  (swank-mcp--changed lisp))

(defun swank-mcp--on-begin (lisp plist)
  "Note that the call of PLIST has begun in LISP."
  (swank-mcp--changed lisp (swank-mcp--note-call lisp plist)))

(defun swank-mcp--old-call (lisp number revision)
  "Return call NUMBER of LISP, which is about to get REVISION.
Return nil if a ledger has already said so."
  (let ((call (swank-mcp--find-call lisp number)))
    (when (and call (< (swank-mcp--call-revision call) revision))
      (setf (swank-mcp--call-revision call) revision)
      call)))

(defun swank-mcp--on-output (lisp number revision text)
  "Note in REVISION of call NUMBER of LISP that it has printed TEXT."
  (let ((call (swank-mcp--old-call lisp number revision)))
    (when call
      (setf (swank-mcp--call-output call) (concat (swank-mcp--call-output call) text))
      (swank-mcp--changed lisp call))))

(defun swank-mcp--on-stop (lisp number revision stop)
  "Note in REVISION of call NUMBER of LISP its STOP, (THREAD LEVEL MESSAGE)."
  (let ((call (swank-mcp--old-call lisp number revision)))
    (when call
      (setf (swank-mcp--call-stop call) stop)
      (swank-mcp--changed lisp call))))

(defun swank-mcp--on-resume (lisp number revision)
  "Note in REVISION of call NUMBER of LISP that it is no longer stopped."
  (let ((call (swank-mcp--old-call lisp number revision)))
    (when call
      (setf (swank-mcp--call-stop call) nil)
      (swank-mcp--changed lisp call))))

(defun swank-mcp--on-end (lisp number revision status result time)
  "Note in REVISION of call NUMBER of LISP its end.
It ended at TIME with STATUS and RESULT."
  (let ((call (swank-mcp--old-call lisp number revision)))
    (when call
      (setf (swank-mcp--call-stop call) nil
            (swank-mcp--call-status call) status
            (swank-mcp--call-result call) result
            (swank-mcp--call-ended call) time)
      (swank-mcp--changed lisp call))))

(defun swank-mcp--refresh (lisp)
  "Ask the runtimes of LISP for all that Emacs may have missed."
  (swank-mcp--request lisp (lambda (ledgers)
                             (dolist (ledger ledgers) (swank-mcp--take-ledger lisp ledger)))
                      :ledger))

(defun swank-mcp--receiver (function)
  "Return a function for `swank-mcp--events' from FUNCTION."
  (lambda (_channel &rest data)
    (let ((lisp (swank-mcp--lisp-of (swank-mcp--call 'slime-connection))))
      (when lisp (apply function lisp data)))))

(defvar swank-mcp--events
  (let ((events (make-hash-table)))
    (cl-loop for (event . function) in '((:agents . swank-mcp--on-agents)
                                         (:begin . swank-mcp--on-begin)
                                         (:output . swank-mcp--on-output)
                                         (:stop . swank-mcp--on-stop)
                                         (:resume . swank-mcp--on-resume)
                                         (:end . swank-mcp--on-end)
                                         (:visit . swank-mcp--on-visit)
                                         (:ask . swank-mcp--on-ask)
                                         (:withdraw . swank-mcp--on-withdraw)
                                         (:withdrawn . swank-mcp--on-withdraw)
                                         (:runtime . swank-mcp--refresh)
                                         (:gap . swank-mcp--refresh))
             do (puthash event (swank-mcp--receiver function) events))
    events)
  "The functions that SLIME or SLY calls with our channel and an event's data.")

;;;; Requests to a Lisp

;; The property list of the Lisp keyword :SWANK-MCP is where versions of
;; the runtime and Emacs find each other.  Its names never change; see
;; lisp/emacs/listeners.lisp.

(defconst swank-mcp--protocol 1
  "The version of the events and requests that this file understands.")

(defun swank-mcp--eval (lisp form receive)
  "Evaluate FORM in LISP, and call RECEIVE with its value.
The current buffer may be killed before that, or be a debugger whose
thread does not answer, or is of another Lisp."
  (let ((process (swank-mcp--lisp-process lisp)))
    (with-current-buffer (process-buffer process)
      (cl-progv (list (swank-mcp--name 'slime-dispatching-connection) (swank-mcp--name 'slime-current-thread))
          (list process t)
        (swank-mcp--call 'slime-eval-async (swank-mcp--form form) receive "COMMON-LISP-USER")))))

(defun swank-mcp--request (lisp receive &rest request)
  "Send REQUEST to all runtimes in LISP.
RECEIVE is called with the list of their answers, the newest first."
  (swank-mcp--eval
   lisp
   `(cl:loop for (protocol version answer) in (cl:car (cl:get :swank-mcp :runtimes))
             when (cl:eql protocol ,swank-mcp--protocol)
             collect (cl:progn version (cl:funcall answer ,@request)))
   (lambda (answers) (funcall receive (remq :unknown answers)))))

(defun swank-mcp--announce (lisp)
  "Tell LISP that this Emacs understands events, and ask for its ledger."
  (let ((channel (swank-mcp--call 'slime-channel.id (swank-mcp--lisp-channel lisp)))
        (events (hash-table-keys swank-mcp--events)))
    (swank-mcp--eval
     lisp
     `(cl:progn
       (cl:unless (cl:get :swank-mcp :listeners)
                  (cl:setf (cl:get :swank-mcp :listeners) (cl:list cl:nil)))
       (sb-ext:atomic-push (cl:list swank::*emacs-connection* ,channel ,swank-mcp--protocol ',events)
                           (cl:car (cl:get :swank-mcp :listeners)))
       cl:t)
     (lambda (_)
       (swank-mcp--request lisp
                           (lambda (ledgers)
                             (dolist (ledger ledgers) (swank-mcp--take-ledger lisp ledger)))
                           :announce channel `',events)))))

;;;; Connections

(defun swank-mcp--greet (&optional process)
  "Begin to follow the agents in the Lisp of PROCESS, by default the current one."
  (let ((process (or process (swank-mcp--call 'slime-connection))))
    (swank-mcp--with-connection process
      (when (and (not (swank-mcp--lisp-of process))
                 (equal (swank-mcp--call 'slime-lisp-implementation-type) "SBCL"))
        (let ((lisp (swank-mcp--make-lisp process)))
          (setf (swank-mcp--lisp-channel lisp) (swank-mcp--call 'slime-make-channel swank-mcp--events "swank-mcp"))
          (push lisp swank-mcp--lisps)
          (swank-mcp--announce lisp))))))

(defun swank-mcp--leave (lisp)
  "Tell LISP to send this Emacs no more events, and forget it."
  (setq swank-mcp--lisps (remq lisp swank-mcp--lisps))
  (swank-mcp--end-questions lisp "this Emacs does not follow agents any more")
  (when (process-live-p (swank-mcp--lisp-process lisp))
    (swank-mcp--eval
     lisp
     '(cl:progn
       (cl:when (cl:get :swank-mcp :listeners)
                (sb-ext:atomic-update (cl:car (cl:get :swank-mcp :listeners))
                                      (cl:lambda (listeners)
                                        (cl:remove swank::*emacs-connection* listeners :key (cl:function cl:first)))))
       cl:t)
     #'ignore)))

(defun swank-mcp--forget (process)
  "Forget the Lisp of PROCESS, whose connection has ended."
  (let ((lisp (swank-mcp--lisp-of process)))
    (when lisp
      (setq swank-mcp--lisps (remq lisp swank-mcp--lisps))
      (setf (swank-mcp--lisp-agents lisp) '())
      (swank-mcp--end-questions lisp "the connection to the Lisp has ended")
      (dolist (call (swank-mcp--lisp-calls lisp))
        (unless (swank-mcp--call-status call)
          (setf (swank-mcp--call-status call) :lost
                (swank-mcp--call-stop call) nil
                (swank-mcp--call-result call) "The connection of Emacs to the Lisp ended.")))
      (setq swank-mcp--ended-calls
            (swank-mcp--latest (append (swank-mcp--lisp-calls lisp) swank-mcp--ended-calls)))
      (swank-mcp--changed lisp))))

(defun swank-mcp--current-lisp ()
  "Return the Lisp of the current connection."
  (let ((process (swank-mcp--call 'slime-connection)))
    (or (swank-mcp--lisp-of process)
        (progn (swank-mcp--greet process) (swank-mcp--lisp-of process))
        (user-error "Agents can be followed only in SBCL"))))

;;;; Mode line

(defvar swank-mcp-question-key)

(defun swank-mcp--mode-line ()
  "Return the text of the mode line about agents."
  (let* ((states (mapcar #'swank-mcp--state swank-mcp--lisps))
         (state (cl-find-if (lambda (state) (memq state states)) '(asking running stopped idle))))
    (when state
      (list " "
            (propertize (if (cl-some #'swank-mcp--lisp-questions swank-mcp--lisps)
                            (format "agent asking: %s y, n or s" swank-mcp-question-key)
                          (format "agent %s" state))
                        'face (cdr (assq state '((asking . swank-mcp-asking)
                                                 (running . swank-mcp-running)
                                                 (stopped . swank-mcp-stopped))))
                        'help-echo "mouse-1: show what agents do"
                        'mouse-face 'mode-line-highlight
                        'local-map (let ((map (make-sparse-keymap)))
                                     (define-key map [mode-line mouse-1] #'swank-mcp-transcript)
                                     map))))))

(defconst swank-mcp--mode-line '(:eval (swank-mcp--mode-line))
  "The element of the mode line about agents.")

(autoload 'swank-mcp-transcript "swank-mcp-transcript" nil t)
(autoload 'swank-mcp-listen "swank-mcp-door" nil t)
(autoload 'swank-mcp-show-question "swank-mcp-confirm" nil t)
(autoload 'swank-mcp-ask "swank-mcp-ask" nil t)
(autoload 'swank-mcp-changes "swank-mcp-changes" nil t)
(autoload 'swank-mcp-kick "swank-mcp-door" nil t)
(declare-function swank-mcp--update-transcript "swank-mcp-transcript")
(declare-function swank-mcp--end-questions "swank-mcp-confirm")
(declare-function swank-mcp--on-ask "swank-mcp-confirm")
(declare-function swank-mcp--on-visit "swank-mcp-stops")
(declare-function swank-mcp--before-compiling "swank-mcp-changes")
(declare-function swank-mcp--prepare-comparison "swank-mcp-changes")
(declare-function swank-mcp--before-loading "swank-mcp-changes")
(declare-function swank-mcp--on-withdraw "swank-mcp-confirm")
(declare-function swank-mcp--name-workers "swank-mcp-threads")
(declare-function swank-mcp--named-threads "swank-mcp-threads")

;;;###autoload
(define-minor-mode swank-mcp-mode
  "Follow what agents do in your Lisps.
The mode line says whether an agent is idle, running, stopped or asking,
the list of threads names agents and their code, and
`swank-mcp-transcript' shows all that agents do."
  :global t
  (require 'swank-mcp-transcript)
  (require 'swank-mcp-threads)
  (require 'swank-mcp-confirm)
  (require 'swank-mcp-stops)
  (require 'swank-mcp-changes)
  (cond (swank-mcp-mode
         (add-hook (swank-mcp--name 'slime-connected-hook) #'swank-mcp--greet)
         (add-hook (swank-mcp--name 'slime-net-process-close-hooks) #'swank-mcp--forget)
         (add-hook 'swank-mcp-change-hook #'swank-mcp--update-transcript)
         (add-to-list 'mode-line-misc-info swank-mcp--mode-line t)
         (advice-add (swank-mcp--name 'slime-update-threads-buffer) :around #'swank-mcp--name-workers)
         (add-hook 'swank-mcp-change-hook #'swank-mcp--prepare-comparison)
         (swank-mcp--call-before-compiling #'swank-mcp--before-compiling)
         (advice-add (swank-mcp--name 'slime-load-file) :before #'swank-mcp--before-loading)
         (advice-add (swank-mcp--name 'slime-display-threads) :filter-args #'swank-mcp--named-threads)
         (mapc #'swank-mcp--greet (swank-mcp--value 'slime-net-processes)))
        (t
         (remove-hook (swank-mcp--name 'slime-connected-hook) #'swank-mcp--greet)
         (remove-hook 'swank-mcp-change-hook #'swank-mcp--update-transcript)
         (mapc #'swank-mcp--leave (copy-sequence swank-mcp--lisps))
         (setq mode-line-misc-info (delete swank-mcp--mode-line mode-line-misc-info))
         (remove-hook 'swank-mcp-change-hook #'swank-mcp--prepare-comparison)
         (swank-mcp--call-before-compiling nil)
         (advice-remove (swank-mcp--name 'slime-load-file) #'swank-mcp--before-loading)
         (advice-remove (swank-mcp--name 'slime-update-threads-buffer) #'swank-mcp--name-workers)
         (advice-remove (swank-mcp--name 'slime-display-threads) #'swank-mcp--named-threads))))

(provide 'swank-mcp)

;;; swank-mcp.el ends here
