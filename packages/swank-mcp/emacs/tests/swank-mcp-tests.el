;;; swank-mcp-tests.el --- Tests of swank-mcp.el that need no Lisp  -*- lexical-binding: t -*-

;; Copyright (C) 2026 Swank toolkit contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `npm test' reports each test.  The tests of test/emacs use a real Lisp.

;;; Code:

(require 'cl-lib)
(require 'ert)
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
  "Evaluate BODY with the only LISP, which keeps its ANSWERS, and no timers."
  (declare (indent 0))
  `(let* ((lisp (swank-mcp--make-lisp 'process))
          (swank-mcp--lisps (list lisp))
          (slime-net-processes '(process))
          (swank-mcp-change-hook '())
          (swank-mcp--question-timer 'none)
          (swank-mcp--posed nil)
          (swank-mcp--ended-calls '())
          (answers '()))
     (cl-letf (((symbol-function 'swank-mcp--request)
                (lambda (_lisp _receive &rest request) (push request answers))))
       ,@body)))

(ert-deftest swank-mcp-tests-asking ()
  "A question makes the mode line say so until it is withdrawn, and is noted once."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (should (= 1 (length (swank-mcp--all-questions))))
    (should (eq 'asking (swank-mcp--state lisp)))
    (swank-mcp--on-withdraw lisp 1 :answered :yes)
    (should-not (swank-mcp--state lisp))
    (should-not answers)))

(ert-deftest swank-mcp-tests-unattended ()
  "An Emacs without a person passes every question on."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 2))
    (swank-mcp--look-at-questions)
    (should (equal '((:answer 2 :pass) (:answer 1 :pass)) answers))
    (should-not (swank-mcp--all-questions))))

(ert-deftest swank-mcp-tests-answers ()
  "The answer is sent, and whatever else ends the prompt is a no."
  (swank-mcp-tests--with-questions
    (cl-letf (((symbol-function 'swank-mcp--person-frame) #'selected-frame))
      (dolist (case `((,(lambda (&rest _) (throw 'swank-mcp--answer :yes)) . :yes)
                      (,(lambda (&rest _) (signal 'quit nil)) . :no)
                      (,(lambda (&rest _) "typed") . :no)))
        (setq answers '())
        (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
        (cl-letf (((symbol-function 'read-from-minibuffer) (car case)))
          (swank-mcp--pose (car (swank-mcp--all-questions))))
        (should (equal `((:answer 1 ,(cdr case))) answers))
        (should-not (swank-mcp--all-questions))))))

(ert-deftest swank-mcp-tests-ended-question ()
  "A question ends with the connection of its Lisp."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (cl-letf (((symbol-function 'swank-mcp--person-frame) #'selected-frame)
              ((symbol-function 'read-from-minibuffer)
               (lambda (&rest _)
                 (setq swank-mcp--posed-depth (recursion-depth))
                 (swank-mcp--forget 'process)
                 (swank-mcp--look-at-questions)
                 "still asked")))
      (swank-mcp--pose (car (swank-mcp--all-questions))))
    (should-not answers)
    (should-not (swank-mcp--all-questions))))

(ert-deftest swank-mcp-tests-early-yes ()
  "A yes that was typed before the question could be read is ignored, a no counts."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1 :for-stop t))
    (let ((minibuffer-message-timeout 0)
          (swank-mcp--posed (car (swank-mcp--all-questions)))
          (swank-mcp--posed-depth (recursion-depth))
          (swank-mcp--posed-at (float-time)))
      (should (eq 'ignored (catch 'swank-mcp--answer (swank-mcp-allow) 'ignored)))
      (should (eq 'ignored (catch 'swank-mcp--answer (swank-mcp-allow-for-stop) 'ignored)))
      (should (eq :no (catch 'swank-mcp--answer (swank-mcp-refuse) 'ignored)))
      (setq swank-mcp--posed-at (- (float-time) 10))
      (should (eq :yes (catch 'swank-mcp--answer (swank-mcp-allow) 'ignored)))
      (should (eq :stop (catch 'swank-mcp--answer (swank-mcp-allow-for-stop) 'ignored))))))

(ert-deftest swank-mcp-tests-question-texts ()
  "The prompt has short code, and the buffer everything."
  (swank-mcp-tests--with-questions
    (swank-mcp--on-ask lisp (swank-mcp-tests--question 1))
    (let ((question (car (swank-mcp--all-questions))))
      ;; without a terminal, the frame of Emacs 27 has 10 columns
      (cl-letf (((symbol-function 'frame-width) (lambda (&optional _frame) 80)))
        (should (equal "Agent claude wants to set a breakpoint: Function fact, (f 1)  Allow? (y, n, s: show) "
                       (substring-no-properties (swank-mcp--prompt question)))))
      (setf (swank-mcp--question-particulars question) '(("Code" "(f\n 1)")))
      (should (equal "Agent claude wants to set a breakpoint  Allow? (y, n, s: show) "
                     (substring-no-properties (swank-mcp--prompt question))))
      (with-temp-buffer
        (swank-mcp--insert-question question)
        (should (equal "Agent claude wants to set a breakpoint\n\nCode:\n(f\n 1)\n\nIn package P\n" (buffer-string)))))))

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

(ert-deftest swank-mcp-tests-ignore ()
  "A definition is ignored until its text changes."
  (swank-mcp-tests--with-changes "" (list (swank-mcp-tests--change file))
    (swank-mcp-next-change)
    (swank-mcp-ignore-change)
    (should (swank-mcp--ignored-p (swank-mcp-tests--change file)))
    (should-not (swank-mcp--ignored-p (swank-mcp-tests--change file :text "(defun f () 4)")))))

(provide 'swank-mcp-tests)

;;; swank-mcp-tests.el ends here
