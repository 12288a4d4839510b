;;; swank-mcp-stops.el --- Agents at the stops of your debugger  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; A debugger says when an agent looks at its stop, and shows at once
;; what the agent has changed in a frame that it shows with its variables.

;;; Code:

(require 'cl-lib)
(require 'swank-mcp)

(defun swank-mcp--redraw-frame (number details)
  "Show DETAILS, the variables and catch tags of frame NUMBER, in this debugger."
  (let ((position (cdr (assq number (swank-mcp--shown-frames))))
        (place (point))
        (inhibit-read-only t))
    (when position
      (save-excursion
        (goto-char position)
        (swank-mcp--draw-frame details))
      (goto-char (min place (point-max))))))

(defun swank-mcp--refresh-frame (number)
  "Ask the Lisp for the variables of frame NUMBER, and show them in this debugger."
  (let ((buffer (current-buffer))
        (level (swank-mcp--value 'sldb-level)))
    (swank-mcp--call 'slime-eval-async (swank-mcp--form `(swank:frame-locals-and-catch-tags ,number))
                     (lambda (details)
                       (when (buffer-live-p buffer)
                         (with-current-buffer buffer
                           (when (eql level (swank-mcp--value 'sldb-level))
                             (swank-mcp--redraw-frame number details))))))))

(defun swank-mcp--on-visit (lisp thread level agent changed)
  "Note in the debugger of THREAD at LEVEL in LISP the visit of AGENT.
If it has evaluated code in a frame, CHANGED is the frame's number."
  (let ((buffer (swank-mcp--call 'sldb-find-buffer thread (swank-mcp--lisp-process lisp))))
    (when buffer
      (with-current-buffer buffer
        (when (eql level (swank-mcp--value 'sldb-level))
          (setq header-line-format
                (format "Agent %s %s" agent
                        (if changed (format "has evaluated code in frame %d" changed) "looks at this stop")))
          (force-mode-line-update)
          (when changed
            (mapc (lambda (frame) (swank-mcp--refresh-frame (car frame))) (swank-mcp--shown-frames))))))))

(provide 'swank-mcp-stops)

;;; swank-mcp-stops.el ends here
