;;; swank-mcp-ask.el --- Ask agents to look at something  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; `swank-mcp-ask' leaves a note about what is at point: a stop in the
;; debugger, the region, or a symbol.  The agent reads it with its next
;; answer.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'swank-mcp)

(defun swank-mcp--stop-at-point ()
  "Return the stop of this debugger, with the frame at point."
  (let ((frame (swank-mcp--frame-at-point)))
    (concat (format "%s/%s" (swank-mcp--value 'slime-current-thread) (swank-mcp--value 'sldb-level))
            (if frame (format ", frame %d" frame) ""))))

(defun swank-mcp--line-at (position)
  "Return the file or the buffer with the line of POSITION."
  (format "%s:%d" (or (buffer-file-name) (buffer-name)) (line-number-at-pos position)))

(defun swank-mcp--place-at-point ()
  "Return what is at point as a text for agents, or nil."
  (cond ((derived-mode-p (swank-mcp--name 'sldb-mode)) (swank-mcp--stop-at-point))
        ((use-region-p)
         (format "%s:\n%s" (swank-mcp--line-at (region-beginning))
                 (buffer-substring-no-properties (region-beginning) (region-end))))
        ((swank-mcp--call 'slime-symbol-at-point)
         (format "%s, %s" (swank-mcp--call 'slime-symbol-at-point) (swank-mcp--line-at (point))))
        ((buffer-file-name) (swank-mcp--line-at (point)))))

(defun swank-mcp--agent-names (lisp)
  "Return the names of the agents in LISP."
  (cl-mapcan (lambda (agents) (copy-sequence (nth 2 agents))) (swank-mcp--lisp-agents lisp)))

(defun swank-mcp--read-agent (names)
  "Ask for one of NAMES, or for all, which is nil."
  (when (cdr names)
    (let ((name (completing-read "Agent (empty for all): " names nil t)))
      (unless (string-empty-p name) name))))

(defun swank-mcp--read-request (place)
  "Ask for a request about PLACE."
  (read-string (if place
                   (format "Ask agents about %s: " (car (split-string place "\n")))
                 "Ask agents: ")))

;;;###autoload
(defun swank-mcp-ask (text &optional agent place)
  "Ask agents in the current Lisp for TEXT, about PLACE.
AGENT is the name of one, or nil for all.  Interactively, PLACE is the
stop and the frame in the debugger, the region, or the symbol at point.
An agent reads it with its next answer, and in `lisp-status'."
  (interactive
   (let ((names (swank-mcp--agent-names (swank-mcp--current-lisp)))
         (place (swank-mcp--place-at-point)))
     (unless names (user-error "No agent is connected"))
     (list (swank-mcp--read-request place) (swank-mcp--read-agent names) place)))
  (swank-mcp--request
   (swank-mcp--current-lisp)
   (lambda (answers)
     (let ((names (apply #'append answers)))
       (message "%s" (if names
                         (format (if (cdr names) "%s read it with their next answers." "%s reads it with the next answer.")
                                 (string-join names " and "))
                       "No agent is connected."))))
   :ask-agents agent (if (string-empty-p (string-trim text)) "please look" text) place))

(provide 'swank-mcp-ask)

;;; swank-mcp-ask.el ends here
