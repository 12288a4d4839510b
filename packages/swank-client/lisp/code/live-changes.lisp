;;;; Lists for the user's Emacs what lives in the image and not in its file, also what agents did not evaluate.

(in-package #:swank-client/code)

(defun of-agent-p (definition)
  "True if an evaluation of a client of this library, of any version, has made DEFINITION."
  (and definition (getf (definition-plist definition) :evaluation) t))

(defun live-entry (change)
  "The plist that describes CHANGE to Emacs."
  (list* :of-agent (of-agent-p (change-definition change))
         ;; whole, because Emacs writes them
         :text (change-text change)
         :file-text (change-file-text change)
         :path (and (change-file change) (sb-ext:native-namestring (file-truename (change-file change))))
         (change-entry change)))

(defun live-changes (name)
  "The definitions that were evaluated and that differ from the file NAME, or from all files and those that no file has.
=> (:changes (ENTRY ...) LEFT-OUT) | (:file-not-found NAME (FILE ...))"
  (with-code-session (nil)
    (with-files ()
      (with-wanted-file (truename name)
        (let ((changes (in-order (remove-if-not (lambda (change) (of-file-p change truename)) (image-changes (the-program)))))
              (*room* +texts-limit+))
          (with-printing-time
            (list :changes
                  (loop for change in changes repeat +changes-limit+ collect (live-entry change))
                  (max 0 (- (length changes) +changes-limit+)))))))))

(setf *live-changes* 'live-changes)
