;;; swank-mcp-confirm.el --- Allow or refuse what agents ask for  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; What concerns your own threads, and ending your Lisp, needs your yes.
;; Emacs asks for it in the minibuffer as soon as you do nothing else.

;;; Code:

(require 'cl-lib)
(require 'slime)
(require 'subr-x)
(require 'swank-mcp)
(require 'swank-mcp-transcript)

(defcustom swank-mcp-confirm t
  "Whether agents ask in this Emacs for what needs your yes.
If nil, or while this Emacs has no frame, the agent's client asks."
  :type 'boolean
  :group 'swank-mcp)

(defcustom swank-mcp-confirm-idle 0.5
  "Seconds without a key after which Emacs asks for an agent.
A yes within this time after the question has appeared is not counted:
it may have been typed for something else."
  :type 'number
  :group 'swank-mcp)

(cl-defstruct (swank-mcp--question (:constructor swank-mcp--make-question (lisp number)))
  "What an agent of a Lisp asks you to allow."
  lisp number agent
  action                                ; a verb phrase
  particulars                           ; ((LABEL TEXT) ...)
  circumstances                         ; lines
  for-stop                              ; whether a whole stop can be allowed
  asked seconds                         ; since 1970; how long you have
  end)                                  ; why it needs no answer any more

(defvar swank-mcp--posed nil
  "The question that the minibuffer asks, or nil.")

(defvar swank-mcp--posed-at 0
  "When the minibuffer began to ask, in seconds since 1970.")

(defvar swank-mcp--posed-depth nil
  "The depth of recursive editing in the minibuffer that asks.")

(defvar swank-mcp--last-answer nil
  "How many events had been read, and the time, when a question ended.")

(defvar swank-mcp--question-timer nil
  "The timer that looks whether a question can be asked or has ended.")

(defconst swank-mcp--question-buffer "*swank-mcp question*"
  "The name of the buffer that shows a whole question.")

;;;; Questions that come and go

(defun swank-mcp--find-question (lisp number)
  "Return question NUMBER of LISP, or nil."
  (cl-find number (swank-mcp--lisp-questions lisp) :key #'swank-mcp--question-number))

(defun swank-mcp--take-question (lisp plist)
  "Note the question of LISP that PLIST describes, unless it is known."
  (cl-destructuring-bind (&key number agent action particulars circumstances for-stop asked seconds &allow-other-keys)
      plist
    (unless (swank-mcp--find-question lisp number)
      (let ((question (swank-mcp--make-question lisp number)))
        (setf (swank-mcp--question-agent question) agent
              (swank-mcp--question-action question) action
              (swank-mcp--question-particulars question) particulars
              (swank-mcp--question-circumstances question) circumstances
              (swank-mcp--question-for-stop question) for-stop
              (swank-mcp--question-asked question) asked
              (swank-mcp--question-seconds question) seconds
              (swank-mcp--lisp-questions lisp) (append (swank-mcp--lisp-questions lisp) (list question)))))))

(defun swank-mcp--on-ask (lisp plist)
  "Ask the question of LISP that PLIST describes as soon as you are free."
  (swank-mcp--take-question lisp plist)
  (swank-mcp--changed lisp)
  (swank-mcp--watch-questions))

(defun swank-mcp--end-question (question reason)
  "Do not ask QUESTION any more, because of REASON."
  (let ((lisp (swank-mcp--question-lisp question)))
    (setf (swank-mcp--question-end question) reason
          (swank-mcp--lisp-questions lisp) (remq question (swank-mcp--lisp-questions lisp)))
    (when (eq question swank-mcp--posed) (swank-mcp--watch-questions))
    (swank-mcp--changed lisp)))

(defun swank-mcp--end-questions (lisp reason)
  "Do not ask any question of LISP any more, because of REASON."
  (dolist (question (append (and swank-mcp--posed
                                 (eq lisp (swank-mcp--question-lisp swank-mcp--posed))
                                 (list swank-mcp--posed))
                            (swank-mcp--lisp-questions lisp)))
    (swank-mcp--end-question question reason)))

(defun swank-mcp--on-withdraw (lisp number reason answer)
  "Note that question NUMBER of LISP has ended because of REASON.
If that is :answered, ANSWER is the answer."
  (let ((question (swank-mcp--find-question lisp number)))
    (when question
      (swank-mcp--end-question
       question
       (pcase reason
         (:answered (format "answered in another Emacs: %s" (if (eq answer :no) "no" "yes")))
         (:unanswered (format "no answer within %d s: the agent reads a no" (swank-mcp--question-seconds question)))
         (_ "the agent does not ask any more")))
      (unless (eq question swank-mcp--posed)
        (swank-mcp--report-end question)))))

(defun swank-mcp--report-end (question)
  "Say why QUESTION needs no answer any more."
  (message "Agent %s, %s: %s" (swank-mcp--question-agent question) (swank-mcp--question-action question)
           (swank-mcp--question-end question)))

(defun swank-mcp--all-questions ()
  "Return the questions of all Lisps, oldest first."
  (cl-sort (cl-mapcan (lambda (lisp) (copy-sequence (swank-mcp--lisp-questions lisp))) swank-mcp--lisps)
           #'< :key #'swank-mcp--question-asked))

(defun swank-mcp--send-answer (question answer)
  "Answer QUESTION with ANSWER: :yes, :no, :stop, or :pass if you cannot be asked."
  (let ((lisp (swank-mcp--question-lisp question)))
    (setf (swank-mcp--lisp-questions lisp) (remq question (swank-mcp--lisp-questions lisp)))
    (when (memq (swank-mcp--lisp-process lisp) slime-net-processes)
      (swank-mcp--request lisp #'ignore :answer (swank-mcp--question-number question) answer))
    (swank-mcp--changed lisp)))

;;;; When to ask

(defun swank-mcp--real-frame-p (frame)
  "Return non-nil if a person can see FRAME."
  (not (equal (terminal-name frame) "initial_terminal")))

(defun swank-mcp--person-frame ()
  "Return the frame in which a person can be asked, or nil."
  (and (not noninteractive)
       (if (swank-mcp--real-frame-p (selected-frame))
           (selected-frame)
         (cl-find-if #'swank-mcp--real-frame-p (frame-list)))))

(defun swank-mcp--idle-p ()
  "Return non-nil if you have pressed no key for a while."
  ;; a question that a timer has asked leaves its keys behind, and stops the clock
  (if (eql num-nonmacro-input-events (car swank-mcp--last-answer))
      (>= (- (float-time) (cdr swank-mcp--last-answer)) swank-mcp-confirm-idle)
    (let ((idle (current-idle-time)))
      (and idle
           (>= (float-time idle) swank-mcp-confirm-idle)
           (equal [] (this-single-command-keys))))))

(defun swank-mcp--free-p ()
  "Return non-nil if you do nothing that a question would disturb."
  (and (zerop (recursion-depth))
       (not (or cursor-in-echo-area executing-kbd-macro defining-kbd-macro overriding-terminal-local-map
                (input-pending-p)))
       (swank-mcp--idle-p)))

(defun swank-mcp--watch-questions ()
  "Look soon whether there is a question to ask or to end."
  (unless swank-mcp--question-timer
    (setq swank-mcp--question-timer (run-at-time 0.1 nil #'swank-mcp--look-at-questions))))

(defun swank-mcp--look-at-questions ()
  "Ask the oldest question if you are free, or end the one that is asked."
  (setq swank-mcp--question-timer nil)
  (let ((question (car (swank-mcp--all-questions))))
    (cond ((and swank-mcp--posed (swank-mcp--question-end swank-mcp--posed))
           (swank-mcp--watch-questions)
           ;; you may do something else meanwhile, such as answering another prompt
           (when (eql (recursion-depth) swank-mcp--posed-depth)
             (throw 'swank-mcp--answer nil)))
          (swank-mcp--posed)
          ((null question))
          ((not (and swank-mcp-confirm swank-mcp-mode (swank-mcp--person-frame)))
           (mapc (lambda (each) (swank-mcp--send-answer each :pass)) (swank-mcp--all-questions)))
          (t (swank-mcp--watch-questions)
             (when (swank-mcp--free-p)
               (swank-mcp--pose question))))))

;;;; What the question shows

(defun swank-mcp--question-sentence (question)
  "Return what QUESTION is about, a line."
  (format "Agent %s wants to %s" (swank-mcp--question-agent question) (swank-mcp--question-action question)))

(defun swank-mcp--code-label-p (label)
  "Return non-nil if the text that LABEL names is code."
  (member label '("Code" "Condition" "Log" "Call")))

(defun swank-mcp--short-particulars (question)
  "Return the details of QUESTION on one line."
  (mapconcat (lambda (particular)
               (pcase-let ((`(,label ,text) particular))
                 (if (swank-mcp--code-label-p label) (swank-mcp--fontified text) (format "%s %s" label text))))
             (swank-mcp--question-particulars question) ", "))

(defun swank-mcp--short-p (question)
  "Return non-nil if the minibuffer can show all of QUESTION."
  (let ((text (concat (swank-mcp--question-sentence question) (swank-mcp--short-particulars question))))
    (and (not (string-match-p "\n" text))
         (<= (length text) (* 2 (frame-width))))))

(defun swank-mcp--prompt (question)
  "Return the minibuffer's prompt for QUESTION."
  (concat (swank-mcp--question-sentence question)
          (if (swank-mcp--short-p question) (concat ": " (swank-mcp--short-particulars question)) "")
          (propertize (format "  Allow? (y, n, s: show%s) " (if (swank-mcp--question-for-stop question) ", !: for this stop" ""))
                      'face 'minibuffer-prompt)))

(defun swank-mcp--insert-question (question)
  "Insert all of QUESTION."
  (insert (propertize (swank-mcp--question-sentence question) 'face 'swank-mcp-heading) "\n")
  (pcase-dolist (`(,label ,text) (swank-mcp--question-particulars question))
    (insert "\n" (propertize label 'face 'bold) ":")
    (insert (if (string-match-p "\n" text) "\n" " ")
            (if (swank-mcp--code-label-p label) (swank-mcp--fontified text) text)
            "\n"))
  (when (swank-mcp--question-circumstances question)
    (insert "\n" (string-join (swank-mcp--question-circumstances question) "\n") "\n")))

(defvar swank-mcp-question-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "y") #'swank-mcp-allow)
    (define-key map (kbd "n") #'swank-mcp-refuse)
    (define-key map (kbd "!") #'swank-mcp-allow-for-stop)
    map)
  "Keys of the buffer that shows an agent's question.")

(define-derived-mode swank-mcp-question-mode special-mode "Question"
  "Major mode of the buffer that shows what an agent asks you to allow.

\\{swank-mcp-question-mode-map}")

(defun swank-mcp-show-question ()
  "Show all of what the agent asks for in another window."
  (interactive)
  (let ((question (or swank-mcp--posed (user-error "No agent asks"))))
    (with-current-buffer (get-buffer-create swank-mcp--question-buffer)
      (swank-mcp-question-mode)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (swank-mcp--insert-question question))
      (goto-char (point-min))
      (display-buffer (current-buffer)))))

(defun swank-mcp--hide-question ()
  "Delete the buffer of a question, and its windows."
  (let ((buffer (get-buffer swank-mcp--question-buffer)))
    (when buffer
      (mapc (lambda (window) (quit-restore-window window)) (get-buffer-window-list buffer nil t))
      (kill-buffer buffer))))

;;;; Answering

(defun swank-mcp--answer (answer)
  "Answer the question in the minibuffer with ANSWER."
  (cond ((null swank-mcp--posed) (user-error "No agent asks"))
        ((/= (recursion-depth) swank-mcp--posed-depth) (user-error "Leave the other prompt first"))
        (t (throw 'swank-mcp--answer answer))))

(defun swank-mcp--allow (answer)
  "Give ANSWER, a yes, unless it was typed before the question was seen."
  (if (< (- (float-time) swank-mcp--posed-at) swank-mcp-confirm-idle)
      (swank-mcp-explain-keys)
    (swank-mcp--answer answer)))

(defun swank-mcp-allow ()
  "Allow what the agent asks for."
  (interactive)
  (swank-mcp--allow :yes))

(defun swank-mcp-allow-for-stop ()
  "Allow what the agent asks for, and the same until the stop ends."
  (interactive)
  (if (and swank-mcp--posed (swank-mcp--question-for-stop swank-mcp--posed))
      (swank-mcp--allow :stop)
    (swank-mcp-explain-keys)))

(defun swank-mcp-refuse ()
  "Refuse what the agent asks for."
  (interactive)
  (swank-mcp--answer :no))

(defun swank-mcp-explain-keys ()
  "Say which keys answer the agent's question."
  (interactive)
  (minibuffer-message "%s" "y allows it, n or C-g refuses, s shows all"))

(defvar swank-mcp--question-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map minibuffer-local-map)
    (define-key map [remap self-insert-command] #'swank-mcp-explain-keys)
    (define-key map (kbd "RET") #'swank-mcp-explain-keys)
    (define-key map (kbd "C-j") #'swank-mcp-explain-keys)
    (define-key map (kbd "y") #'swank-mcp-allow)
    (define-key map (kbd "n") #'swank-mcp-refuse)
    (define-key map (kbd "s") #'swank-mcp-show-question)
    (define-key map (kbd "!") #'swank-mcp-allow-for-stop)
    map)
  "Keys of the minibuffer while it asks for an agent.")

(defun swank-mcp--read-answer (question)
  "Ask QUESTION in the minibuffer.  Return the answer, nil if it was withdrawn."
  (condition-case nil
      (catch 'swank-mcp--answer
        (minibuffer-with-setup-hook
            (lambda ()
              (setq swank-mcp--posed-depth (recursion-depth)
                    swank-mcp--posed-at (float-time)))
          (let ((enable-recursive-minibuffers t))
            (read-from-minibuffer (swank-mcp--prompt question) nil swank-mcp--question-map)))
        :no)
    (quit :no)))

(defun swank-mcp--pose (question)
  "Ask QUESTION, and send the answer to its Lisp."
  (let ((swank-mcp--posed question)
        (inhibit-quit nil)
        answer)
    (unwind-protect
        (with-selected-frame (swank-mcp--person-frame)
          (unless (swank-mcp--short-p question) (swank-mcp-show-question))
          (setq answer (swank-mcp--read-answer question)))
      (swank-mcp--hide-question)
      (setq swank-mcp--last-answer (cons num-nonmacro-input-events (float-time)))
      (if (swank-mcp--question-end question)
          (swank-mcp--report-end question)
        ;; whatever else ends the prompt is no yes
        (swank-mcp--send-answer question (or answer :no)))))
  (swank-mcp--watch-questions))

;;;###autoload
(defun swank-mcp-answer ()
  "Answer the oldest question of an agent now."
  (interactive)
  (when swank-mcp--posed (user-error "The minibuffer asks already"))
  (swank-mcp--pose (or (car (swank-mcp--all-questions)) (user-error "No agent asks"))))

(provide 'swank-mcp-confirm)

;;; swank-mcp-confirm.el ends here
