;;; swank-mcp-changes.el --- What lives in the Lisp and not in its file  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; `swank-mcp-changes' lists every definition that lives in the Lisp and
;; not in its file, as a diff, and lets you apply it to the file's buffer
;; or revert it in the Lisp.  Compiling or loading a file whose
;; definitions agents have changed since shows the diff first, and does
;; it when you press the key again; compiling one such definition says so.

;;; Code:

(require 'cl-lib)
(require 'diff)
(require 'diff-mode)
(require 'subr-x)
(require 'swank-mcp)

(defcustom swank-mcp-confirm-compile t
  "Whether Emacs heeds what agents have changed in the Lisp when you compile.
Compiling and loading a file must then be repeated if that undoes changes
of agents, and compiling a definition says that it has replaced one."
  :type 'boolean
  :group 'swank-mcp)

(defcustom swank-mcp-compare-seconds 2
  "Seconds that compiling waits for the comparison of a file with the Lisp."
  :type 'number
  :group 'swank-mcp)

(defconst swank-mcp--changes-buffer "*swank-mcp changes*"
  "The name of the buffer that lists definitions.")

(defvar swank-mcp--ignored '()
  "((NAME . TEXT) ...) of the definitions that are not to be listed.")

(defvar-local swank-mcp--changes-lisp nil
  "The Lisp whose definitions this buffer lists.")

(defvar-local swank-mcp--changes-file nil
  "The only file whose definitions this buffer lists, or nil.")

;;;; Asking the Lisp

(defun swank-mcp--fetch-changes (lisp file receive &optional attempts)
  "Call RECEIVE with what differs from FILE, or from all files, in LISP.
It gets a list of plists, or a text that says why there is none.
While a client of an agent loads what is needed, ask again, ATTEMPTS times."
  (swank-mcp--request
   lisp
   (lambda (answers)
     (let ((changes (cl-find :changes answers :key #'car))
           (attempts (or attempts 100)))
       (cond (changes (funcall receive (nth 1 changes)))
             ((and (assq :loading answers) (> attempts 0))
              (run-at-time 0.3 nil #'swank-mcp--fetch-changes lisp file receive (1- attempts)))
             (t (funcall receive (if (assq :file-not-found answers)
                                     '()
                                   "No agent is connected that could compare the Lisp with its files"))))))
   :changes (and file (swank-mcp--call 'slime-to-lisp-filename file))))

(defun swank-mcp--ignored-p (change)
  "Return non-nil if CHANGE is not to be listed."
  (member (cons (plist-get change :name) (plist-get change :text)) swank-mcp--ignored))

;;;; Places of definitions

(defun swank-mcp--change-file (change)
  "Return the name of the file of CHANGE, or nil."
  (let ((file (plist-get change :path)))
    (and file (swank-mcp--call 'slime-from-lisp-filename file))))

(defun swank-mcp--change-span (change)
  "Return (START . END) of the definition of CHANGE in its file's buffer.
That is current.  Return nil if the buffer has another text by now."
  (let ((text (plist-get change :file-text))
        (case-fold-search nil))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (forward-line (1- (or (plist-get change :line) 1)))
        (when (or (search-forward text nil t)
                  (progn (goto-char (point-min)) (search-forward text nil t)))
          (cons (match-beginning 0) (match-end 0)))))))

(defun swank-mcp--visit-file (change)
  "Return the buffer of the file of CHANGE."
  (find-file-noselect (or (swank-mcp--change-file change) (user-error "No file has %s" (plist-get change :name)))))

;;;; Drawing

(defun swank-mcp--diff (old new)
  "Return the lines of the difference from OLD to NEW."
  (let ((files (list (make-temp-file "old") (make-temp-file "new")))
        (coding-system-for-write 'utf-8)
        (coding-system-for-read 'utf-8)
        ;; that of the current buffer may not exist any more
        (default-directory temporary-file-directory))
    (unwind-protect
        (progn
          (cl-mapc (lambda (file text) (write-region (if (string-empty-p text) "" (concat (string-trim-right text) "\n")) nil file nil 'silent))
                   files (list old new))
          (with-temp-buffer
            (call-process diff-command nil t nil "-U" "1000" (car files) (cadr files))
            (goto-char (point-min))
            (forward-line 3)
            (buffer-substring (point) (point-max))))
      (mapc #'delete-file files))))

(defun swank-mcp--line-face (line)
  "Return the face of LINE of a difference."
  (pcase (and (> (length line) 0) (aref line 0))
    (?+ 'diff-added)
    (?- 'diff-removed)
    (_ 'diff-context)))

(defun swank-mcp--insert-change (change)
  "Insert CHANGE at point."
  (let ((start (point))
        (new (or (plist-get change :text) ";; its text is not known"))
        (old (plist-get change :file-text)))
    (insert (propertize (format "%s %s" (substring (symbol-name (or (plist-get change :kind) :form)) 1) (plist-get change :name))
                        'face 'diff-hunk-header)
            (if (eq (plist-get change :state) :conflict) "  the file has changed, too" "")
            (if (plist-get change :of-agent) "  by an agent" "")
            "\n")
    (dolist (line (split-string (swank-mcp--diff (or old "") new) "\n" t))
      (insert (propertize line 'face (swank-mcp--line-face line)) "\n"))
    (insert "\n")
    (put-text-property start (point) 'swank-mcp-change change)))

(defun swank-mcp--insert-changes (entries)
  "Insert ENTRIES, by file."
  (let ((file 'none))
    (dolist (change entries)
      (unless (equal file (swank-mcp--change-file change))
        (setq file (swank-mcp--change-file change))
        (insert (propertize (if file (abbreviate-file-name file) "in no file") 'face 'diff-file-header) "\n\n"))
      (swank-mcp--insert-change change))))

(defun swank-mcp--draw-changes (lisp file entries)
  "Return the buffer with a list of ENTRIES, which are of LISP.
If FILE is non-nil, they are of that file."
  (with-current-buffer (get-buffer-create swank-mcp--changes-buffer)
    (unless (derived-mode-p 'swank-mcp-changes-mode) (swank-mcp-changes-mode))
    (let ((inhibit-read-only t)
          (line (line-number-at-pos)))
      (erase-buffer)
      (setq swank-mcp--changes-lisp lisp
            swank-mcp--changes-file file)
      (if entries
          (swank-mcp--insert-changes entries)
        (insert "All definitions are as in their files.\n"))
      (goto-char (point-min))
      (forward-line (1- line)))
    (current-buffer)))

(defun swank-mcp--show-changes (lisp file)
  "List in a buffer what differs from FILE, or from all files, in LISP."
  (swank-mcp--fetch-changes
   lisp file
   (lambda (changes)
     (if (stringp changes)
         (message "%s" changes)
       (display-buffer (swank-mcp--draw-changes lisp file (cl-remove-if #'swank-mcp--ignored-p changes)))))))

;;;; Commands

(defun swank-mcp--change-at-point ()
  "Return the definition at point."
  (or (get-text-property (point) 'swank-mcp-change) (user-error "There is no definition here")))

(defun swank-mcp-next-change ()
  "Go to the next definition."
  (interactive)
  (let ((position (next-single-property-change (point) 'swank-mcp-change)))
    (while (and position (not (get-text-property position 'swank-mcp-change)))
      (setq position (next-single-property-change position 'swank-mcp-change)))
    (if position (goto-char position) (user-error "This is the last definition"))))

(defun swank-mcp-previous-change ()
  "Go to the beginning of this definition, or to the previous one."
  (interactive)
  (let ((position (previous-single-property-change (point) 'swank-mcp-change)))
    (while (and position (not (get-text-property position 'swank-mcp-change)))
      (setq position (previous-single-property-change position 'swank-mcp-change)))
    (if position (goto-char position) (user-error "This is the first definition"))))

(defun swank-mcp-visit-change ()
  "Visit the definition at point in its file."
  (interactive)
  (let* ((change (swank-mcp--change-at-point))
         (buffer (swank-mcp--visit-file change))
         (span (with-current-buffer buffer (swank-mcp--change-span change))))
    (pop-to-buffer buffer)
    (when span
      (unless (<= (point-min) (car span) (point-max)) (widen))
      (goto-char (car span)))))

(defun swank-mcp--forget-change (change)
  "Remove CHANGE from the current buffer."
  (let ((inhibit-read-only t)
        (start (text-property-any (point-min) (point-max) 'swank-mcp-change change)))
    (when start
      (delete-region start (or (next-single-property-change start 'swank-mcp-change) (point-max))))))

(defun swank-mcp-apply-change ()
  "Put the definition at point into the buffer of its file.
A definition that no file has is put at the end of a file that you name."
  (interactive)
  (let* ((change (swank-mcp--change-at-point))
         (text (or (plist-get change :text) (user-error "The text of %s is not known" (plist-get change :name))))
         (file (or (swank-mcp--change-file change) (read-file-name "At the end of file: "))))
    (with-current-buffer (find-file-noselect file)
      (save-excursion
        (save-restriction
          (widen)
          (let ((span (if (plist-get change :file-text)
                          (or (swank-mcp--change-span change) (user-error "The buffer of %s has another text by now" file))
                        (cons (point-max) (point-max)))))
            (goto-char (car span))
            (if (plist-get change :file-text)
                (delete-region (car span) (cdr span))
              (insert (if (bolp) "" "\n") "\n"))
            (insert (string-trim-right text))
            (unless (plist-get change :file-text) (insert "\n"))))))
    (swank-mcp--forget-change change)
    (message "%s is in the buffer of %s, which is not saved." (plist-get change :name) (file-name-nondirectory file))))

(defun swank-mcp-revert-change ()
  "Evaluate the text of the file of the definition at point again.
A function or macro that no file has is undefined."
  (interactive)
  (let* ((change (swank-mcp--change-at-point))
         (name (plist-get change :name)))
    (swank-mcp--with-connection (swank-mcp--lisp-process swank-mcp--changes-lisp)
      (cond ((plist-get change :file-text)
             (with-current-buffer (swank-mcp--visit-file change)
               (save-restriction
                 (widen)
                 (let ((span (or (swank-mcp--change-span change) (user-error "The buffer has another text by now")))
                       (swank-mcp-confirm-compile nil))
                   (swank-mcp--call 'slime-compile-region (car span) (cdr span))))))
            ((not (memq (plist-get change :kind) '(:function :macro)))
             (user-error "Only functions and macros can be undefined"))
            ((y-or-n-p (format "No file has %s.  Undefine it? " name))
             (swank-mcp--call 'slime-eval-async (swank-mcp--form `(swank:undefine-function ,name))
                              (lambda (answer) (message "%s" answer))
                              "COMMON-LISP-USER"))
            (t (user-error "Not reverted"))))
    (swank-mcp--forget-change change)))

