;;;; Writes definitions that were evaluated to their files. Texts of files are replaced at once: whatever happens, a file has the old text or the new one.

(in-package #:swank-client/changes)

;;; Drafts: the new texts, beside the files until these are replaced. That of a process that was killed is left.

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
          (nil-on sb-posix:syscall-error (sb-posix:unlink (concatenate 'string folder entry))))))))

;;; Editors: Emacs marks a file whose buffer has unsaved edits by a symbolic link beside it, .#NAME, whose target names the owner as
;;; USER@HOST.PROCESS:BOOT-TIME. Where there are no symbolic links, it is a file with that text.

(defun lock-text (lock)
  "The text of the lock with the native name LOCK, or NIL if there is none."
  (or (nil-on sb-posix:syscall-error (sb-posix:readlink lock))
      (nil-on (or file-error stream-error) (with-open-file (stream (sb-ext:parse-native-namestring lock) :external-format :latin-1 :if-does-not-exist nil)
                                             (let* ((text (make-string 500)) (end (and stream (read-sequence text stream)))
                                                    (line (and stream (string-trim '(#\Newline #\Return) (subseq text 0 end)))))
                                               (and line (lock-owner line) line))))))

(defun lock-owner (text)
  "(HOST PROCESS OWNER) of a lock with TEXT, where OWNER is USER@HOST.PROCESS, or NIL for another text."
  (let* ((at (position #\@ text :from-end t))
         (colon (position #\: text :from-end t :start (or at 0)))
         (end (if (and colon (every #'digit-char-p (subseq text (1+ colon)))) colon (length text)))
         (dot (position #\. text :from-end t :end end))
         (process (and at dot (< at dot) (nil-on parse-error (parse-integer text :start (1+ dot) :end end)))))
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

(defun identity-of (stat)
  "What changes when the file of STAT is written: its inode, size, time and mode."
  (list (sb-posix:stat-ino stat) (sb-posix:stat-size stat) (sb-posix:stat-mtime stat) (sb-posix:stat-mode stat)))

(defun read-only-p (name stat)
  "True if the file with the native NAME is not to be written: its mode forbids that to all, which root would not notice, or to the image."
  (or (zerop (logand #o222 (sb-posix:stat-mode stat)))
      (not (nil-on sb-posix:syscall-error (zerop (sb-posix:access name sb-posix:w-ok))))))

(defun read-only-file-p (file)
  "True if FILE is not to be written."
  (let ((name (sb-ext:native-namestring (file-truename file))))
    (read-only-p name (sb-posix:stat name))))

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
         (draft (format nil "~a.~d-~36r.tmp" name (sb-posix:getpid) (random (expt 36 8) (make-random-state t)))))
    (recording-faults (delete-left-drafts name))
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
      (nil-on sb-posix:syscall-error (sb-posix:unlink draft)))))

;;; Writes definitions that were evaluated to their files.

(defstruct save
  "What is done with CHANGE. OUTCOME is :SAVE, or the reason why it is not saved. TEXT replaces the text between START and END in FILE."
  change outcome
  (file nil)
  (start nil)
  (end nil)
  (text nil))

;;; Which definitions

(defun savable-changes (truename matches-p named)
  "The changes that evaluations have made, in the file TRUENAME, and for whose definitions MATCHES-P; also in no file if they are NAMED."
  (in-order
   (joined-closures
    (remove-if-not (lambda (change)
                     (and (member (change-state change) '(:image-only :differs :conflict))
                          (or (of-file-p change truename) (and named (null (change-file change))))
                          (funcall matches-p (change-definition change))))
                   (all-changes nil)))))

(defun package-fits-p (definition package)
  "True if the text of DEFINITION means in PACKAGE what it meant when it was evaluated, as far as that is known."
  (let ((evaluated (evaluated-package definition)))
    (or (null evaluated) (eq package evaluated))))

;;; Syntax

(defun readtable-after (form)
  "The readtable that FORM, which was read as data and changes the syntax, sets; NIL if that is not known."
  (let ((named (find-package "NAMED-READTABLES")))
    (typecase form
      ((cons (eql eval-when) (cons t (cons t null))) (readtable-after (third form)))
      ((cons symbol (cons symbol null))
       (and named
            (string= (first form) "IN-READTABLE")
            (eq (symbol-package (first form)) named)
            (or-nil (call-if-loaded "NAMED-READTABLES" "FIND-READTABLE" (second form))))))))

(defun readtable-at (file number)
  "The readtable with which the form NUMBER of FILE is read; NIL if that is not known."
  (loop with readtable = (sb-ext:symbol-global-value '*readtable*)
        with text = (file-text file)
        for form in (file-forms file)
        for changes across (file-syntax-changes file)
        for index below number
        for head = (and changes (definition-head text (top-level-form-start form) (top-level-form-end form)))
        for operator = (and head (operator-name head))
        when (and operator (or (string= "IN-READTABLE" operator) (not (member operator *context-operators* :test #'string=))))
          do (let ((package (package-at text (file-forms file) index (file-initial-package file))))
               (setf readtable (and package (readtable-after (read-in (form-text text form) package)))))
        finally (return readtable)))

(defun same-char-syntax-p (char next readtable other)
  "True if READTABLE and OTHER read CHAR, which NEXT follows, by the same function."
  (flet ((functions (table)
           (multiple-value-bind (function non-terminating) (get-macro-character char table)
             (let ((dispatch (and function (or-nil (list (get-dispatch-macro-character char next table))))))
               (if dispatch (cons :dispatch dispatch) (list function non-terminating))))))
    (equal (functions readtable) (functions other))))

(defun same-syntax-p (text readtable other)
  "True if READTABLE and OTHER read TEXT by the same functions, and with the same case."
  (or (eq readtable other)
      (and (eq (readtable-case readtable) (readtable-case other))
           (loop for (char next) on (coerce text 'list)
                 always (same-char-syntax-p char (or next #\Space) readtable other)))))

(defun syntax-fits-p (definition text file number)
  "True if TEXT, with which DEFINITION was evaluated, is certainly read in the same way where the form NUMBER of FILE is."
  (let ((readtable (readtable-at file number)))
    (and readtable
         (same-syntax-p text readtable (code-readtable (current-session) (or (evaluated-package definition) *package*))))))

;;; Where

(defun matching-forms (definition file)
  "The number of top-level forms of FILE that look like that of DEFINITION."
  (count-if (lambda (form) (eq t (apply #'defines-p definition (file-text file) (span form)))) (file-forms file)))

(defun element-around (text list position)
  "The start of the element of LIST, (START END) in TEXT, that contains POSITION, with what the reader skips before it; or NIL."
  (first (find-if (lambda (span) (and (<= (first span) position) (< position (second span))))
                  (element-spans text (first list) (second list) most-positive-fixnum))))

(defun conditional-form-p (file number start)
  "True if some Lisps skip the form at START of FILE, which is the form NUMBER or inside of it."
  (let* ((text (file-text file))
         (form (nth number (file-forms file)))
         (around (remove-if-not (lambda (span) (and (<= (first span) start) (< start (second span))))
                                (list-spans text (top-level-form-start form) (top-level-form-end form)))))
    (or (conditional-p text (top-level-form-gap form) (top-level-form-start form))
        (loop for (outer inner) on around
              for element = (and inner (element-around text outer (first inner)))
              thereis (and element (conditional-p text element (first inner)))))))

(defun form-changed-p (file number)
  "True if form NUMBER of FILE may have changed since it was loaded or, in a file of which that is not known, saved."
  (let ((loaded (text-as-loaded file)))
    (if loaded
        (and (string/= loaded (file-text file))
             (find number (unmatched (file-text file) (file-forms file) loaded (top-level-forms loaded)) :key #'second))
        (not (member (trimmed-end (form-text (file-text file) (nth number (file-forms file))))
                     (saved-texts (sb-ext:native-namestring (file-truename file)))
                     :test #'string=)))))

(defun superseded-p (text package)
  "True if a definition in TEXT, a form that was evaluated in PACKAGE, has been made again since by another form."
  (loop for (from to) in (list-spans text 0 (length text))
        for operator = (definition-head text from to)
        for definition = (and operator
                              (not (member (head-kind operator) '(nil :setf)))
                              (definition-of-form text from to package))
        for own = (and definition (definition-plist definition) (own-text definition))
        thereis (and definition (not (and own (string= (trimmed-end text) (trimmed-end own)))))))

(defun other-definitions (change file start end)
  "Why the form around the definition of CHANGE must not replace what is between START and END of FILE: :REMOVES-OTHERS if definitions there
are not in the form or newer, :OTHERS-ELSEWHERE if FILE makes definitions of the form in another place; or NIL."
  (when (change-around change)
    (let* ((text (file-text file))
           (new (change-text change))
           (package (or (evaluated-package (change-definition change)) *package*))
           (made (definition-keys new 0 (length new)))
           (kept (loop for form in (file-forms file)
                       append (definition-keys text (top-level-form-start form) (top-level-form-end form)
                                               :wanted-p (lambda (from to) (not (and (<= start from) (<= to end))))))))
      (cond ((and (< start end)
                  (or (missing-keys (definition-keys text start end) made)
                      (missing-keys (call-keys text start end package) (call-keys new 0 (length new) package))))
             :removes-others)
            ((superseded-p new package) :removes-others)
            ((intersection made kept :test #'equalp) :others-elsewhere)))))

(defun replacement (change)
  "The SAVE of CHANGE, whose definition its file has with another text."
  (let* ((file (change-file change)) (number (change-number change)) (start (change-position change))
         (definition (change-definition change)))
    (make-save :change change :file file :start start :end (+ start (length (change-file-text change)))
               :text (file-line-ends (change-text change) file)
               :outcome (cond ((form-changed-p file number) :file-changed)
                              ((> (matching-forms definition file) 1) :ambiguous)
                              ((other-definitions change file start (+ start (length (change-file-text change)))))
                              ((conditional-form-p file number start) :conditional)
                              ((not (package-fits-p definition (package-at (file-text file) (file-forms file) number (file-initial-package file)))) :other-package)
                              ((not (syntax-fits-p definition (change-text change) file number)) :other-syntax)
                              (t :save)))))

(defun unreadable-position (file)
  "The position in FILE of the first form that cannot be read, or NIL if all can be read."
  (unless (file-whole-p file)
    (let* ((last (first (last (file-forms file))))
           (end (length (file-text file))))
      (first-position (file-text file) (if last (top-level-form-end last) 0) end))))

(defun present-position (definition file)
  "The position in FILE, which is not known to define DEFINITION, of a form that defines it when loaded; or NIL."
  (multiple-value-bind (span number) (named-span definition file nil)
    (when span
      (let* ((text (file-text file))
             (answer (apply #'defines-p definition text span))
             (package (package-at text (file-forms file) number (file-initial-package file)))
             (operator (apply #'definition-head text span)))
        ;; a form whose operator is unknown may only use the name
        (when (or (eq t answer) (and operator package (own-operator-p operator package)))
          (first span))))))

(defparameter *other-types* '("el" "scm" "ss" "rkt" "clj" "cljs" "cljc" "lfe" "fnl" "hy") "Types of files with code of other Lisps.")

(defun lisp-source-p (file)
  "True if FILE is Lisp code: by the type of its name, or because a form of Lisp in it defines something or chooses a package."
  (or (source-file-p (file-truename file))
      (and (not (member (pathname-type (file-truename file)) *other-types* :test #'equalp))
           (some (lambda (form)
                   (let ((operator (definition-head (file-text file) (top-level-form-start form) (top-level-form-end form))))
                     (and operator (or (head-kind operator) (string= "IN-PACKAGE" (operator-name operator))))))
                 (file-forms file)))))

(defun addition (change file)
  "The SAVE of CHANGE, whose definition no file has, at the end of FILE; NIL for FILE if none was given."
  (let* ((text (and file (file-text file)))
         (end (and file (length text)))
         (unreadable (and file (unreadable-position file)))
         (present (and file (present-position (change-definition change) file)))
         (start (or present unreadable end)))
    (make-save :change change :file file :start start :end start
               :text (and file (change-text change)
                          (file-line-ends (format nil "~:[~%~;~]~:[~%~;~]~a~%" (or (zerop end) (char= #\Newline (char text (1- end))))
                                                  (zerop end) (change-text change))
                                          file))
               :outcome (cond ((null (change-text change)) :no-text)
                              ((null file) :no-file)
                              ((not (lisp-source-p file)) :not-lisp)
                              (present :defined)
                              (unreadable :unreadable)
                              ((other-definitions change file end end))
                              ((not (package-fits-p (change-definition change)
                                                    (package-at text (file-forms file) (length (file-forms file))
                                                                (file-initial-package file))))
                               :other-package)
                              ((not (syntax-fits-p (change-definition change) (change-text change) file (length (file-forms file))))
                               :other-syntax)
                              (t :save)))))

;;; Writing

(defun file-problem (file)
  "Why nothing can be written to FILE: :BINARY, :READ-ONLY, :HARD-LINKS or :BEING-EDITED; or NIL."
  (cond ((binary-text-p (file-text file) (file-format file)) :binary)
        ((or-nil (read-only-file-p file)) :read-only)
        ((or-nil (< 1 (sb-posix:stat-nlink (sb-posix:stat (sb-ext:native-namestring (file-truename file)))))) :hard-links)
        ((or-nil (editor-of-file file)) :being-edited)))

(defun new-text (file saves)
  "The text of FILE after SAVES."
  (let ((text (file-text file)))
    ;; from the end, so that positions stay right; additions keep their order
    (dolist (save (stable-sort (reverse saves) #'> :key #'save-start) text)
      (setf text (concatenate 'string (subseq text 0 (save-start save)) (save-text save) (subseq text (save-end save)))))))

(defun write-saves (file saves)
  "Write SAVES, all of FILE. => their outcome"
  (let ((octets (and (encoded (file-text file) (file-format file))
                     (encoded (new-text file saves) (file-format file)))))
    (if octets (replace-file file octets) :encoding)))

(defun loaded-after (loaded saves)
  "LOADED, the text of a file as it was loaded, with the texts that SAVES have written."
  (dolist (save saves loaded)
    (let* ((old (change-file-text (save-change save)))
           (start (if old (search old loaded) (length loaded))))
      (when start
        (setf loaded (concatenate 'string (subseq loaded 0 start) (save-text save) (subseq loaded (+ start (length old)))))))))

(defun note-written (file loaded saves)
  "The image has what SAVES have written to FILE, whose text was LOADED when it was loaded."
  (when loaded
    (let ((octets (encoded (loaded-after loaded saves) (file-format file))))
      (when octets
        (recording-faults (note-image-text (file-truename file) octets (file-write-date (file-truename file))
                                           :earlier-dates (loaded-dates (file-truename file)))))))
  (mapc #'note-saved saves))

(defun note-saved (save)
  "Let editors find the definition of SAVE in its file."
  (let* ((change (save-change save))
         (plist (definition-plist (change-definition change))))
    (when plist
      (note-saved-origin (getf plist :emacs-buffer) (sb-ext:native-namestring (file-truename (save-file save)))
                         (trimmed-end (save-text save)) (and (change-file-text change) (trimmed-end (change-file-text change)))))))

(defun write-all (saves)
  "Write those of SAVES that can be saved, file by file, and set their outcomes."
  (loop for file in (remove-duplicates (mapcar #'save-file (remove :save saves :key #'save-outcome :test-not #'eq)))
        for some = (remove-if-not (lambda (save) (and (eq file (save-file save)) (eq :save (save-outcome save)))) saves)
        for loaded = (text-as-loaded file)
        for outcome = (write-saves file some)
        do (dolist (save some) (setf (save-outcome save) outcome))
           (when (eq outcome :saved) (note-written file loaded some))))

(defun facts-when-written (save saves)
  "The facts about the place that the form of SAVE has when SAVES are written."
  (let* ((file (save-file save))
         (others (remove-if-not (lambda (other) (and (eq file (save-file other)) (eq (save-outcome save) (save-outcome other)))) saves))
         (before (loop for other in others
                       when (or (< (save-start other) (save-start save))
                                (and (= (save-start other) (save-start save)) (member save (rest (member other others)))))
                         sum (- (length (save-text other)) (- (save-end other) (save-start other)))))
         ;; what is added begins with line ends
         (gap (position-if-not (lambda (char) (find char '(#\Newline #\Return))) (save-text save))))
    (multiple-value-bind (line column) (position-of (new-text file others) (+ (save-start save) before gap))
      (list :file (shown-file (file-truename file)) :line line :column column))))

(defun place-of-save (save saves)
  "The facts about the place of SAVE, one of SAVES: that in the file as it is written now. A form to be replaced is still in its old place."
  (let* ((file (save-file save)) (change-file (change-file (save-change save))))
    (cond ((null file) '())
          ((or (eq :saved (save-outcome save)) (and (eq :save (save-outcome save)) (null change-file)))
           (facts-when-written save saves))
          (t (place-facts file (save-start save))))))

(defun save-entry (save saves)
  "The plist that describes SAVE, one of SAVES."
  (list* :outcome (save-outcome save)
         :lost-comments (lost-comments (save-change save))
         (append (and (eq :being-edited (save-outcome save)) (list :editor (or-nil (editor-of-file (save-file save)))))
                 (change-entry (save-change save) (place-of-save save saves)))))

;;; The question

(defun holds-another-p (save saves)
  "True if what SAVE replaces holds the start of what another of SAVES replaces, so that both cannot be written."
  (some (lambda (other)
          (and (not (eq other save))
               (eq (save-file other) (save-file save))
               (eq :save (save-outcome other))
               (<= (save-start save) (save-start other))
               (< (save-start other) (save-end save))))
        saves))

(defun refuse-overlaps (saves)
  "Set the outcome of those of SAVES that would be written over another one."
  (dolist (save (remove-if-not (lambda (save) (and (eq :save (save-outcome save)) (holds-another-p save saves))) saves))
    (setf (save-outcome save) :removes-others)))

(defun save-matching (truename matches-p dry-run named)
  "Save the changes of definitions for which MATCHES-P. => (:saves (ENTRY ...))"
  (let* ((file (and truename (file-now truename)))
         (saves (loop for change in (savable-changes truename matches-p named)
                      collect (if (change-file change) (replacement change) (addition change (and named file))))))
    (dolist (save saves)
      (let ((problem (and (save-file save) (not (eq :no-text (save-outcome save))) (file-problem (save-file save)))))
        (when (and problem (or (eq problem :binary) (eq :save (save-outcome save))))
          (setf (save-outcome save) problem))))
    (refuse-overlaps saves)
    (unless dry-run (write-all saves))
    (let ((*room* +texts-limit+))
      (with-printing-time
        (list :saves (loop for save in saves collect (save-entry save saves)))))))

(defun save-named (truename symbol text dry-run)
  "SAVE-MATCHING for the definitions of SYMBOL that TEXT names. => its reply | (:undefined NAME) if there are none"
  (let* ((matches-p (definition-matcher symbol text))
         (all (all-definitions symbol (setf-text-p (plain-name-text text)))))
    (if (if (method-text-p text) (notany matches-p all) (null all))
        (list :undefined (trimmed text))
        (save-matching truename matches-p dry-run t))))

(defun save-changes (name file-name dry-run)
  "Write the evaluated definitions of NAME, by default all that this session has evaluated, to their file; those of NAME that no file has to
the end of the file FILE-NAME. Write nothing if DRY-RUN.
=> (:saves (ENTRY ...)) | (:undefined NAME) | the replies of WITH-WANTED-FILE and CALL-WITH-NAMED"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename file-name)
        (if name
            (call-with-named (if (method-text-p name) (plain-name-text name) name)
                             (lambda (symbol status package)
                               (declare (ignore status package))
                               (save-named truename symbol name dry-run)))
            (save-matching truename #'own-definition-p dry-run nil))))))
