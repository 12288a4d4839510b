;;; swank-mcp-tests.el --- What the tests ask of swank-mcp.el  -*- lexical-binding: t -*-

(require 'slime)

(defvar swank-mcp-test-messages '()
  "All messages that Lisps have sent, latest first.")

(defun swank-mcp-test-record (message)
  "Record MESSAGE, and leave it to SLIME."
  (push message swank-mcp-test-messages)
  nil)

(add-hook 'slime-event-hooks #'swank-mcp-test-record)

(defun swank-mcp-test-received-p (event)
  "Whether a Lisp has sent EVENT, a keyword."
  (and (cl-some (lambda (message) (and (eq (car message) :channel-send) (eq (car (nth 2 message)) event)))
                swank-mcp-test-messages)
       t))

(defun swank-mcp-test-greeted-p ()
  "Whether every Lisp has answered its announcement."
  (and swank-mcp--lisps
       (cl-every (lambda (process)
                   (let ((slime-dispatching-connection process)) (null (slime-rex-continuations))))
                 slime-net-processes)))

(defun swank-mcp-test-open-calls ()
  "How many calls of agents have not ended, after at least one has begun."
  (let ((calls (cl-mapcan (lambda (lisp) (copy-sequence (swank-mcp--lisp-calls lisp))) swank-mcp--lisps)))
    (and calls (cl-count-if-not #'swank-mcp--call-status calls))))

(defun swank-mcp-test-prompt ()
  "What the minibuffer asks for an agent and can be answered, or an empty string."
  (if (and swank-mcp--posed
           (active-minibuffer-window)
           (> (- (float-time) swank-mcp--posed-at) swank-mcp-confirm-idle))
      (with-current-buffer (window-buffer (active-minibuffer-window))
        (substring-no-properties (minibuffer-prompt)))
    ""))

;;; swank-mcp-tests.el ends here
