;;;; Lists the differences between the image and the files of the program.

(in-package #:swank-client/code)

(defconstant +changes-limit+ 500 "Changes that are listed.")

;;; All changes

(defun same-text-evaluated-p (change)
  "True if the form of CHANGE has been evaluated since it was changed in the file, as an editor does."
  (let* ((definition (change-definition change))
         (plist (and definition (definition-plist definition))))
    (flet ((same-p (text)
             (and text (string= (trimmed-end text) (trimmed-end (change-file-text change))))))
      (and plist (change-file-text change)
           (or (same-p (or-nil (own-form definition)))
               (same-p (or-nil (form-of-plist plist (form-number-of definition)))))))))

(defun replaced-p (change)
  "True if the definition of CHANGE, which its file no longer has, came from elsewhere since."
  (let* ((definition (change-definition change))
         (name (and definition (definition-file-name definition))))
    (and definition
         (or (definition-plist definition)
             (and name (not (equal name (sb-ext:native-namestring (file-truename (change-file change))))))))))

(defun shown-changes (changes)
  "CHANGES without those that later evaluations or files have undone."
  (remove-if (lambda (change)
               (case (change-state change)
                 ((:changed :new :maybe-changed) (same-text-evaluated-p change))
                 (:deleted (replaced-p change))))
             changes))

(defun unchanged-date-p (name)
  "True if the file NAME has the date that it had when its code was compiled, and clients' code has not loaded it. Its text is kept, so that
later changes can be found form by form."
  (let ((code (gethash name (code-sources)))
        (truename (named-file name)))
    (and code
         (not (load-unfinished-p truename))
         (not (text-loaded-p truename))
         (eql (code-created code) (or-nil (file-write-date truename)))
         (date-decides-p truename)
         (progn (unless (loaded-octets truename) (or-nil (note-seen-text truename)))
                t))))

(defun unwritten-p (name)
  "True if the file NAME was not written since it was loaded, even though no code that names it is left in memory, or only older code."
  (let ((pathname (named-file name)))
    (and (null (loaded-octets pathname))
         (not (load-unfinished-p pathname))
         (< (or (or-nil (changed-at pathname)) (get-universal-time)) (image-start))
         (or (null (gethash name (code-sources))) (compiled-since-p pathname)))))

(defun unchanged-p (name)
  "True if the file NAME is known to be as it was loaded, without a comparison of its text."
  (or (unchanged-date-p name) (unchanged-text-p (named-file name)) (unwritten-p name)))

(defun wanted-files (truename program)
  "The files to compare, as they are now: TRUENAME or, if that is NIL, all of PROGRAM that can have changed or were to be loaded and were not."
  (append (loop for name in (if truename (list (sb-ext:native-namestring truename)) (program-files program))
                for file = (and (or truename (not (unchanged-p name))) (file-now name))
                when (and file (program-file-p file)) collect file)
          (loop for pathname in (and (null truename) (remove-duplicates (append (unfinished-files) (unloaded-files)) :test #'equal))
                for file = (and (not (member (sb-ext:native-namestring pathname) (program-files program) :test #'string=))
                                (file-now pathname))
                when (and file (or (failed-p file) (unloaded-p file program))) collect file)))

(defun unfinished-files ()
  "The truenames of the existing files whose loading clients' code has begun and not ended."
  (existing-files (mapcar #'sb-ext:parse-native-namestring (unfinished-loads))))

(defun failed-p (file)
  "True if clients' code has begun to load FILE, has not ended, and had not loaded it before."
  (and (load-unfinished-p (file-truename file))
       (null (loaded-octets (file-truename file)))))

(defun undated-p (file)
  "True if it is not recorded when FILE was loaded."
  (and (null (date-when-compiled (file-truename file)))
       (null (loaded-octets (file-truename file)))))

(defun undecided-p (file)
  "True if FILE has the date that it had when it was loaded, but not certainly the text."
  (and (not (load-unfinished-p (file-truename file)))
       (eql (date-when-compiled (file-truename file)) (file-date file))
       (null (text-as-loaded file))))

(defun definitions-from (file program)
  "The definitions of PROGRAM that were loaded from FILE."
  (gethash (sb-ext:native-namestring (file-truename file)) (program-by-file program)))

(defun unloaded-p (file program)
  "True if nothing shows that FILE was ever loaded: no definition of PROGRAM is from it, either."
  (and (undated-p file) (null (definitions-from file program))))

(defun listed-changes (file program)
  "=> the changes in FILE that are still to be loaded, and how it was compared: :COMPARED, :GUESSED, :FAILED, :UNLOADED, :UNDATED, :UNREADABLE,
or NIL if it has not changed"
  (cond ((failed-p file) (values '() :failed))
        ((unloaded-p file program) (values '() :unloaded))
        ((or (undated-p file) (undecided-p file)) (values '() :undated))
        ((not (file-whole-p file)) (values '() :unreadable))
        (t (multiple-value-bind (changes known) (file-changes file (definitions-from file program))
             (values (shown-changes changes) (and changes (if known :compared :guessed)))))))

(defun of-file-p (change truename)
  "True if CHANGE is in the file TRUENAME, or TRUENAME is NIL."
  (or (null truename)
      (and (change-file change) (equal truename (file-truename (change-file change))))))

(defun joined-changes (in-files in-image)
  "IN-FILES without those whose form differs from the image's by one of IN-IMAGE, too. That is listed instead, with the image's text, and is a
:CONFLICT if the file has certainly changed."
  (remove-if (lambda (change)
               (loop with twice-p = nil
                     for other in in-image
                     when (and (member (change-state other) '(:differs :conflict))
                               (eq (change-file other) (change-file change))
                               (eql (change-number other) (change-number change)))
                       do (setf twice-p t)
                          (unless (eq :maybe-changed (change-state change))
                            (setf (change-state other) :conflict
                                  (change-in-file other) change))
                     finally (return twice-p)))
             in-files))

(defun in-order (changes)
  "CHANGES by file and position, those in no file last and by name."
  (flet ((place (change)
           (let ((file (change-file change)))
             (if file (sb-ext:native-namestring (file-truename file)) (string (code-char #x10ffff))))))
    (sort changes (lambda (one other)
                    (let ((a (place one)) (b (place other))
                          (p (or (change-position one) -1)) (q (or (change-position other) -1)))
                      (cond ((string/= a b) (and (string< a b) t))
                            ((/= p q) (< p q))
                            (t (and (string< (change-name one) (change-name other)) t))))))))

(defun all-changes (truename)
  "=> the changes of the image and of the file TRUENAME, by default of all files; (FILE STATE) of each file that was compared; and the program"
  (let* ((program (the-program))
         (in-image (image-changes program))
         (states '())
         (in-files (loop for file in (wanted-files truename program)
                         append (multiple-value-bind (changes state) (listed-changes file program)
                                  (when state (push (list file state) states))
                                  changes)))
         (removed (removed-changes truename program)))
    (values (in-order (append (remove-if-not (lambda (change) (of-file-p change truename)) in-image)
                              (joined-changes (append in-files removed) in-image)))
            (nreverse states)
            program)))

(defun change-entry (change)
  "The plist that describes CHANGE."
  (list* :state (change-state change)
         :kind (change-kind change)
         :name (change-name change)
         :text (bounded (change-text change))
         :file-text (bounded (change-file-text change))
         :from-client (and (change-definition change) (own-definition-p (change-definition change)))
         (cond ((null (change-file change)) '())
               ((change-position change) (place-facts (change-file change) (change-position change)))
               (t (list :file (shown-file (file-truename (change-file change))))))))

(defun own-definition-p (definition)
  "True if this session evaluated DEFINITION."
  (let ((plist (definition-plist definition)))
    (and plist (own-origin-p (session-ledger (current-session)) (getf plist :evaluation)) t)))

(defun file-of-variable (symbol program)
  "The name of the file of PROGRAM that defines the variable SYMBOL, even if it was evaluated since; or NIL."
  (let* ((definition (first (kind-definitions symbol :variable)))
         (name (and definition (definition-file-name definition)))
         (package (and definition (definition-home definition)))
         (file (if name
                   (file-now name)
                   (and package (defined-in definition (home-candidates package program) package)))))
    (and file (shown-file (file-truename file)))))

(defun assigned-entries (program)
  "((NAME VALUE FILE) ...) of the global variables that this session has assigned, oldest first. FILE of PROGRAM defines the variable, or NIL."
  (loop for symbol in (reverse (ledger-assigned (session-ledger (current-session))))
        when (boundp symbol)
          collect (list (name-text symbol) (line-text-in-time (symbol-value symbol) 100) (or-nil (file-of-variable symbol program)))))

(defmacro with-wanted-file ((truename name) &body body)
  "Run BODY with TRUENAME bound to that of the file NAME, NIL if NAME is NIL. => its value | (:file-not-found NAME (FILE ...) REASON)"
  `(let ((,truename (and ,name (plain-file ,name))))
     (if (and ,name (null ,truename))
         (missing-file ,name)
         (progn ,@body))))

(defun list-changes (name)
  "The differences between the image and the file NAME, or all files and what no file has.
=> (:changes (ENTRY ...) LEFT-OUT ((FILE STATE) ...) ((VARIABLE VALUE FILE) ...)) | (:file-not-found NAME (FILE ...) REASON)"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename name)
        (multiple-value-bind (changes states program) (all-changes truename)
          (let ((*room* +texts-limit+))
            (with-printing-time
              (list :changes
                    (loop for change in changes repeat +changes-limit+ collect (change-entry change))
                    (max 0 (- (length changes) +changes-limit+))
                    (append (loop for (file state) in states collect (list (shown-file (file-truename file)) state))
                            (and truename (null (file-now truename)) (list (list (shown-file truename) :unreadable))))
                    (unless name (assigned-entries program))))))))))
