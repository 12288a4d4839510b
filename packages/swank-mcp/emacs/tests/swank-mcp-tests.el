;;; swank-mcp-tests.el --- Tests of swank-mcp.el that need no Lisp  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `npm test' reports each test.  The tests of test/emacs use a real Lisp.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'slime)
(require 'swank-mcp)
(require 'swank-mcp-ask)
(require 'swank-mcp-changes)
(require 'swank-mcp-confirm)
(require 'swank-mcp-door)
(require 'swank-mcp-threads)
(require 'swank-mcp-transcript)

(defun swank-mcp-tests--plist (number &rest others)
  "Return what a Lisp sends about call NUMBER, with OTHERS before."
  (append others
          (list :number number :revision 0 :agent "claude" :operation "evaluate" :code "(+ 1 2)"
                :begun (+ 1000.0 number) :output "" :result "")))

(defmacro swank-mcp-tests--with-lisp (&rest body)
  "Evaluate BODY with the only LISP, whose events are drawn at once."
  (declare (indent 0))
  `(let* ((lisp (swank-mcp--make-lisp 'process))
          (swank-mcp--lisps (list lisp))
          (swank-mcp--dirty '())
          (swank-mcp--timer nil)
          (swank-mcp--ended-calls '())
          (swank-mcp-change-hook (list #'swank-mcp--update-transcript)))
     (with-current-buffer (get-buffer-create swank-mcp--buffer-name)
       (unwind-protect
           (progn (swank-mcp-transcript-mode) ,@body)
         (when swank-mcp--timer (cancel-timer swank-mcp--timer))
         (kill-buffer)))))

(defun swank-mcp-tests--text ()
  "Return the visible text of the transcript, without times of day."
  (swank-mcp--draw)
  (let ((text ""))
    (cl-loop for position from (point-min) below (point-max)
             unless (invisible-p position)
             do (setq text (concat text (string (char-after position)))))
    (replace-regexp-in-string "^[0-9:]\\{8\\} " "" text)))

(ert-deftest swank-mcp-tests-state ()
  "The state is that of the agent that needs attention most."
  (swank-mcp-tests--with-lisp
    (should-not (swank-mcp--state lisp))
    (swank-mcp--on-agents lisp '("A" 1 ("claude")))
    (should (eq 'idle (swank-mcp--state lisp)))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (should (eq 'running (swank-mcp--state lisp)))
    (swank-mcp--on-stop lisp 1 1 '(7 1 "oops"))
    (should (eq 'stopped (swank-mcp--state lisp)))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 2))
    (should (eq 'running (swank-mcp--state lisp)))
    (swank-mcp--on-end lisp 2 2 :returned "=> 3" 1003.0)
    (swank-mcp--on-resume lisp 1 3)
    (should (eq 'running (swank-mcp--state lisp)))
    (swank-mcp--on-end lisp 1 4 :aborted "Aborted." 1004.0)
    (should (eq 'idle (swank-mcp--state lisp)))))

(ert-deftest swank-mcp-tests-mode-line ()
  "The mode line shows the state, and nothing without agents."
  (swank-mcp-tests--with-lisp
    (should-not (swank-mcp--mode-line))
    (swank-mcp--on-agents lisp '("A" 1 ("claude")))
    (should (equal "agent idle" (substring-no-properties (nth 1 (swank-mcp--mode-line)))))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (should (eq 'swank-mcp-running (get-text-property 0 'face (nth 1 (swank-mcp--mode-line)))))))

(ert-deftest swank-mcp-tests-agents ()
  "An old list of agents does not replace a newer one, and runtimes have separate lists."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-agents lisp '("A" 5 ()))
    (swank-mcp--on-agents lisp '("A" 4 ("gone")))
    (should-not (swank-mcp--state lisp))
    (swank-mcp--on-agents lisp '("B" 3 ("other")))
    (should (eq 'idle (swank-mcp--state lisp)))))

(ert-deftest swank-mcp-tests-old-calls ()
  "Only the latest calls are kept."
  (swank-mcp-tests--with-lisp
    (let ((swank-mcp-kept-calls 3))
      (dotimes (number 5) (swank-mcp--on-begin lisp (swank-mcp-tests--plist number)))
      (should (equal '(4 3 2) (mapcar #'swank-mcp--call-number (swank-mcp--lisp-calls lisp)))))))

(ert-deftest swank-mcp-tests-transcript ()
  "A call is drawn with code, output and result, and changes in its place."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 2 :code "(sleep 1)" :operation "set-breakpoint"))
    (should (equal "claude  running\n(+ 1 2)\n\nclaude (set-breakpoint)  running\n(sleep 1)\n\n"
                   (swank-mcp-tests--text)))
    (swank-mcp--on-output lisp 1 5 "hello\n")
    (swank-mcp--on-stop lisp 2 6 '(7 1 "oops"))
    (swank-mcp--on-end lisp 1 7 :returned "=> 3" 1001.5)
    (should (equal (concat "claude  0.50 s\n(+ 1 2)\nhello\n=> 3\n\n"
                           "claude (set-breakpoint)  stopped at 7/1\n(sleep 1)\noops\n\n")
                   (swank-mcp-tests--text)))))

(ert-deftest swank-mcp-tests-fontified ()
  "Code has the faces of Lisp."
  (let ((code (swank-mcp--fontified "(defun f () \"text\")")))
    (should (eq 'font-lock-keyword-face (get-text-property 1 'face code)))))

(ert-deftest swank-mcp-tests-folding ()
  "A folded call shows only its heading, also after it has changed."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 2))
    (swank-mcp--draw)
    (goto-char (point-min))
    (swank-mcp-toggle)
    (should (equal "claude  running\n\nclaude  running\n(+ 1 2)\n\n" (swank-mcp-tests--text)))
    (swank-mcp--on-end lisp 1 8 :returned "=> 3" 1001.25)
    (should (equal "claude  0.25 s\n\nclaude  running\n(+ 1 2)\n\n" (swank-mcp-tests--text)))
    (swank-mcp-toggle-all)
    (should (equal "claude  0.25 s\n\nclaude  running\n\n" (swank-mcp-tests--text)))
    (swank-mcp-toggle-all)
    (should (string-match-p "=> 3" (swank-mcp-tests--text)))))

(ert-deftest swank-mcp-tests-forgotten ()
  "Calls that are not kept leave the transcript, too."
  (swank-mcp-tests--with-lisp
    (let ((swank-mcp-kept-calls 2))
      (dotimes (number 4)
        (swank-mcp--on-begin lisp (swank-mcp-tests--plist number :code (format "(call %d)" number)))
        (swank-mcp--draw))
      (should (equal "claude  running\n(call 2)\n\nclaude  running\n(call 3)\n\n" (swank-mcp-tests--text))))))

(ert-deftest swank-mcp-tests-ended-lisp ()
  "The calls of a Lisp that has ended stay in the transcript, until a new connection to it sends them again."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 2 :revision 1 :status :returned :result "=> 3" :ended 1002.5))
    (swank-mcp--draw)
    (swank-mcp--forget 'process)
    (let ((text (concat "claude  lost\n(+ 1 2)\nThe connection of Emacs to the Lisp ended.\n\n"
                        "claude  0.50 s\n(+ 1 2)\n=> 3\n\n")))
      (should (equal text (swank-mcp-tests--text)))
      (swank-mcp-redraw)
      (should (equal text (swank-mcp-tests--text))))
    (let ((again (swank-mcp--make-lisp 'again)))
      (push again swank-mcp--lisps)
      (swank-mcp--take-ledger again (list :agents '("A" 9 ()) :calls (list (swank-mcp-tests--plist 1))))
      (should (equal "claude  running\n(+ 1 2)\n\nclaude  0.50 s\n(+ 1 2)\n=> 3\n\n" (swank-mcp-tests--text))))))

(ert-deftest swank-mcp-tests-moving ()
  "n and p go from heading to heading, and w copies the code there."
  (swank-mcp-tests--with-lisp
    (dotimes (number 3)
      (swank-mcp--on-begin lisp (swank-mcp-tests--plist number :code (format "(call %d)" number))))
    (swank-mcp--draw)
    (goto-char (point-min))
    (swank-mcp-next 2)
    (swank-mcp-copy-code)
    (should (equal "(call 2)" (current-kill 0)))
    (swank-mcp-previous)
    (swank-mcp-copy-code)
    (should (equal "(call 1)" (current-kill 0)))))

(ert-deftest swank-mcp-tests-only-agent ()
  "The transcript can show one agent."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 2 :agent "codex"))
    (swank-mcp--draw)
    (swank-mcp-only-agent "codex")
    (should (equal "codex  running\n(+ 1 2)\n\n" (swank-mcp-tests--text)))
    (swank-mcp-only-agent "")
    (should (string-prefix-p "claude" (swank-mcp-tests--text)))))

(ert-deftest swank-mcp-tests-ledger ()
  "A ledger that comes later adds what is missing, in order."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 3))
    (swank-mcp--take-ledger lisp (list :agents '("A" 1 ("claude"))
                                       :calls (list (swank-mcp-tests--plist 1) (swank-mcp-tests--plist 3))))
    (should (equal '(3 1) (mapcar #'swank-mcp--call-number (swank-mcp--lisp-calls lisp))))
    (should (eq 'running (swank-mcp--state lisp)))))

(ert-deftest swank-mcp-tests-late-ledger ()
  "A ledger that is older than an event undoes nothing, and an event that it contains counts once."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--on-end lisp 1 1 :returned "=> 3" 1001.5)
    (swank-mcp--take-ledger lisp (list :agents '("A" 1 ()) :calls (list (swank-mcp-tests--plist 1))))
    (should (eq :returned (swank-mcp--call-status (swank-mcp--find-call lisp 1))))
    (swank-mcp--take-ledger lisp (list :agents '("A" 1 ()) :calls (list (swank-mcp-tests--plist 2 :revision 1 :output "once"))))
    (swank-mcp--on-output lisp 2 1 "once")
    (should (equal "once" (swank-mcp--call-output (swank-mcp--find-call lisp 2))))))

(ert-deftest swank-mcp-tests-forget ()
  "Calls of a Lisp whose connection ends are lost."
  (swank-mcp-tests--with-lisp
    (swank-mcp--on-agents lisp '("A" 1 ("claude")))
    (swank-mcp--on-begin lisp (swank-mcp-tests--plist 1))
    (swank-mcp--forget 'process)
    (should-not swank-mcp--lisps)
    (should-not (swank-mcp--state lisp))
    (should (eq :lost (swank-mcp--call-status (swank-mcp--find-call lisp 1))))))

;;;; Requests

(ert-deftest swank-mcp-tests-request-threads ()
  "A request from a debugger's buffer does not go to the thread of that debugger, which may be of another Lisp."
  (let* ((process (make-pipe-process :name "lisp" :buffer (generate-new-buffer "lisp") :noquery t))
         (lisp (swank-mcp--make-lisp process))
         (swank-mcp--lisps (list lisp))
         (swank-mcp-change-hook '())
         (threads '()))
    (unwind-protect
        (cl-letf (((symbol-function 'slime-dispatch-event) (lambda (event &rest _) (push (nth 3 event) threads))))
          (with-temp-buffer
            (setf (swank-mcp--lisp-channel lisp)
                  (let ((slime-dispatching-connection process))
                    (slime-make-channel swank-mcp--events "test")))
            (setq-local slime-current-thread 7)
            (swank-mcp--announce lisp)
            (swank-mcp--request lisp #'ignore :answer 1 :no)
            (swank-mcp--leave lisp))
          (should (equal '(t t t) threads)))
      (kill-buffer (process-buffer process)))))

(ert-deftest swank-mcp-tests-names ()
  "With SLY, names are those of SLY and Slynk, and the Lisp gets a form as a text, because Slynk takes SWANK in any name for its own."
  (cl-letf (((symbol-function 'swank-mcp--ide) (lambda () 'sly)))
    (should (equal '(sly-eval-async sly-db-level sly--display-threads)
                   (mapcar #'swank-mcp--name '(slime-eval-async sldb-level slime-display-threads))))
    (should (member "(slynk:f (cl:get :swank-mcp \"swank:g\") slynk::*v*)"
                    (flatten-tree (swank-mcp--form '(swank:f (cl:get :swank-mcp "swank:g") swank::*v*)))))
    (let ((swank-mcp-program "/opt/swank-mcp")
          (swank-mcp-secret-file nil))
      (should (string-match-p "--attach 4005 --secret-file .*/\\.sly-secret\\'" (swank-mcp--client-command "Codex" 4005)))))
  (should (equal '(swank:f 1) (swank-mcp--form '(swank:f 1))))
  (should (eq 'slime-eval (swank-mcp--name 'slime-eval))))

(ert-deftest swank-mcp-tests-ide ()
  "The environment is the one that is chosen, or loaded; none is an error for the user."
  (should (eq 'slime (swank-mcp--ide)))
  (let ((swank-mcp-ide 'sly)
        (load-path '()))
    (should-error (swank-mcp--ide) :type 'user-error)))

(ert-deftest swank-mcp-tests-options ()
  "Every option has a type that the customization of Emacs 27 knows."
  (mapatoms (lambda (symbol)
              (when (string-prefix-p "swank-mcp" (symbol-name symbol))
                (should-not (memq 'natnum (flatten-tree (get symbol 'custom-type))))))))

(ert-deftest swank-mcp-tests-threads ()
  "Workers are named by their number, wherever the columns are."
  (let ((swank-mcp--workers '((7 "claude" "(sleep 1)"))))
    (should (equal '(((:id :name :status) (5 "main" "Running") (7 "worker claude: (sleep 1)" "Running")))
                   (swank-mcp--named-threads
                    '(((:id :name :status) (5 "main" "Running") (7 "worker" "Running"))))))))

(ert-deftest swank-mcp-tests-client-command ()
  "The command for a client names the program with its arguments."
  (let ((swank-mcp-program "/opt/my tools/swank-mcp"))
    (should (equal "claude mcp add lisp -- /opt/my\\ tools/swank-mcp --attach 4005"
                   (swank-mcp--client-command "Claude Code" 4005)))
    (should (equal "gemini mcp add lisp /opt/my\\ tools/swank-mcp -- --attach 4005"
                   (swank-mcp--client-command "Gemini CLI" 4005)))
    (should (equal "/opt/my\\ tools/swank-mcp --attach 7" (swank-mcp--client-command "other" 7)))))

(ert-deftest swank-mcp-tests-program ()
  "The program is the one that is configured, beside the package, or on the path; otherwise nothing is copied."
  (let ((folder (make-temp-file "swank-mcp" t))
        (swank-mcp-program nil))
    (unwind-protect
        (cl-letf (((symbol-function 'locate-library) (lambda (&rest _) (expand-file-name "elpa/swank-mcp.el" folder))))
          (let ((exec-path '("/no/such/folder")))
            (should-error (swank-mcp--client-command "Codex" 4005) :type 'user-error))
          (let ((exec-path (list folder))
                (program (expand-file-name "swank-mcp" folder)))
            (write-region "#!/bin/sh\n" nil program nil 'silent)
            (set-file-modes program #o755)
            (should (equal (format "codex mcp add lisp -- %s --attach 4005" program)
                           (swank-mcp--client-command "Codex" 4005)))))
      (delete-directory folder t))))

(ert-deftest swank-mcp-tests-secret ()
  "A secret is made once, for its owner only."
  (let* ((folder (make-temp-file "swank-mcp" t))
         (swank-mcp-secret-file (expand-file-name "secret" folder)))
    (unwind-protect
        (cl-flet ((secret () (with-temp-buffer (insert-file-contents swank-mcp-secret-file) (buffer-string))))
          (swank-mcp--ensure-secret)
          (should (= #o600 (file-modes swank-mcp-secret-file)))
          (should (string-match-p "\\`[0-9a-f]\\{64\\}\n\\'" (secret)))
          (let ((first (secret)))
            (swank-mcp--ensure-secret)
            (should (equal first (secret))))
          (set-file-modes swank-mcp-secret-file #o644)
          (should-error (swank-mcp--ensure-secret) :type 'user-error))
      (delete-directory folder t))))
;;;; Questions

(defun swank-mcp-tests--question (number &rest others)
  "Return what a Lisp sends about question NUMBER, with OTHERS before."
  (append others
          (list :number number :agent "claude" :action "set a breakpoint" :particulars '(("Function" "fact") ("Code" "(f 1)"))
                :circumstances '("In package P") :for-stop nil :asked (+ 1000.0 number) :seconds 60)))

(defmacro swank-mcp-tests--with-questions (&rest body)
  "Evaluate BODY with the only LISP, which keeps its ANSWERS, and no timers.
A person sees the selected frame."
  (declare (indent 0))
  `(let* ((lisp (swank-mcp--make-lisp 'process))
          (swank-mcp--lisps (list lisp))
          (slime-net-processes '(process))
          (swank-mcp-change-hook '())
          (swank-mcp--question-timer 'none)
          (swank-mcp-mode t)
          (swank-mcp--asking nil)
          (swank-mcp--ended-calls '())
          (answers '()))
     (cl-letf (((symbol-function 'swank-mcp--request)
                (lambda (_lisp _receive &rest request) (push request answers)))
               ((symbol-function 'swank-mcp--watch-questions) #'ignore)
               ((symbol-function 'swank-mcp--person-frame) #'selected-frame)
               ((symbol-function 'swank-mcp--real-frame-p) (lambda (_frame) t)))
       (save-window-excursion
         (unwind-protect (progn ,@body)
           (when (get-buffer swank-mcp--question-buffer) (kill-buffer swank-mcp--question-buffer)))))))

(defun swank-mcp-tests--read ()
  "Behave as if the question on display had been there for long."
  (with-current-buffer swank-mcp--question-buffer (setq swank-mcp--shown-at 0.0)))

(ert-deftest swank-mcp-tests-asking ()
  "A question makes the mode line say so until it is withdrawn, and is noted once."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (should (= 1 (length (swank-mcp--all-questions))))
    (should (eq 'asking (swank-mcp--state lisp)))
    (should (equal "agent asking: C-c ? y, n or s" (substring-no-properties (nth 1 (swank-mcp--mode-line)))))
    (swank-mcp--on-withdraw lisp 1 :answered :yes)
    (should-not (swank-mcp--state lisp))
    (should-not answers)))

(ert-deftest swank-mcp-tests-unattended ()
  "An Emacs without a person passes every question on."
  (swank-mcp-tests--with-questions
    (cl-letf (((symbol-function 'swank-mcp--person-frame) #'ignore))
      (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
      (swank-mcp--on-ask lisp (swank-mcp-tests--question 2))
      (swank-mcp--look-at-questions)
      (should (equal '((:answer 2 :pass) (:answer 1 :pass)) answers))
      (should-not (swank-mcp--all-questions)))))

(ert-deftest swank-mcp-tests-answers ()
  "Each command sends its answer to the question on display, and the next one is shown."
  (swank-mcp-tests--with-questions
    (dolist (number '(1 2 3)) (swank-mcp--on-ask lisp (swank-mcp-tests--question number :for-stop t)))
    (dolist (command '(swank-mcp-allow swank-mcp-refuse swank-mcp-allow-for-stop))
      (swank-mcp--look-at-questions)
      (should swank-mcp--asking)
      (swank-mcp-tests--read)
      (funcall command))
    (should (equal '((:answer 3 :stop) (:answer 2 :no) (:answer 1 :yes)) answers))
    (swank-mcp--look-at-questions)
    (should-not (get-buffer swank-mcp--question-buffer))))

(ert-deftest swank-mcp-tests-late-chord ()
  "A chord that comes after its question is still a chord, and answers nothing."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp--look-at-questions)
    (swank-mcp--on-withdraw lisp 1 :stop-gone nil)
    (swank-mcp--look-at-questions)
    (should-error (call-interactively (key-binding (kbd "C-c ? y"))) :type 'user-error)
    (should-not answers)
    (cl-decf swank-mcp--asking (1+ swank-mcp--late-seconds))
    (swank-mcp--look-at-questions)
    (should-not (commandp (key-binding (kbd "C-c ? y"))))))

(ert-deftest swank-mcp-tests-unread ()
  "A yes counts only for a question that is in a window long enough, and not from a keyboard macro."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (should-error (swank-mcp-allow) :type 'user-error)
    (should (swank-mcp--question-windows))
    (should-error (swank-mcp-allow) :type 'user-error)
    (swank-mcp-tests--read)
    (let ((executing-kbd-macro [?y])) (should-error (swank-mcp-allow) :type 'user-error))
    (should-error (swank-mcp-allow-for-stop) :type 'user-error)
    (swank-mcp--on-withdraw lisp 1 :unanswered nil)
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 2))
    (should-error (swank-mcp-allow) :type 'user-error)
    (should-not answers)
    (swank-mcp-tests--read)
    (swank-mcp-allow)
    (should (equal '((:answer 2 :yes)) answers))))

(ert-deftest swank-mcp-tests-in-full ()
  "The end of a Lisp needs a yes in full, for the question that is still open then."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1 :in-full t))
    (swank-mcp--look-at-questions)
    (swank-mcp-tests--read)
    (dolist (typed '("y" "" "no" "YES"))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) typed)))
        (should-error (swank-mcp-allow) :type 'user-error)))
    (should-not answers)
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) (swank-mcp--on-withdraw lisp 1 :gone nil) "yes")))
      (should-error (swank-mcp-allow) :type 'user-error))
    (should-not answers)))

(ert-deftest swank-mcp-tests-windows ()
  "A question takes no window from the person, and its end changes only its own window."
  (swank-mcp-tests--with-questions
    (let ((before (selected-window))
          (buffer (window-buffer)))
      (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
      (swank-mcp--look-at-questions)
      (should (eq before (selected-window)))
      (other-window 1)
      (should (eq before (selected-window)))
      (let ((other (split-window)))
        (set-window-buffer other "*Messages*")
        (swank-mcp--on-withdraw lisp 1 :gone nil)
        (swank-mcp--look-at-questions)
        (should (equal (list buffer (get-buffer "*Messages*")) (mapcar #'window-buffer (list before other))))
        (should-not (get-buffer swank-mcp--question-buffer))))))

(ert-deftest swank-mcp-tests-selected-window ()
  "The window of a question that has ended stays while it is selected, so that keys reach nothing else."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp-show-question)
    (should (equal swank-mcp--question-buffer (buffer-name (window-buffer))))
    (dolist (key '("y" "n" "!")) (should (memq (key-binding key) '(undefined nil))))
    (swank-mcp--on-withdraw lisp 1 :gone nil)
    (swank-mcp--look-at-questions)
    (should (equal swank-mcp--question-buffer (buffer-name (window-buffer))))
    (should (string-match-p "needs no answer" (with-current-buffer swank-mcp--question-buffer (buffer-string))))
    (should-error (swank-mcp-allow) :type 'user-error)
    (other-window 1)
    (swank-mcp--look-at-questions)
    (should-not (get-buffer swank-mcp--question-buffer))))

(ert-deftest swank-mcp-tests-ended-question ()
  "A question ends with the connection of its Lisp."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp--look-at-questions)
    (swank-mcp-tests--read)
    (swank-mcp--forget 'process)
    (should-error (swank-mcp-allow) :type 'user-error)
    (should-not answers)
    (should-not (swank-mcp--all-questions))))

(ert-deftest swank-mcp-tests-question-text ()
  "A question shows everything, and the keys."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1 :particulars '(("Function" "fact") ("Code" "(f\n 1)"))))
    (with-temp-buffer
      (swank-mcp--insert-question (car (swank-mcp--all-questions)))
      (should (equal (concat "Agent claude wants to set a breakpoint\nC-c ? y allows it, C-c ? n refuses it.\n"
                             "\nFunction: fact\n\nCode:\n(f\n 1)\n\nIn package P\n")
                     (buffer-string))))))

(ert-deftest swank-mcp-tests-question-key ()
  "The key of the answers can be chosen, and is bound only for questions."
  (swank-mcp-tests--with-questions
    (let ((before swank-mcp-question-key))
      (unwind-protect
          (progn
            (customize-set-variable 'swank-mcp-question-key "C-c &")
            (should-not (commandp (key-binding (kbd "C-c & y"))))
            (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
            (swank-mcp--look-at-questions)
            (should (eq 'swank-mcp-allow (key-binding (kbd "C-c & y"))))
            (should-not (commandp (key-binding (kbd "C-c ? y")))))
        (customize-set-variable 'swank-mcp-question-key before)))))

;;;; Places and stops

(ert-deftest swank-mcp-tests-places ()
  "A request is about the region, the symbol or the line at point."
  (with-temp-buffer
    (rename-buffer "places.lisp" t)
    (lisp-mode)
    (insert "\n(f my-app::x)\n")
    (goto-char 6)
    (should (equal "my-app::x, places.lisp:2" (swank-mcp--place-at-point)))
    (let ((transient-mark-mode t))
      (goto-char 2)
      (push-mark 4 t t)
      (should (equal "places.lisp:2:\n(f" (swank-mcp--place-at-point))))))

(ert-deftest swank-mcp-tests-asked-agents ()
  "A request goes to all agents by default, and an empty one has a text."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-agents lisp '("A" 1 ("claude" "codex")))
    (cl-letf (((symbol-function 'swank-mcp--current-lisp) (lambda () lisp)))
      (should (equal '("claude" "codex") (swank-mcp--agent-names lisp)))
      (swank-mcp-ask " ")
      (swank-mcp-ask "why?" "codex" "7/1")
      (should (equal '((:ask-agents "codex" "why?" "7/1") (:ask-agents nil "please look" nil)) answers)))))

;;;; Changes

(defun swank-mcp-tests--change (path &rest others)
  "Return the description of a definition in the file PATH, with OTHERS before."
  (append others (list :name "F" :kind :function :state :differs :of-agent t :path path :line 2
                       :text "(defun f ()\n  2)" :file-text "(defun f ()\n  1)")))

(defmacro swank-mcp-tests--with-changes (text changes &rest body)
  "Evaluate BODY in the list of CHANGES, about FILE with TEXT."
  (declare (indent 2))
  `(let ((file (make-temp-file "changes" nil ".lisp" ,text))
         (swank-mcp--ignored '()))
     (unwind-protect
         (with-current-buffer (swank-mcp--draw-changes nil nil ,changes)
           (goto-char (point-min))
           ,@body)
       (when (get-file-buffer file)
         (with-current-buffer (get-file-buffer file) (set-buffer-modified-p nil))
         (kill-buffer (get-file-buffer file)))
       (kill-buffer swank-mcp--changes-buffer)
       (delete-file file))))

(ert-deftest swank-mcp-tests-diff ()
  "A difference has all lines."
  (should (equal " (a\n-b)\n+c)\n" (swank-mcp--diff "(a\nb)" "(a\nc)")))
  (should (equal "+(a)\n" (swank-mcp--diff "" "(a)")))
  (let ((default-directory "/no/such/folder/"))
    (should (equal "+(a)\n" (swank-mcp--diff "" "(a)")))))

(ert-deftest swank-mcp-tests-apply ()
  "Applying replaces the definition wherever it is in the buffer by now, and removes it from the list."
  (swank-mcp-tests--with-changes ";; first\n\n\n(defun f ()\n  1)\n;; last\n" (list (swank-mcp-tests--change file))
    (swank-mcp-next-change)
    (swank-mcp-apply-change)
    (should (equal ";; first\n\n\n(defun f ()\n  2)\n;; last\n"
                   (with-current-buffer (get-file-buffer file) (buffer-string))))
    (should-error (swank-mcp-next-change))))

(ert-deftest swank-mcp-tests-apply-to-changed-buffer ()
  "A definition whose buffer has another text by now is not applied."
  (swank-mcp-tests--with-changes "(defun f () 3)\n" (list (swank-mcp-tests--change file))
    (swank-mcp-next-change)
    (should-error (swank-mcp-apply-change))
    (should (swank-mcp--change-at-point))))

(ert-deftest swank-mcp-tests-apply-to-narrowed-buffer ()
  "Applying reaches what a narrowed buffer does not show."
  (swank-mcp-tests--with-changes "(defun g () 1)\n\n(defun f ()\n  1)\n"
      (list (swank-mcp-tests--change file) (swank-mcp-tests--change file :name "NEW" :text "(defun new () 1)" :file-text nil))
    (with-current-buffer (find-file-noselect file)
      (narrow-to-region 1 5))
    (swank-mcp-next-change)
    (swank-mcp-apply-change)
    (swank-mcp-apply-change)
    (with-current-buffer (get-file-buffer file)
      (should (buffer-narrowed-p))
      (widen)
      (should (equal "(defun g () 1)\n\n(defun f ()\n  2)\n\n(defun new () 1)\n" (buffer-string))))))

(ert-deftest swank-mcp-tests-visit-narrowed-buffer ()
  "Visiting a definition that a narrowed buffer does not show widens it."
  (swank-mcp-tests--with-changes "(defun g () 1)\n\n(defun f ()\n  1)\n" (list (swank-mcp-tests--change file))
    (with-current-buffer (find-file-noselect file)
      (narrow-to-region 1 5))
    (swank-mcp-next-change)
    (save-window-excursion
      (swank-mcp-visit-change)
      (should (looking-at-p "(defun f")))))

(ert-deftest swank-mcp-tests-apply-to-other-case ()
  "A definition that differs in case by now is another text."
  (swank-mcp-tests--with-changes "(defun f ()\n  #\\A)\n"
      (list (swank-mcp-tests--change file :file-text "(defun f ()\n  #\\a)"))
    (swank-mcp-next-change)
    (should-error (swank-mcp-apply-change))))

(ert-deftest swank-mcp-tests-apply-new ()
  "A definition that no file has is put at the end of a file."
  (swank-mcp-tests--with-changes "(in-package :p)\n" (list (swank-mcp-tests--change nil :file-text nil))
    (swank-mcp-next-change)
    (cl-letf (((symbol-function 'read-file-name) (lambda (&rest _) file)))
      (swank-mcp-apply-change))
    (should (equal "(in-package :p)\n\n(defun f ()\n  2)\n" (with-current-buffer (get-file-buffer file) (buffer-string))))))

(ert-deftest swank-mcp-tests-heads ()
  "Definitions are found by their beginnings, in any case."
  (should (equal '("(defmethod (setf area)" "(defun f") (swank-mcp--heads "(DEFUN f (x)\n  (list x))\n\n(defmethod (setf area) (new old))")))
  (should-not (swank-mcp--heads "(list 1)")))

(ert-deftest swank-mcp-tests-warning ()
  "What agents have changed stops the first compilation of a file, and that only while it is the same."
  (swank-mcp-tests--with-changes "" '()
    (let ((swank-mcp--warned nil)
          (lost (list (swank-mcp-tests--change file))))
      (cl-flet ((warn (lost) (swank-mcp--warn-of-undoing nil file lost 'slime-load-file "loads" "loaded")))
        (warn '())
        (should (string-match-p "^Not loaded: it would undo what agents have changed in the Lisp, F\\.  .* again loads it anyway$"
                                (cadr (should-error (warn lost) :type 'user-error))))
        (warn lost)
        (should-error (warn lost) :type 'user-error)
        (should-error (warn (list (swank-mcp-tests--change file :text "(defun f () 3)"))) :type 'user-error)))))

(ert-deftest swank-mcp-tests-slow-comparison ()
  "A Lisp that does not answer makes nobody wait long."
  (let* ((process (make-pipe-process :name "lisp" :buffer nil :noquery t))
         (lisp (swank-mcp--make-lisp process))
         (swank-mcp-compare-seconds 0.2))
    (unwind-protect
        (cl-letf (((symbol-function 'swank-mcp--request) #'ignore))
          (should (equal "the Lisp has not answered in time" (swank-mcp--changes-now lisp "/f.lisp"))))
      (delete-process process))))

(ert-deftest swank-mcp-tests-ignore ()
  "A definition is ignored until its text changes."
  (swank-mcp-tests--with-changes "" (list (swank-mcp-tests--change file))
    (swank-mcp-next-change)
    (swank-mcp-ignore-change)
    (should (swank-mcp--ignored-p (swank-mcp-tests--change file)))
    (should-not (swank-mcp--ignored-p (swank-mcp-tests--change file :text "(defun f () 4)")))))

(provide 'swank-mcp-tests)

;;; swank-mcp-tests.el ends here
