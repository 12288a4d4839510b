;;; swank-mcp-ide.el --- SLIME or SLY, whichever you use  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; The other files name functions and variables as SLIME does, and forms
;; for the Lisp name Swank.  This file finds the same thing in SLY, which
;; comes from SLIME, and in Slynk.  What SLY does in another way is here,
;; too, or says (swank-mcp--sly-p) where it is.

;;; Code:

(require 'cl-lib)

(defcustom swank-mcp-ide nil
  "The environment for Lisp in which you work: `slime', `sly', or nil.
Nil means the one that is loaded, or else installed; SLIME, if both are."
  :type '(choice (const :tag "The one that is there" nil) (const slime) (const sly))
  :group 'swank-mcp)

(defun swank-mcp--ide ()
  "Return `slime' or `sly', and load it."
  (or (cl-find-if #'featurep (if swank-mcp-ide (list swank-mcp-ide) '(slime sly)))
      (cl-find-if (lambda (ide) (require ide nil t)) (if swank-mcp-ide (list swank-mcp-ide) '(slime sly)))
      (user-error "Package swank-mcp needs %s" (or swank-mcp-ide "SLIME or SLY"))))

(defun swank-mcp--sly-p ()
  "Return non-nil if you use SLY."
  (eq (swank-mcp--ide) 'sly))

;;;; Names

(defconst swank-mcp--sly-names
  '((slime-display-threads . sly--display-threads)
    (swank::connection.socket-io . slynk::connection-socket-io))
  "Names of SLIME and Swank, and those of SLY and Slynk that no rule gives.")

(defun swank-mcp--sly-name (name)
  "Return the symbol of SLY or of Slynk for NAME, a symbol of SLIME or of Swank."
  (or (cdr (assq name swank-mcp--sly-names))
      (let ((text (symbol-name name))
            (case-fold-search nil))
        (cond ((string-match "\\`slime-" text) (intern (replace-match "sly-" t t text)))
              ((string-match "\\`sldb-" text) (intern (replace-match "sly-db-" t t text)))
              ((string-match "\\`swank:" text) (intern (replace-match "slynk:" t t text)))
              (t name)))))

(defun swank-mcp--name (name)
  "Return the symbol for NAME, a symbol of SLIME, in the environment that you use."
  (if (swank-mcp--sly-p) (swank-mcp--sly-name name) name))

(defun swank-mcp--call (name &rest arguments)
  "Call the function NAME of SLIME with ARGUMENTS."
  (apply (swank-mcp--name name) arguments))

(defun swank-mcp--value (name)
  "Return the value of the variable NAME of SLIME."
  (symbol-value (swank-mcp--name name)))

(defmacro swank-mcp--with-connection (process &rest body)
  "Run BODY with PROCESS as the current connection."
  (declare (indent 1) (debug t))
  `(cl-progv (list (swank-mcp--name 'slime-dispatching-connection)) (list ,process) ,@body))

;;;; Forms for the Lisp

(defun swank-mcp--in-slynk (form)
  "Return FORM with the names of Slynk."
  (cond ((consp form) (cons (swank-mcp--in-slynk (car form)) (swank-mcp--in-slynk (cdr form))))
        ((and form (symbolp form)) (swank-mcp--sly-name form))
        (t form)))

(defun swank-mcp--form (form)
  "Return FORM, which names Swank, for the Lisp of the environment that you use.
Slynk takes SWANK in any name for its own, also in that of a keyword, so it
gets the form as a text."
  (if (not (swank-mcp--sly-p))
      form
    (let ((text (let (print-escape-nonascii print-escape-newlines print-length print-level)
                  (prin1-to-string (swank-mcp--in-slynk form)))))
      `(cl:eval (cl:with-standard-io-syntax
                 (cl:let ((cl:*package* slynk::*slynk-io-package*)) (cl:read-from-string ,text)))))))

(defun swank-mcp--agent-test ()
  "Return the form that is true in the Lisp if connection is an agent's."
  (if (swank-mcp--sly-p)
      '(cl:let ((own (cl:get :swank-client :slynk-streams))) (cl:and own (cl:gethash connection own)))
    '(cl:typep (swank::connection.user-output connection) 'cl:synonym-stream)))

(defun swank-mcp--secret-name ()
  "Return the name of the file of the secret, in the home folder."
  (if (swank-mcp--sly-p) ".sly-secret" ".slime-secret"))

;;;; Compiling

(defvar swank-mcp--compile-function nil
  "What to call with the start and the end of text before it is compiled.")

(defun swank-mcp--before-sly-region (start end &rest _)
  "Call `swank-mcp--compile-function' with START and END of a text."
  (when swank-mcp--compile-function (funcall swank-mcp--compile-function start end)))

(defun swank-mcp--before-sly-file (&rest _)
  "Call `swank-mcp--compile-function' before the buffer's file is compiled.
It is to be saved first, as SLY would do next."
  (when (and swank-mcp--compile-function buffer-file-name)
    (check-parens)
    (when (and (buffer-modified-p)
               (or (not compilation-ask-about-save)
                   (y-or-n-p (format "Save file %s? " buffer-file-name))))
      (save-buffer))
    (funcall swank-mcp--compile-function (point-min) (point-max))))

(defun swank-mcp--call-before-compiling (function)
  "Call FUNCTION with the start and the end of text before it is compiled.
If FUNCTION is nil, do so no more."
  (let ((earlier swank-mcp--compile-function))
    (setq swank-mcp--compile-function function)
    (cond ((swank-mcp--sly-p)
           ;; SLY has no hook
           (advice-add 'sly-compile-region :before #'swank-mcp--before-sly-region)
           (advice-add 'sly-compile-file :before #'swank-mcp--before-sly-file)
           (unless function
             (advice-remove 'sly-compile-region #'swank-mcp--before-sly-region)
             (advice-remove 'sly-compile-file #'swank-mcp--before-sly-file)))
          (t (remove-hook 'slime-before-compile-functions earlier)
             (when function (add-hook 'slime-before-compile-functions function))))))

;;;; The debugger

(defun swank-mcp--frame-at-point ()
  "Return the number of the frame at point, in a debugger, or nil."
  (if (swank-mcp--sly-p)
      (let ((field (get-text-property (point) 'field)))
        (and (integerp field) field))
    (car (get-text-property (point) 'frame))))

(defun swank-mcp--shown-sly-frames ()
  "Return (NUMBER . START) of the frames whose variables are on display, in SLY."
  (let ((frames '())
        (button (next-button (point-min) t)))
    (while button
      (when (and (eq (button-type button) 'sly-db-frame)
                 (swank-mcp--call 'sldb-frame-details-region button))
        (push (cons (button-get button 'frame-number) (button-start button)) frames))
      (setq button (next-button button)))
    (nreverse frames)))

(defun swank-mcp--shown-slime-frames ()
  "Return (NUMBER . START) of the frames whose variables are on display, in SLIME."
  (let ((frames '())
        (position (point-min)))
    (while (setq position (text-property-any position (point-max) 'details-visible-p t))
      (push (cons (car (get-text-property position 'frame)) position) frames)
      (setq position (or (next-single-property-change position 'frame) (point-max))))
    (nreverse frames)))

(defun swank-mcp--shown-frames ()
  "Return (NUMBER . START) of the frames whose variables are on display."
  (if (swank-mcp--sly-p) (swank-mcp--shown-sly-frames) (swank-mcp--shown-slime-frames)))

;; The functions for a person's keys would wait for the Lisp, and scroll
;; the selected window.

(defun swank-mcp--draw-sly-frame (details)
  "Show DETAILS, the variables and catch tags of the frame at point, in SLY."
  (let ((button (swank-mcp--call 'sldb-frame-button-near-point)))
    (swank-mcp--call 'sldb-hide-frame-details button)
    (cl-letf (((symbol-function 'sly-eval) (lambda (&rest _) details))
              ((symbol-function 'sly-recenter) #'ignore))
      (swank-mcp--call 'sldb-show-frame-details button))))

(defun swank-mcp--draw-slime-frame (details)
  "Show DETAILS, the variables and catch tags of the frame at point, in SLIME."
  (let ((start-and-end (swank-mcp--call 'sldb-frame-region))
        (frame (get-text-property (point) 'frame)))
    (cl-letf (((symbol-function 'sldb-frame-details)
               (lambda () (append start-and-end (list frame) details)))
              ((symbol-function 'slime--display-region) #'ignore))
      (swank-mcp--call 'sldb-show-frame-details))))

(defun swank-mcp--draw-frame (details)
  "Show DETAILS, the variables and catch tags of the frame at point."
  (if (swank-mcp--sly-p) (swank-mcp--draw-sly-frame details) (swank-mcp--draw-slime-frame details)))

;;;; The list of threads

(defun swank-mcp--threads-buffer (arguments)
  "Return the buffer of the list of threads, or nil.
ARGUMENTS are those of the function that updates it."
  (if (swank-mcp--sly-p)
      (or (car arguments) (current-buffer))
    (get-buffer (swank-mcp--value 'slime-threads-buffer-name))))

(provide 'swank-mcp-ide)

;;; swank-mcp-ide.el ends here
