;;; swank-mcp-transcript.el --- Live transcript of what agents do  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; The buffer *swank-mcp* shows each call of each agent: its time and
;; agent, its code, what it printed, and its values or the error.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'swank-mcp)

(defface swank-mcp-heading '((t :inherit bold))
  "Face of the line above each call in the transcript."
  :group 'swank-mcp)

(defface swank-mcp-output '((t :inherit font-lock-string-face))
  "Face of what the code of agents printed."
  :group 'swank-mcp)

(defface swank-mcp-error '((t :inherit error))
  "Face of errors of agents in the transcript."
  :group 'swank-mcp)

(defconst swank-mcp--buffer-name "*swank-mcp*"
  "The name of the transcript's buffer.")

(defvar swank-mcp--dirty '()
  "The calls that have changed since the transcript was drawn.
The symbol `all' stands for all calls.")

(defvar swank-mcp--timer nil
  "The timer that draws the transcript soon, or nil.")

(defvar-local swank-mcp--only-agent nil
  "The name of the only agent whose calls the transcript shows, or nil.")

;;;; Text of a call

(defun swank-mcp--fontified (code)
  "Return CODE with the faces of `lisp-mode'."
  (with-temp-buffer
    (insert code)
    (delay-mode-hooks (lisp-mode))
    (ignore-errors (font-lock-ensure))
    (buffer-string)))

(defun swank-mcp--code-text (call)
  "Return the fontified code of CALL."
  (or (swank-mcp--call-fontified call)
      (setf (swank-mcp--call-fontified call)
            (swank-mcp--fontified (string-trim (swank-mcp--call-code call))))))

(defun swank-mcp--status-text (call)
  "Return the end of the heading of CALL."
  (let ((begun (swank-mcp--call-begun call))
        (ended (swank-mcp--call-ended call)))
    (pcase (swank-mcp--call-status call)
      ('nil (if (swank-mcp--call-stop call)
                (pcase-let ((`(,thread ,level . ,_) (swank-mcp--call-stop call)))
                  (propertize (format "stopped at %s/%s" thread level) 'face 'swank-mcp-stopped))
              (if (equal (swank-mcp--call-operation call) "approval")
                  (propertize "asking" 'face 'swank-mcp-asking)
                (propertize "running" 'face 'swank-mcp-running))))
      (:returned (if ended (format "%.2f s" (- ended begun)) ""))
      (status (propertize (substring (symbol-name status) 1) 'face 'swank-mcp-error)))))

(defun swank-mcp--heading (call)
  "Return the heading of CALL, a line."
  (concat (propertize (format "%s %s%s"
                              (format-time-string "%T" (swank-mcp--call-begun call))
                              (swank-mcp--call-agent call)
                              (if (equal (swank-mcp--call-operation call) "evaluate")
                                  ""
                                (format " (%s)" (swank-mcp--call-operation call))))
                      'face 'swank-mcp-heading)
          "  " (swank-mcp--status-text call)))

(defun swank-mcp--body (call)
  "Return the lines below the heading of CALL."
  (let ((output (or (swank-mcp--call-output call) ""))
        (result (or (swank-mcp--call-result call) ""))
        (stop (swank-mcp--call-stop call)))
    (concat (swank-mcp--code-text call) "\n"
            (unless (string-empty-p output)
              (concat (propertize (string-trim-right output "\n+") 'face 'swank-mcp-output) "\n"))
            (when stop (concat (propertize (nth 2 stop) 'face 'swank-mcp-stopped) "\n"))
            (unless (string-empty-p result)
              (concat (if (memq (swank-mcp--call-status call) '(:returned))
                          result
                        (propertize result 'face 'swank-mcp-error))
                      "\n")))))

;;;; Drawing

(defun swank-mcp--insert-call (call)
  "Insert CALL at point, and remember where."
  (let ((start (point)))
    (insert (swank-mcp--heading call) "\n")
    (let ((body (point)))
      (insert (swank-mcp--body call) "\n")
      (when (swank-mcp--call-folded call)
        (swank-mcp--fold body (1- (point)))))
    (put-text-property start (point) 'swank-mcp-call call)
    ;; a call before this one may be drawn again, up to this marker
    (setf (swank-mcp--call-start call) (copy-marker start t)
          (swank-mcp--call-end call) (copy-marker (point)))))

(defun swank-mcp--fold (start end)
  "Hide the text from START to END."
  (let ((overlay (make-overlay start end)))
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'invisible 'swank-mcp)))

(defun swank-mcp--shown-p (call)
  "Return non-nil if CALL is to be in the transcript."
  (or (null swank-mcp--only-agent)
      (equal swank-mcp--only-agent (swank-mcp--call-agent call))))

(defun swank-mcp--drawn-p (call)
  "Return non-nil if CALL is in the current buffer."
  (let ((start (swank-mcp--call-start call)))
    (and (markerp start)
         (eq (marker-buffer start) (current-buffer))
         (eq (get-text-property start 'swank-mcp-call) call))))

(defun swank-mcp--erase-call (call)
  "Delete the text of CALL, and go there."
  (goto-char (swank-mcp--call-start call))
  (remove-overlays (point) (swank-mcp--call-end call) 'invisible 'swank-mcp)
  (delete-region (point) (swank-mcp--call-end call)))

(defun swank-mcp--redraw-call (call)
  "Draw CALL, which has changed, where it is, or at the end if it is new.
One that is not kept any more disappears."
  (cond ((not (memq call (swank-mcp--all-calls)))
         (when (swank-mcp--drawn-p call) (swank-mcp--erase-call call)))
        ((not (swank-mcp--shown-p call)))
        ((swank-mcp--drawn-p call)
         (swank-mcp--erase-call call)
         (swank-mcp--insert-call call))
        (t (goto-char (point-max))
           (swank-mcp--insert-call call))))

(defun swank-mcp--earlier-text ()
  "Return the text of the header line."
  (let ((earlier (apply #'+ (mapcar #'swank-mcp--lisp-earlier swank-mcp--lisps))))
    (if (> earlier 0)
        (format "%d earlier call%s not kept" earlier (if (= earlier 1) " is" "s are"))
      "")))

(defun swank-mcp--redraw-all ()
  "Draw the transcript of every Lisp, oldest first."
  (remove-overlays)
  (erase-buffer)
  (mapc #'swank-mcp--insert-call
        (cl-sort (cl-remove-if-not #'swank-mcp--shown-p (swank-mcp--all-calls))
                 #'< :key #'swank-mcp--call-begun)))

(defun swank-mcp--place ()
  "Return the call at point and the offset of point in it."
  (let ((call (swank-mcp--call-at-point)))
    (and call (cons call (- (point) (swank-mcp--call-start call))))))

(defun swank-mcp--go-to-place (place)
  "Go to PLACE, which `swank-mcp--place' has returned."
  (pcase-let ((`(,call . ,offset) place))
    (when (swank-mcp--drawn-p call)
      (goto-char (min (+ (swank-mcp--call-start call) offset) (1- (swank-mcp--call-end call)))))))

(defun swank-mcp--draw ()
  "Draw what has changed.  A cursor at the end of the transcript stays there."
  (setq swank-mcp--timer nil)
  (let ((changed (prog1 swank-mcp--dirty (setq swank-mcp--dirty '())))
        (buffer (get-buffer swank-mcp--buffer-name)))
    (when buffer
      (with-current-buffer buffer
        (let* ((inhibit-read-only t)
               (ends (cl-remove-if-not (lambda (window) (= (window-point window) (point-max)))
                                       (get-buffer-window-list buffer nil t)))
               (at-end (eobp))
               (place (swank-mcp--place)))
          (if (memq 'all changed)
              (swank-mcp--redraw-all)
            (mapc #'swank-mcp--redraw-call (reverse changed)))
          (cond (at-end (goto-char (point-max)))
                (place (swank-mcp--go-to-place place)))
          (dolist (window ends) (set-window-point window (point-max))))))))

(defun swank-mcp--update-transcript (_lisp call)
  "Draw CALL soon, or everything if CALL is nil."
  (when (get-buffer swank-mcp--buffer-name)
    (cl-pushnew (or call 'all) swank-mcp--dirty)
    (unless swank-mcp--timer
      (setq swank-mcp--timer (run-at-time 0.05 nil #'swank-mcp--draw)))))

;;;; Commands

(defun swank-mcp--call-at-point ()
  "Return the call at point, or nil."
  (get-text-property (point) 'swank-mcp-call))

(defun swank-mcp-next (&optional count)
  "Go to the heading of the next call, or the COUNTth next."
  (interactive "p")
  (dotimes (_ (or count 1))
    (goto-char (or (next-single-property-change (point) 'swank-mcp-call) (point-max)))))

(defun swank-mcp-previous (&optional count)
  "Go to the heading of this or the previous call, COUNT times."
  (interactive "p")
  (dotimes (_ (or count 1))
    (goto-char (or (previous-single-property-change (point) 'swank-mcp-call) (point-min)))))

(defun swank-mcp-toggle ()
  "Hide or show everything but the heading of the call at point."
  (interactive)
  (let ((call (or (swank-mcp--call-at-point) (user-error "There is no call here")))
        (inhibit-read-only t))
    (setf (swank-mcp--call-folded call) (not (swank-mcp--call-folded call)))
    (swank-mcp--redraw-call call)
    (goto-char (swank-mcp--call-start call))))

(defun swank-mcp-toggle-all ()
  "Hide all but the headings, or show all if everything is hidden."
  (interactive)
  (let* ((calls (swank-mcp--all-calls))
         (fold (cl-notevery #'swank-mcp--call-folded calls)))
    (dolist (call calls) (setf (swank-mcp--call-folded call) fold))
    (swank-mcp-redraw)))

(defun swank-mcp-redraw ()
  "Draw the whole transcript."
  (interactive)
  (let ((inhibit-read-only t)
        (place (swank-mcp--place)))
    (swank-mcp--redraw-all)
    (if place (swank-mcp--go-to-place place) (goto-char (point-max)))))

(defun swank-mcp-copy-code ()
  "Copy the code of the call at point, as if killed."
  (interactive)
  (let ((call (or (swank-mcp--call-at-point) (user-error "There is no call here"))))
    (kill-new (swank-mcp--call-code call))
    (message "Copied %d characters" (length (swank-mcp--call-code call)))))

(defun swank-mcp-only-agent (name)
  "Show only what the agent NAME does, or all agents if NAME is empty."
  (interactive
   (list (completing-read "Agent (empty for all): "
                          (delete-dups (mapcar #'swank-mcp--call-agent (swank-mcp--all-calls))))))
  (setq swank-mcp--only-agent (unless (string-empty-p name) name))
  (swank-mcp-redraw))

(defvar swank-mcp-transcript-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "n") #'swank-mcp-next)
    (define-key map (kbd "p") #'swank-mcp-previous)
    (define-key map (kbd "TAB") #'swank-mcp-toggle)
    (define-key map (kbd "<backtab>") #'swank-mcp-toggle-all)
    (define-key map (kbd "w") #'swank-mcp-copy-code)
    (define-key map (kbd "f") #'swank-mcp-only-agent)
    (define-key map (kbd "g") #'swank-mcp-redraw)
    (define-key map (kbd "K") #'swank-mcp-kick)
    map)
  "Keys of the transcript.")

(define-derived-mode swank-mcp-transcript-mode special-mode "Agents"
  "Major mode of the transcript of what agents do.
\\<swank-mcp-transcript-mode-map>\\[swank-mcp-next] and \\[swank-mcp-previous] go from call to call, \\[swank-mcp-toggle] hides
one, and \\[swank-mcp-kick] throws all agents out.

\\{swank-mcp-transcript-mode-map}"
  (setq-local truncate-lines nil)
  (setq header-line-format '(:eval (swank-mcp--earlier-text)))
  (add-to-invisibility-spec '(swank-mcp . t)))

;;;###autoload
(defun swank-mcp-transcript ()
  "Show what the agents in the Lisps of SLIME do, and have done."
  (interactive)
  (unless swank-mcp-mode (swank-mcp-mode 1))
  (with-current-buffer (get-buffer-create swank-mcp--buffer-name)
    (unless (derived-mode-p 'swank-mcp-transcript-mode)
      (swank-mcp-transcript-mode)
      (swank-mcp-redraw)
      (goto-char (point-max))))
  (pop-to-buffer swank-mcp--buffer-name))

(provide 'swank-mcp-transcript)

;;; swank-mcp-transcript.el ends here
