;;;; Replaces the texts of files at once: whatever happens, a file has the old text or the new one.

(in-package #:swank-client/code)

;;; Drafts: the new texts, beside the files until these are replaced. That of a process that was killed is left.

(defun draft-name (name)
  "The native name of a new draft of the file with the native NAME."
  (format nil "~a.~d-~36r.tmp" name (sb-posix:getpid) (random (expt 36 8) (make-random-state t))))

(defun draft-process (entry name)
  "The id of the process that has written ENTRY, the name of a file, if that is a draft of the file NAME; or NIL."
  (let ((start (1+ (length name))) (end (- (length entry) (length ".tmp"))))
    (when (and (< start end)
               (string= name entry :end2 (1- start))
               (char= #\. (char entry (1- start)))
               (string= ".tmp" entry :start2 end))
      (multiple-value-bind (process dash) (parse-integer entry :start start :end end :junk-allowed t)
        (and process
             (< dash (1- end))
             (char= #\- (char entry dash))
             (every (lambda (char) (digit-char-p char 36)) (subseq entry (1+ dash) end))
             process)))))

(defun process-gone-p (process)
  "True if there is no process with the id PROCESS."
  (handler-case (progn (sb-posix:kill process 0) nil)
    (sb-posix:syscall-error (condition) (= sb-posix:esrch (sb-posix:syscall-errno condition)))))

(defun delete-left-drafts (name)
  "Delete the drafts of the file with the native NAME whose processes are gone."
  (let* ((end (1+ (position #\/ name :from-end t)))
         (folder (subseq name 0 end)))
    (dolist (entry (folder-entries folder))
      (let ((process (draft-process entry (subseq name end))))
        (when (and process (process-gone-p process))
          (or-nil (sb-posix:unlink (concatenate 'string folder entry))))))))

;;; Editors: Emacs marks a file whose buffer has unsaved edits by a symbolic link beside it, .#NAME, whose target names the owner as
;;; USER@HOST.PROCESS:BOOT-TIME. Where there are no symbolic links, it is a file with that text.

(defun lock-text (lock)
  "The text of the lock with the native name LOCK, or NIL if there is none."
  (or (or-nil (sb-posix:readlink lock))
      (or-nil (with-open-file (stream (sb-ext:parse-native-namestring lock) :external-format :latin-1 :if-does-not-exist nil)
                (let* ((text (make-string 500)) (end (and stream (read-sequence text stream)))
                       (line (and stream (string-trim '(#\Newline #\Return) (subseq text 0 end)))))
                  (and line (lock-owner line) line))))))

(defun lock-owner (text)
  "(HOST PROCESS OWNER) of a lock with TEXT, where OWNER is USER@HOST.PROCESS, or NIL for another text."
  (let* ((at (position #\@ text :from-end t))
         (colon (position #\: text :from-end t :start (or at 0)))
         (end (if (and colon (every #'digit-char-p (subseq text (1+ colon)))) colon (length text)))
         (dot (position #\. text :from-end t :end end))
         (process (and at dot (< at dot) (or-nil (parse-integer text :start (1+ dot) :end end)))))
    (and process (plusp at) (list (subseq text (1+ at) dot) process (subseq text 0 end)))))

(defun editor-of (name)
  "Who edits the file with the native NAME in Emacs and has not saved it, as a text, or NIL. A lock whose process on this machine is gone is
left over from a crash, as for Emacs itself; about a process on another machine nothing is known, so that its lock counts."
  (let* ((start (1+ (position #\/ name :from-end t)))
         (text (lock-text (concatenate 'string (subseq name 0 start) ".#" (subseq name start)))))
    (when text
      (destructuring-bind (&optional host process (owner text)) (lock-owner text)
        (unless (and process (equal host (machine-instance)) (process-gone-p process))
          owner)))))

(defun editor-of-file (file)
  "Who has unsaved edits of FILE in Emacs, as a text, or NIL."
  (editor-of (sb-ext:native-namestring (file-truename file))))

;;; Writing

(defun encoded (text format)
  "The bytes of TEXT in FORMAT, or NIL if it cannot be written so."
  (let ((octets (or-nil (sb-ext:string-to-octets text :external-format format))))
    (and octets (string= text (or (or-nil (sb-ext:octets-to-string octets :external-format format)) "")) octets)))

(defun identity-of (stat)
  "What changes when the file of STAT is written: its inode, size, time and mode."
  (list (sb-posix:stat-ino stat) (sb-posix:stat-size stat) (sb-posix:stat-mtime stat) (sb-posix:stat-mode stat)))

(defun read-only-p (name stat)
  "True if the file with the native NAME is not to be written: its mode forbids that to all, which root would not notice, or to the image."
  (or (zerop (logand #o222 (sb-posix:stat-mode stat)))
      (not (ignore-errors (zerop (sb-posix:access name sb-posix:w-ok))))))

(defun read-only-file-p (file)
  "True if FILE is not to be written."
  (let ((name (sb-ext:native-namestring (file-truename file))))
    (read-only-p name (sb-posix:stat name))))

(defun linked-file-p (file)
  "True if FILE has several hard links, which a replacement would separate."
  (< 1 (sb-posix:stat-nlink (sb-posix:stat (sb-ext:native-namestring (file-truename file))))))

(defun write-draft-of (octets draft stat)
  "Write OCTETS to the new file with the native name DRAFT, with the owner and the mode of STAT, down to the disk."
  (let ((fd (sb-posix:open draft (logior sb-posix:o-wronly sb-posix:o-creat sb-posix:o-excl) #o600)))
    (unwind-protect
         (let ((stream (sb-sys:make-fd-stream fd :output t :buffering :full :element-type '(unsigned-byte 8))))
           (write-sequence octets stream)
           (finish-output stream)
           (sb-posix:fchown fd (sb-posix:stat-uid stat) (sb-posix:stat-gid stat))
           ;; after the owner, whose change clears bits of the mode
           (sb-posix:fchmod fd (logand #o7777 (sb-posix:stat-mode stat)))
           (sb-posix:fsync fd))
      (sb-posix:close fd))))

(defun replace-file (file octets)
  "Replace the text of FILE by OCTETS at once, unless it has changed since FILE was read, or has unsaved edits in Emacs.
=> :SAVED, :FILE-CHANGED, :BEING-EDITED or :UNWRITABLE"
  (let* ((name (sb-ext:native-namestring (file-truename file)))
         (draft (draft-name name)))
    (or-nil (delete-left-drafts name))
    (unwind-protect
         (handler-case
             (let ((stat (sb-posix:stat name)))
               (write-draft-of octets draft stat)
               (cond ((editor-of name) :being-edited)
                     ((and (equalp (encoded (file-text file) (file-format file)) (file-octets (file-truename file)))
                           (equal (identity-of stat) (identity-of (sb-posix:stat name))))
                      (sb-posix:rename draft name)
                      :saved)
                     (t :file-changed)))
           ((or file-error stream-error sb-posix:syscall-error) () :unwritable))
      (or-nil (sb-posix:unlink draft)))))
