;;; swank-mcp-threads.el --- Agents in your list of threads  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; The list of threads of SLIME or SLY names the agent and the code of each
;; worker that runs an agent's code.

;;; Code:

(require 'cl-lib)
(require 'swank-mcp)

(defvar swank-mcp--workers '()
  "((THREAD AGENT LINE) ...) for the list of threads that is being made.")

(defun swank-mcp--named-threads (arguments)
  "Return ARGUMENTS, with names of agents, for the display of threads."
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

(defun swank-mcp--name-workers (update &rest arguments)
  "Ask the Lisp which threads run code of agents, then call UPDATE.
UPDATE is the function for updating the list of threads, and ARGUMENTS
are its arguments."
  (let* ((buffer (swank-mcp--threads-buffer arguments))
         (process (and buffer (with-current-buffer buffer (swank-mcp--call 'slime-connection))))
         (lisp (and process (swank-mcp--lisp-of process))))
    (if (not lisp)
        (apply update arguments)
      (swank-mcp--request lisp
                          (lambda (answers)
                            (setq swank-mcp--workers (apply #'append answers))
                            (when (buffer-live-p buffer) (apply update (and (swank-mcp--sly-p) (list buffer)))))
                          :workers))))

(provide 'swank-mcp-threads)

;;; swank-mcp-threads.el ends here
