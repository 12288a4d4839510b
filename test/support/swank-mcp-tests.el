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

(defun swank-mcp-test-question ()
  "The question that a person can read and answer, or an empty string."
  (let ((buffer (get-buffer swank-mcp--question-buffer)))
    (or (and buffer
             (swank-mcp--question-windows)
             (with-current-buffer buffer
               (and swank-mcp--shown-at
                    (not (swank-mcp--question-end swank-mcp--shown))
                    (> (- (float-time) swank-mcp--shown-at) swank-mcp-confirm-delay)
                    (buffer-substring-no-properties (point-min) (point-max)))))
        "")))

(defvar swank-mcp-test-answers '()
  "The answers that this Emacs has sent, except those that pass a question on.")

(advice-add 'swank-mcp--send-answer :before
            (lambda (_question answer) (unless (eq answer :pass) (push answer swank-mcp-test-answers))))

(defun swank-mcp-test-answers ()
  "The answers that this Emacs has sent, latest first."
  swank-mcp-test-answers)

(defun swank-mcp-test-reset ()
  "Forget what a test has recorded, set, and had ignored."
  (setq swank-mcp-test-messages '()
        swank-mcp-test-answers '()
        swank-mcp-kept-calls 200
        swank-mcp--ended-calls '()
        swank-mcp--ignored '()
        swank-mcp--warned nil))

;;; swank-mcp-tests.el ends here
