;;; swank-mcp-confirm.el --- Allow or refuse what agents ask for  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; What concerns your own threads, and ending your Lisp, needs your yes.
;; The question waits in a window, which never takes the keyboard, and in
;; the mode line.  You answer it with a chord: C-c ? y or C-c ? n.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'swank-mcp)
(require 'swank-mcp-transcript)

(defcustom swank-mcp-confirm t
  "Whether agents ask in this Emacs for what needs your yes.
If nil, or while this Emacs has no frame, the agent's client asks."
  :type 'boolean
  :group 'swank-mcp)

(defcustom swank-mcp-confirm-delay 1.0
  "Seconds for which a question must have been on display before a yes counts."
  :type 'number
  :group 'swank-mcp)

(cl-defstruct (swank-mcp--question (:constructor swank-mcp--make-question (lisp number)))
  "What an agent of a Lisp asks you to allow."
  lisp number agent
  action                                ; a verb phrase
  particulars                           ; ((LABEL TEXT) ...)
  circumstances                         ; lines
  for-stop                              ; whether a whole stop can be allowed
  in-full                               ; whether a yes must be typed in full
  asked seconds                         ; since 1970; how long you have
  end)                                  ; why it needs no answer any more

(defvar swank-mcp--question-timer nil
  "The timer that shows the next question, and removes the window of the last one.")

(defconst swank-mcp--question-buffer "*swank-mcp question*"
  "The name of the buffer that shows a question.")

(defvar-local swank-mcp--shown nil
  "The question that this buffer shows.")

(defvar-local swank-mcp--shown-at nil
  "When this buffer began to show its question in a window, in seconds since 1970.")

(defvar-local swank-mcp--shown-in nil
  "The frame in which this buffer was displayed.")

;;;; Keys

(defvar swank-mcp--asking nil
  "Non-nil while the keys of questions are there.
That is when a question waited last, in seconds since 1970.")

(defconst swank-mcp--late-seconds 10
  "Seconds for which the keys stay after the last question.
You may be typing a chord when its question ends: its letter would get
into your text.")

(defvar swank-mcp--question-keys
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "y") #'swank-mcp-allow)
    (define-key map (kbd "n") #'swank-mcp-refuse)
    (define-key map (kbd "!") #'swank-mcp-allow-for-stop)
    (define-key map (kbd "s") #'swank-mcp-show-question)
    map)
  "Keys after `swank-mcp-question-key' while a question waits.")

(defvar swank-mcp--question-map (make-sparse-keymap)
  "The map of `swank-mcp-question-key', everywhere while a question waits.")

(defun swank-mcp--set-question-key (symbol key)
  "Set SYMBOL, `swank-mcp-question-key', to KEY."
  (set-default symbol key)
  (setcdr swank-mcp--question-map nil)
  (define-key swank-mcp--question-map (kbd key) swank-mcp--question-keys))

(defcustom swank-mcp-question-key "C-c ?"
  "The key before those that answer an agent's question.
It is bound only while a question waits, and for some seconds afterwards.
Choose one that you never type for something else."
  :type 'string
  :set #'swank-mcp--set-question-key
  :group 'swank-mcp)

(add-to-list 'minor-mode-map-alist (cons 'swank-mcp--asking swank-mcp--question-map))

;;;; Questions that come and go

(defun swank-mcp--find-question (lisp number)
  "Return question NUMBER of LISP, or nil."
  (cl-find number (swank-mcp--lisp-questions lisp) :key #'swank-mcp--question-number))

(defun swank-mcp--take-question (lisp plist)
  "Note the question of LISP that PLIST describes, unless it is known."
  (cl-destructuring-bind (&key number agent action particulars circumstances for-stop in-full asked seconds
                               &allow-other-keys)
      plist
    (unless (swank-mcp--find-question lisp number)
      (let ((question (swank-mcp--make-question lisp number)))
        (setf (swank-mcp--question-agent question) agent
              (swank-mcp--question-action question) action
              (swank-mcp--question-particulars question) particulars
              (swank-mcp--question-circumstances question) circumstances
              (swank-mcp--question-for-stop question) for-stop
              (swank-mcp--question-in-full question) in-full
              (swank-mcp--question-asked question) asked
              (swank-mcp--question-seconds question) seconds
              (swank-mcp--lisp-questions lisp) (append (swank-mcp--lisp-questions lisp) (list question)))))))

(defun swank-mcp--on-ask (lisp plist)
  "Show the question of LISP that PLIST describes, after those that wait already."
  (swank-mcp--take-question lisp plist)
  (swank-mcp--changed lisp)
  (swank-mcp--watch-questions))

(defun swank-mcp--end-question (question reason)
  "Do not ask QUESTION any more, because of REASON."
  (let ((lisp (swank-mcp--question-lisp question)))
    (setf (swank-mcp--question-end question) reason
          (swank-mcp--lisp-questions lisp) (remq question (swank-mcp--lisp-questions lisp)))
    (swank-mcp--watch-questions)
    (swank-mcp--changed lisp)))

(defun swank-mcp--end-questions (lisp reason)
  "Do not ask any question of LISP any more, because of REASON."
  (dolist (question (swank-mcp--lisp-questions lisp))
    (swank-mcp--end-question question reason)))

(defun swank-mcp--on-withdraw (lisp number reason answer &optional place)
  "Note that question NUMBER of LISP has ended because of REASON.
If that is :answered, ANSWER is the answer.  PLACE is where it was
given, :emacs, :page or :client, or nil if an older runtime does not
say so."
  (let ((question (swank-mcp--find-question lisp number)))
    (when question
      (swank-mcp--end-question
       question
       (pcase reason
         (:answered (format "answered %s: %s"
                             (pcase place
                               (:page "on the page")
                               (:client "in the agent's client")
                               (_ "in another Emacs"))
                             (if (eq answer :no) "no" "yes")))
         (:unanswered (format "no answer within %d s: the agent reads a no" (swank-mcp--question-seconds question)))
         (:stop-gone "the stop has ended")
         (_ "the agent does not ask any more")))
      (swank-mcp--report-end question))))

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
    (when (memq (swank-mcp--lisp-process lisp) (swank-mcp--value 'slime-net-processes))
      (swank-mcp--request lisp
                          (lambda (counted)
                            (unless (or (eq answer :pass) (memq t counted))
                              (message "Your answer to agent %s came too late" (swank-mcp--question-agent question))))
                          :answer (swank-mcp--question-number question) answer))
    (swank-mcp--end-question question (pcase answer
                                        (:yes "allowed")
                                        (:stop "allowed until the stop ends")
                                        (_ "refused")))))

;;;; Where a person can see a question

(defun swank-mcp--real-frame-p (frame)
  "Return non-nil if a person can see FRAME."
  (not (equal (terminal-name frame) "initial_terminal")))

(defun swank-mcp--person-frame ()
  "Return the frame in which a person can be asked, or nil."
  (and (not noninteractive)
       (if (swank-mcp--real-frame-p (selected-frame))
           (selected-frame)
         (cl-find-if #'swank-mcp--real-frame-p (frame-list)))))

(defun swank-mcp--question-windows ()
  "Return the windows that show a question to a person."
  (cl-remove-if-not (lambda (window) (swank-mcp--real-frame-p (window-frame window)))
                    (let ((buffer (get-buffer swank-mcp--question-buffer)))
                      (and buffer (get-buffer-window-list buffer 'never t)))))

(defun swank-mcp--shown-question ()
  "Return the question in the question buffer, also if it has ended, or nil."
  (let ((buffer (get-buffer swank-mcp--question-buffer)))
    (and buffer (buffer-local-value 'swank-mcp--shown buffer))))

(defun swank-mcp--next-question ()
  "Return the question on display or, if that has ended, the oldest, or nil."
  (let ((shown (swank-mcp--shown-question)))
    (if (and shown (not (swank-mcp--question-end shown)))
        shown
      (car (swank-mcp--all-questions)))))

;;;; What a question shows

(defun swank-mcp--question-sentence (question)
  "Return what QUESTION is about, a line."
  (format "Agent %s wants to %s" (swank-mcp--question-agent question) (swank-mcp--question-action question)))

(defun swank-mcp--code-label-p (label)
  "Return non-nil if the text that LABEL names is code."
  (member label '("Code" "Condition" "Log" "Call")))

(defun swank-mcp--key (command)
  "Return the keys of COMMAND while a question waits, as a text."
  (let ((key (where-is-internal command (list swank-mcp--question-keys) t)))
    (if key
        (key-description (vconcat (kbd swank-mcp-question-key) key))
      (format "M-x %s" command))))

(defun swank-mcp--question-status (question)
  "Return the line about how to answer QUESTION."
  (if (swank-mcp--question-end question)
      (format "This needs no answer any more: %s." (swank-mcp--question-end question))
    (concat (format "%s allows it%s, %s refuses it" (swank-mcp--key #'swank-mcp-allow)
                    (if (swank-mcp--question-in-full question) " (it asks for a yes in full)" "")
                    (swank-mcp--key #'swank-mcp-refuse))
            (if (swank-mcp--question-for-stop question)
                (format ", %s allows it until the stop ends" (swank-mcp--key #'swank-mcp-allow-for-stop))
              "")
            ".")))

(defun swank-mcp--insert-question (question)
  "Insert all of QUESTION."
  (insert (propertize (swank-mcp--question-sentence question) 'face 'swank-mcp-heading) "\n"
          (swank-mcp--question-status question) "\n")
  (pcase-dolist (`(,label ,text) (swank-mcp--question-particulars question))
    (insert "\n" (propertize label 'face 'bold) ":")
    (insert (if (string-match-p "\n" text) "\n" " ")
            (if (swank-mcp--code-label-p label) (swank-mcp--fontified text) text)
            "\n"))
  (when (swank-mcp--question-circumstances question)
    (insert "\n" (string-join (swank-mcp--question-circumstances question) "\n") "\n")))

;; No key of this buffer answers: you may have come here by C-x o or a
;; click, and type on for another buffer.
(define-derived-mode swank-mcp-question-mode special-mode "Question"
  "Major mode of the buffer that shows what an agent asks you to allow.
\\<swank-mcp--question-map>\\[swank-mcp-allow] allows it, \\[swank-mcp-refuse] refuses it.")

(defun swank-mcp--fill-question-buffer (question)
  "Return the question buffer, with the text of QUESTION."
  (with-current-buffer (get-buffer-create swank-mcp--question-buffer)
    (unless (derived-mode-p 'swank-mcp-question-mode) (swank-mcp-question-mode))
    (let ((inhibit-read-only t)
          (same (eq question swank-mcp--shown)))
      (erase-buffer)
      (swank-mcp--insert-question question)
      (goto-char (point-min))
      (unless same
        (setq swank-mcp--shown question
              swank-mcp--shown-at nil)
        (dolist (window (get-buffer-window-list nil 'never t)) (set-window-start window (point-min)))))
    (current-buffer)))

(defun swank-mcp--fit-window (window)
  "Give WINDOW the height of its text, up to a third of its frame."
  (fit-window-to-buffer window (max 4 (/ (frame-height (window-frame window)) 3)) 3))

(defconst swank-mcp--display-action
  '((display-buffer-in-side-window display-buffer-no-window)
    (side . bottom)
    (slot . 9)
    (window-height . swank-mcp--fit-window)
    (window-parameters . ((no-other-window . t)))
    (allow-no-window . t))
  "How a question is displayed: in a window that `other-window' skips.
Where there is no room for one, it stays in the mode line.")

(defun swank-mcp--display-question (question)
  "Show QUESTION in a window, and select nothing."
  (let ((buffer (swank-mcp--fill-question-buffer question))
        (frame (swank-mcp--person-frame)))
    (unless (swank-mcp--question-windows)
      (with-current-buffer buffer
        (setq swank-mcp--shown-in frame
              swank-mcp--shown-at nil))
      (if (eq frame (selected-frame))
          (display-buffer buffer swank-mcp--display-action)
        (with-selected-frame frame (display-buffer buffer swank-mcp--display-action))))
    (mapc #'swank-mcp--fit-window
          (cl-remove-if-not (lambda (window) (window-parameter window 'window-side)) (swank-mcp--question-windows)))
    (swank-mcp--note-shown)))

(defun swank-mcp--to-display-p (question)
  "Return non-nil if QUESTION has not been displayed, or its frame is gone."
  (not (and (eq question (swank-mcp--shown-question))
            (frame-live-p (buffer-local-value 'swank-mcp--shown-in (get-buffer swank-mcp--question-buffer))))))

(defun swank-mcp--note-shown ()
  "Note since when the question buffer is in a window."
  (when (swank-mcp--question-windows)
    (with-current-buffer swank-mcp--question-buffer
      (unless swank-mcp--shown-at (setq swank-mcp--shown-at (float-time))))))

(defun swank-mcp--hide-question ()
  "Delete the windows of a question that has ended, and its buffer.
One that you have selected stays, so that your keys reach nothing else."
  (let ((buffer (get-buffer swank-mcp--question-buffer)))
    (when buffer
      (swank-mcp--fill-question-buffer (buffer-local-value 'swank-mcp--shown buffer))
      (dolist (window (get-buffer-window-list buffer 'never t))
        (unless (eq window (frame-selected-window (window-frame window)))
          (if (eq 'window (car (window-parameter window 'quit-restore)))
              (ignore-errors (delete-window window))
            (switch-to-prev-buffer window 'bury))))
      (unless (get-buffer-window-list buffer 'never t) (kill-buffer buffer)))))

;;;; Showing one question after the other

(defun swank-mcp--watch-questions (&optional delay)
  "Look whether there is a question to show or to remove, soon or after DELAY."
  (unless swank-mcp--question-timer
    (setq swank-mcp--question-timer (run-at-time (or delay 0.1) nil #'swank-mcp--look-at-questions))))

(defun swank-mcp--look-at-questions ()
  "Show the oldest question, or remove the one that has ended.
While a minibuffer is active, no window changes, because its end restores
the windows that were there before."
  (setq swank-mcp--question-timer nil)
  (let ((question (swank-mcp--next-question))
        (shown (swank-mcp--shown-question)))
    (cond (question (setq swank-mcp--asking (float-time)))
          ((and swank-mcp--asking (> (- (float-time) swank-mcp--asking) swank-mcp--late-seconds))
           (setq swank-mcp--asking nil)))
    (cond ((and question (not (and swank-mcp-confirm swank-mcp-mode (swank-mcp--person-frame))))
           (mapc (lambda (each) (swank-mcp--send-answer each :pass)) (swank-mcp--all-questions)))
          ((active-minibuffer-window))
          ((and question (swank-mcp--to-display-p question)) (swank-mcp--display-question question))
          (question (swank-mcp--note-shown))
          (shown (swank-mcp--hide-question)))
    (when (or swank-mcp--asking (swank-mcp--shown-question)) (swank-mcp--watch-questions 0.3))))

;;;###autoload
(defun swank-mcp-show-question ()
  "Show the agent's question, and go to its window."
  (interactive)
  (let ((question (or (swank-mcp--next-question) (user-error "No agent asks"))))
    (swank-mcp--display-question question)
    (let ((window (car (swank-mcp--question-windows))))
      (if window
          (select-window window)
        (pop-to-buffer swank-mcp--question-buffer '((display-buffer-pop-up-window display-buffer-same-window)))
        (swank-mcp--note-shown)))))

;;;; Answering

(defun swank-mcp--question-to-answer ()
  "Return the question that you see.  Signal an error if you see none."
  (let ((question (or (swank-mcp--next-question) (user-error "No agent asks"))))
    (unless (and (eq question (swank-mcp--shown-question)) (swank-mcp--question-windows))
      (swank-mcp--display-question question)
      (unless (swank-mcp--question-windows) (swank-mcp-show-question))
      (user-error "Read the question first, then answer it"))
    question))

(defun swank-mcp--check-read (question)
  "Signal an error if you cannot have read QUESTION yet."
  (let ((since (buffer-local-value 'swank-mcp--shown-at (get-buffer swank-mcp--question-buffer))))
    (when (or executing-kbd-macro
              (not (eq question (swank-mcp--shown-question)))
              (null since)
              (< (- (float-time) since) swank-mcp-confirm-delay))
      (user-error "Read the question first, then answer it"))))

(defun swank-mcp--allow (answer)
  "Give ANSWER, a yes, to the question that you see."
  (let ((question (swank-mcp--question-to-answer)))
    (swank-mcp--check-read question)
    (when (and (eq answer :stop) (not (swank-mcp--question-for-stop question)))
      (user-error "This is about no stop; %s allows it once" (swank-mcp--key #'swank-mcp-allow)))
    (when (swank-mcp--question-in-full question)
      (let ((enable-recursive-minibuffers t))
        (unless (equal "yes" (read-string (format "%s.  Type yes to allow it: " (swank-mcp--question-sentence question))))
          (user-error "Not allowed yet; %s refuses it" (swank-mcp--key #'swank-mcp-refuse)))))
    (when (swank-mcp--question-end question)
      (user-error "Too late: %s" (swank-mcp--question-end question)))
    (swank-mcp--send-answer question answer)
    (message "Agent %s: allowed" (swank-mcp--question-agent question))))

;;;###autoload
(defun swank-mcp-allow ()
  "Allow what the agent asks for.
To end your Lisp, you must also type yes."
  (interactive)
  (swank-mcp--allow :yes))

(defun swank-mcp-allow-for-stop ()
  "Allow what the agent asks for, and the same until the stop ends."
  (interactive)
  (swank-mcp--allow :stop))

;;;###autoload
(defun swank-mcp-refuse ()
  "Refuse what the agent asks for."
  (interactive)
  (let ((question (swank-mcp--question-to-answer)))
    (swank-mcp--send-answer question :no)
    (message "Agent %s: refused" (swank-mcp--question-agent question))))

(provide 'swank-mcp-confirm)

;;; swank-mcp-confirm.el ends here