(defun swank-mcp-ignore-change ()
  "Do not list the definition at point again while it has this text."
  (interactive)
  (let ((change (swank-mcp--change-at-point)))
    (push (cons (plist-get change :name) (plist-get change :text)) swank-mcp--ignored)
    (swank-mcp--forget-change change)))

(defun swank-mcp-refresh-changes ()
  "List the definitions again."
  (interactive)
  (swank-mcp--show-changes swank-mcp--changes-lisp swank-mcp--changes-file))

(defvar swank-mcp-changes-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "n") #'swank-mcp-next-change)
    (define-key map (kbd "p") #'swank-mcp-previous-change)
    (define-key map (kbd "RET") #'swank-mcp-visit-change)
    (define-key map (kbd "a") #'swank-mcp-apply-change)
    (define-key map (kbd "r") #'swank-mcp-revert-change)
    (define-key map (kbd "i") #'swank-mcp-ignore-change)
    (define-key map (kbd "g") #'swank-mcp-refresh-changes)
    map)
  "Keys of the list of definitions.")

(define-derived-mode swank-mcp-changes-mode special-mode "Changes"
  "Major mode of the list of definitions that are not in their files.

\\{swank-mcp-changes-mode-map}")

;;;###autoload
(defun swank-mcp-changes ()
  "List what lives in the current Lisp and not in its file, by file, as diffs."
  (interactive)
  (swank-mcp--show-changes (swank-mcp--current-lisp) nil))

;;;; Compiling and loading

(defun swank-mcp--changes-now (lisp file)
  "Return what differs from FILE in LISP, a list of plists.
Return a text that says why that is not known, at the latest after
`swank-mcp-compare-seconds'."
  (let ((end (+ (float-time) swank-mcp-compare-seconds))
        (answers 'none))
    (swank-mcp--request lisp (lambda (all) (setq answers all)) :changes (swank-mcp--call 'slime-to-lisp-filename file))
    (while (and (eq answers 'none)
                (process-live-p (swank-mcp--lisp-process lisp))
                (< (float-time) end))
      (accept-process-output nil 0.02))
    (cond ((eq answers 'none) "the Lisp has not answered in time")
          ((assq :changes answers) (nth 1 (assq :changes answers)))
          ((assq :file-not-found answers) '())
          ((assq :loading answers) "the agent's client has not loaded the comparison yet")
          (t "no agent is connected that could compare them"))))

(defvar swank-mcp--warned nil
  "((FILE COMMAND) . CHANGES) that Emacs has shown instead of compiling, or nil.")

(defun swank-mcp--warn-of-undoing (lisp file lost command does done)
  "Show LOST, which COMMAND on FILE would remove from LISP, if any.
Signal an error, unless that was the last warning, so that COMMAND must
be repeated.  DOES and DONE are its verbs.  Nothing is asked: you may be
typing on."
  (let ((warning (cons (list file command) (mapcar (lambda (entry) (cons (plist-get entry :name) (plist-get entry :text))) lost))))
    (cond ((null lost))
          ((equal warning swank-mcp--warned)
           (setq swank-mcp--warned nil)
           (let ((window (get-buffer-window swank-mcp--changes-buffer)))
             (when (and window (not (eq window (selected-window)))) (quit-window nil window))))
          (t (setq swank-mcp--warned warning)
             (display-buffer (swank-mcp--draw-changes lisp file lost) '(nil (inhibit-same-window . t)))
             (user-error "Not %s: it would undo what agents have changed in the Lisp, %s%s.  %s again %s it anyway"
                         done
                         (plist-get (car lost) :name)
                         (if (cdr lost) (format " and %d more" (length (cdr lost))) "")
                         (substitute-command-keys (format "\\[%s]" command))
                         does)))))

(defun swank-mcp--of-agents (entries)
  "Select those of ENTRIES, from `swank-mcp--fetch-changes', that agents made.
There is none if ENTRIES is a text."
  (and (listp entries) (cl-remove-if-not (lambda (entry) (plist-get entry :of-agent)) entries)))

(defun swank-mcp--lisp-to-ask (file)
  "Return the Lisp in which agents may have changed FILE, or nil."
  (let ((lisp (and swank-mcp-confirm-compile swank-mcp-mode file (swank-mcp--call 'slime-connected-p)
                   (swank-mcp--lisp-of (swank-mcp--call 'slime-connection)))))
    (and lisp (swank-mcp--lisp-calls lisp) lisp)))

(defun swank-mcp--before-compiling (start end)
  "Heed what agents have changed before the text from START to END is compiled.
For the whole buffer, warn; for a part of it, say what that has replaced."
  (let ((lisp (swank-mcp--lisp-to-ask buffer-file-name)))
    (when lisp
      (let* ((changes (swank-mcp--changes-now lisp buffer-file-name))
             (lost (swank-mcp--of-agents changes))
             (text (buffer-substring-no-properties start end)))
        (cond ((stringp changes)
               (message "Compiling without a look at what agents have changed: %s" changes))
              ((and (= start (point-min)) (= end (point-max)))
               (swank-mcp--warn-of-undoing lisp buffer-file-name lost
                                           (swank-mcp--name 'slime-compile-and-load-file) "compiles" "compiled"))
              (lost
               (swank-mcp--after-compiling (lambda () (swank-mcp--report-replaced lost text)))))))))

(defun swank-mcp--before-loading (file)
  "Warn before FILE is loaded if agents have changed its definitions since."
  (let* ((file (expand-file-name file))
         (lisp (swank-mcp--lisp-to-ask file))
         (changes (and lisp (swank-mcp--changes-now lisp file))))
    (if (stringp changes)
        (message "Loading without a look at what agents have changed: %s" changes)
      (swank-mcp--warn-of-undoing lisp file (swank-mcp--of-agents changes) (swank-mcp--name 'slime-load-file) "loads" "loaded"))))

(defun swank-mcp--prepare-comparison (lisp call)
  "Let LISP get ready to compare its definitions with files.
Do so once, after CALL, the first one of an agent that may have defined
something, so that compiling need not wait."
  (when (and call
             (not (swank-mcp--lisp-prepared lisp))
             (swank-mcp--call-ended call)
             (let ((case-fold-search t)) (string-match-p "(def" (or (swank-mcp--call-code call) ""))))
    (setf (swank-mcp--lisp-prepared lisp) t)
    (when (memq (swank-mcp--lisp-process lisp) (swank-mcp--value 'slime-net-processes))
      (swank-mcp--request lisp #'ignore :prepare-changes))))

(defun swank-mcp--heads (text)
  "Return the beginnings of the definitions in TEXT, such as \"(defun f\"."
  (let ((heads '())
        (start 0))
    (while (string-match "^(\\(def[^() \t\n]*\\)[ \t\n]+\\(([^()]*)\\|[^() \t\n]+\\)" text start)
      (setq start (match-end 0))
      (push (downcase (format "(%s %s" (match-string 1 text) (match-string 2 text))) heads))
    heads))

(defun swank-mcp--report-replaced (entries text)
  "Say which of ENTRIES have been replaced when TEXT was compiled."
  (let* ((heads (swank-mcp--heads text))
         (replaced (cl-remove-if-not (lambda (entry)
                                       (cl-intersection heads (swank-mcp--heads (or (plist-get entry :text) "")) :test #'equal))
                                     entries)))
    (when replaced
      (message "This has replaced %s of an agent.  M-x swank-mcp-transcript still has its code."
               (mapconcat (lambda (entry) (plist-get entry :name)) replaced ", ")))))

(defun swank-mcp--after-compiling (function)
  "Call FUNCTION once, after the next compilation."
  (let ((hook (swank-mcp--name 'slime-compilation-finished-hook))
        once)
    (setq once (lambda (&rest _)
                 (remove-hook hook once)
                 (funcall function)))
    (add-hook hook once t)))

(provide 'swank-mcp-changes)

;;; swank-mcp-changes.el ends here
