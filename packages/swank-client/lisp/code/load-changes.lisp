;;;; Loads the top-level forms of files that have changed since the files were loaded, in order. Evaluated code calls this, so that a form that
;;;; fails stops it as any other code.

(in-package #:swank-client/code)

(defstruct form-load
  "How far the loading of CHANGE is. OUTCOME: :PENDING, what was done, or the reason why it was not loaded. REMARK: what USERS still need."
  change outcome
  (remark nil)
  ;; true if it has stopped, and this was said
  (told nil)
  ;; ((NAME . FUNCTION) ...) that were compiled with the old macro or inline function
  (users '()))

(defstruct (load-run (:conc-name run-))
  "One call of LOAD-CHANGES. LOADS: in the order of loading. FILES: (FILE STATE) of those that were compared. NOTES: the latest first."
  loads files
  (notes '())
  (omitted 0))

;;; What to load

(defun form-load-file (load)
  "The file of LOAD."
  (change-file (form-load-change load)))

(defun file-form-loads (file changes program)
  "What is to become of CHANGES, all of FILE, a file of PROGRAM."
  (let ((moved (+ (moved-forms file) (count-if #'deleted-package-p changes))))
    (loop for change in changes
          for outcome = (cond ((deleted-package-p change) :package)
                              ((eq :deleted (change-state change)) :deleted)
                              ((reason-to-reload (or (change-in-file change) change) moved))
                              (t :pending))
          collect (make-form-load :change change :outcome outcome
                                  :users (and (member outcome '(:structure :constant))
                                              (or-nil (users-of-old-data change program)))))))

(defun deleted-package-p (change)
  "True if CHANGE is a deleted IN-PACKAGE form."
  (and (eq :deleted (change-state change)) (in-package-change-p change)))

(defun planned-run (truename)
  "The run that loads the changes of the file TRUENAME, by default of all files."
  (multiple-value-bind (changes states program) (all-changes truename)
    (let ((wanted (remove-if-not (lambda (change) (member (change-state change) '(:changed :new :maybe-changed :conflict :deleted))) changes)))
      (make-load-run :files states
                     :loads (loop for file in (in-loading-order (remove-duplicates (mapcar #'change-file wanted)))
                                     append (file-form-loads file (remove file wanted :key #'change-file :test-not #'eq) program))))))

;;; The text that is loaded

(defun text-now-loaded (file loads)
  "The text of FILE with the forms of LOADS, all of FILE, as the image has them."
  (if (find-if (lambda (load) (deleted-package-p (form-load-change load))) loads)
      (old-text-now-loaded file loads)
      (new-text-now-loaded file loads)))

(defun old-text-now-loaded (file loads)
  "The text of FILE when it was loaded, with what LOADS has loaded since: an IN-PACKAGE form that is no longer in FILE keeps its place."
  (let ((text (text-as-loaded file)))
    (dolist (load loads text)
      (let* ((change (form-load-change load))
             (old (change-text change))
             (start (and old (search old text))))
        (when (eq :loaded (form-load-outcome load))
          (setf text (if start
                         (concatenate 'string (subseq text 0 start) (change-file-text change) (subseq text (+ start (length old))))
                         (format nil "~a~%~a" text (change-file-text change)))))))))

(defun new-text-now-loaded (file loads)
  "TEXT-NOW-LOADED by the text that FILE has now. Forms keep their numbers; deleted ones are at the end."
  (let ((text (file-text file)) (deleted '()))
    (dolist (load (reverse loads))
      (let* ((change (or (change-in-file (form-load-change load)) (form-load-change load)))
             (form (and (change-number change) (nth (change-number change) (file-forms file)))))
        (cond ((eq :deleted (form-load-outcome load)) (push change deleted))
              ((and form (not (eq :loaded (form-load-outcome load))))
               (setf text (concatenate 'string (subseq text 0 (top-level-form-start form)) (unloaded-text change)
                                       (subseq text (top-level-form-end form))))))))
    (format nil "~a~{~a~}" text (mapcar #'deleted-text deleted))))

(defun unloaded-text (change)
  "The text that the form of CHANGE, which was not loaded, had when its file was loaded. If that is not known, it says so."
  (cond ((eq :new (change-state change)) "()")
        ((change-text change))
        (t (multiple-value-bind (operator name) (definition-head (change-file-text change) 0 (length (change-file-text change)))
             (format nil "(~a ~a ...)" operator name)))))

(defun deleted-text (change)
  "The text to keep of the form of CHANGE, which the file no longer has."
  (let ((package (definition-home (change-definition change))))
    (if (and package (change-text change))
        (format nil "~%(in-package ~s)~%~a" (package-name package) (change-text change))
        "")))

(defun note-loaded-forms (run file)
  "The image has the forms of FILE that RUN has loaded."
  (let ((loads (remove file (run-loads run) :key #'form-load-file :test-not #'eq)))
    (or-nil (note-text (file-truename file)
                       (sb-ext:string-to-octets (text-now-loaded file loads) :external-format (file-format file))
                       (file-date file)))))

;;; Stops

(defun change-place (change)
  "The definition or form of CHANGE with its place, as text."
  (let ((kind (change-kind change))
        (file (change-file change)))
    (multiple-value-bind (line column) (position-of (file-text file) (change-position change))
      (format nil "~:[~(~a~) ~;~*~]~a ~a:~d:~d" (eq kind :method) (substitute #\Space #\- (string (or kind :form)))
              (change-name change) (shown-file (file-truename file)) line column))))

(defun stop-text (run load heading)
  "Where RUN stands in LOAD, which HEADING describes: what was loaded, and what was not."
  (flet ((places (outcome)
           (loop for other in (run-loads run)
                 when (and (eq outcome (form-load-outcome other)) (not (eq other load)))
                   collect (change-place (form-load-change other)))))
    (format nil "~a ~a.~%Loaded: ~:[nothing~;~:*~{~a~^, ~}~].~%Not loaded: ~:[nothing else~;~:*~{~a~^, ~}~].~%"
            heading (change-place (form-load-change load)) (places :loaded) (places :pending))))

(defun tell (text)
  "Print TEXT, as far as that is possible."
  (or-nil (fresh-line) (write-string text) (finish-output)))

(defun call-telling-stops (run load function)
  "Call FUNCTION, which loads LOAD. When it first stops, print where RUN stands."
  (let* ((next sb-ext:*invoke-debugger-hook*)
         (sb-ext:*invoke-debugger-hook*
           (lambda (condition hook)
             (unless (shiftf (form-load-told load) t)
               (tell (stop-text run load "Stopped in")))
             (funcall next condition hook))))
    (funcall function)))

;;; Loading

(defun load-one (run load function)
  "Call FUNCTION, which loads the form of LOAD. => :LOADED or :SKIPPED"
  (restart-case (progn (call-telling-stops run load function) :loaded)
    (skip-form ()
      :report (lambda (stream) (format stream "Leave out ~a, and load the others." (change-place (form-load-change load))))
      :skipped)))

(defun load-noting (run load function)
  "LOAD-ONE with its warnings as notes of RUN."
  (let ((change (form-load-change load)) (outcome nil))
    (add-notes run (call-noting-form (change-file change) (change-number change)
                                     (lambda () (setf outcome (load-one run load function)))))
    outcome))

(defun add-notes (run notes)
  "Add NOTES to those of RUN, each once."
  (dolist (note notes)
    (flet ((same-p (other)
             (and (string= (noted-text note) (noted-text other)) (equal (noted-path note) (noted-path other))
                  (equal (noted-file note) (noted-file other)))))
      (unless (find-if #'same-p (run-notes run))
        (if (< (length (run-notes run)) +notes-limit+)
            (push note (run-notes run))
            (incf (run-omitted run)))))))

(defun frozen-p (load)
  "True if LOAD is of a structure or constant, which is not loaded."
  (member (form-load-outcome load) '(:structure :constant)))

(defun load-form (run load)
  "Load the form of LOAD. => its outcome"
  (let ((change (form-load-change load)))
    (when (< (count-if #'form-load-users (run-loads run)) (+ +macros-limit+ (count-if #'frozen-p (run-loads run))))
      (setf (form-load-users load) (users-before change)))
    (setf (form-load-remark load) (remark-on change))
    (call-with-compiled-form (change-file change) (change-number change)
                             (lambda (notes loader)
                               (add-notes run notes)
                               (if loader (load-noting run load loader) :failed)))))

(defun same-form-p (load other)
  "True if OTHER is pending and about the same top-level form as LOAD."
  (and (eq :pending (form-load-outcome other))
       (eq (form-load-file load) (form-load-file other))
       (eql (change-number (form-load-change load)) (change-number (form-load-change other)))))

(defun load-pending (run)
  "Load the pending forms of RUN, one after another, until one cannot be compiled."
  (dolist (load (run-loads run))
    (when (eq :pending (form-load-outcome load))
      (report-progress *evaluation* "Loading ~a" (change-place (form-load-change load)))
      (let* ((*package* (file-initial-package (form-load-file load)))
             (outcome (with-file-syntax ((current-session)) (load-or-tell run load))))
        (dolist (other (run-loads run))
          (when (same-form-p load other) (setf (form-load-outcome other) outcome)))
        (note-loaded-forms run (form-load-file load))
        (when (eq outcome :failed) (return))))))

(defun load-or-tell (run load)
  "LOAD-FORM. If that does not return because the evaluation is aborted, print where RUN stands unless a stop has done so."
  (let ((outcome nil))
    (unwind-protect (setf outcome (load-form run load))
      (unless (or outcome (form-load-told load))
        (tell (stop-text run load "Aborted in the following form, which may be done in part:"))))))

;;; The reply

(defun form-load-entry (load)
  "The plist that describes LOAD."
  (let ((users (stale-users (form-load-users load)))
        (change (form-load-change load))
        (loaded (eq :loaded (form-load-outcome load))))
    (list* :outcome (form-load-outcome load)
           :remark (and loaded
                        (cond (users :old-expansion)
                              ((form-load-remark load))))
           :users (and (or loaded (frozen-p load)) users)
           (change-entry change))))

(defun unreadable-note (file)
  "The note about FILE, which cannot be read to its end."
  (let ((last (first (last (file-forms file)))))
    (make-note :severity :read-error :text "this form cannot be read" :file (file-truename file)
               :position (if last (top-level-form-end last) 0))))

(defun run-reply (run)
  "The reply of LOAD-CHANGES after RUN."
  (let* ((unreadable (loop for (file state) in (run-files run) when (eq state :unreadable) collect file))
         (notes (append (mapcar #'unreadable-note unreadable)
                        (remove-if (lambda (note) (and (noted-undefined note) (not (undefined-yet-p (noted-undefined note)))))
                                   (reverse (run-notes run)))))
         (*room* +texts-limit+))
    (with-printing-time
      (list :loads
            (mapcar #'form-load-entry (run-loads run))
            (loop for (file state) in (run-files run) collect (list (shown-file (file-truename file)) state))
            (loop for note in notes collect (note-facts note nil))
            (run-omitted run)
            (loop for file in unreadable
                  when (< (length (file-text file)) +texts-limit+)
                    collect (list (shown-file (file-truename file)) (file-text file)))))))

(defun load-changes (name)
  "Load the top-level forms of the file NAME, by default of all files, that have changed since they were loaded. Those after one that cannot be
compiled are not loaded.
=> (:loads (ENTRY ...) ((FILE STATE) ...) (NOTE ...) COUNT-OF-OTHERS ((FILE TEXT) ...)) | (:file-not-found NAME (FILE ...) REASON)"
  (with-files ()
    (with-wanted-file (truename name)
      (let* ((*known-operators* (make-hash-table :test 'eq))
             (run (planned-run truename)))
        (load-pending run)
        (run-reply run)))))
