;;; swank-mcp-threads.el --- Agents in SLIME's list of threads  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; The list of threads of SLIME names the agent and the code of each
;; worker that runs an agent's code.

;;; Code:

(require 'cl-lib)
(require 'slime)
(require 'swank-mcp)

(defvar swank-mcp--workers '()
  "((THREAD AGENT LINE) ...) for the list of threads that is being made.")

(defun swank-mcp--named-threads (arguments)
  "Return ARGUMENTS of `slime-display-threads' with names of agents."
  (cl-destructuring-bind ((labels . threads) &rest others) arguments
    (let ((name (cl-position :name labels)))
      `((,labels
         . ,(mapcar (lambda (thread)
                      (pcase (assoc (car thread) swank-mcp--workers)
                        (`(,_ ,agent ,line)
                         (let ((named (copy-sequence thread)))
                           (setf (nth name named) (format "%s %s: %s" (nth name named) agent line))
                           named))
                        (_ thread)))
                    threads))
        . ,others))))

(defun swank-mcp--name-workers (update)
  "Ask the Lisp which threads run code of agents, then call UPDATE.
UPDATE is the function for updating the list of threads."
  (let* ((buffer (get-buffer slime-threads-buffer-name))
         (process (and buffer (with-current-buffer buffer (slime-connection))))
         (lisp (and process (swank-mcp--lisp-of process))))
    (if (not lisp)
        (funcall update)
      (swank-mcp--request lisp
                          (lambda (answers)
                            (setq swank-mcp--workers (apply #'append answers))
                            (when (buffer-live-p buffer) (funcall update)))
                          :workers))))

(provide 'swank-mcp-threads)

;;; swank-mcp-threads.el ends here
