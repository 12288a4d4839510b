;;;; The texts of files as they were loaded.

(in-package #:swank-client/code)

(defun decoded (octets format)
  "The text of OCTETS in FORMAT, or in Latin-1."
  (or (or-nil (sb-ext:octets-to-string octets :external-format format))
      (sb-ext:octets-to-string octets :external-format :latin-1)))

(defun text-as-loaded (file)
  "The text of FILE as it was loaded, or NIL if that is not known."
  (let ((code (loaded-source (file-truename file))))
    (multiple-value-bind (octets date) (loaded-octets (file-truename file))
      (cond ((and octets (or (null code) (<= (code-created code) date))) (decoded octets (file-format file)))
            ((and code (= (code-created code) (file-date file)))
             (note-text (file-truename file))
             (file-text file))))))

;;; Files of which no text and no code is known

(defun core-without-program-p ()
  "True if the image was started from SBCL's own core, or from one that this library has built, which is named by a digest."
  (let ((name (pathname-name sb-ext:*core-pathname*)))
    (or (equal "sbcl" name)
        (and (find-package "SWANK-CLIENT/LAUNCH")
             (= 24 (length name))
             (every (lambda (char) (digit-char-p char 16)) name)))))

(defun image-start ()
  "The universal time at which the image was started, or a little before. For a core that may hold a program: when it was saved, or before."
  (let ((started (- (get-universal-time) (ceiling (get-internal-real-time) internal-time-units-per-second) 1)))
    (if (core-without-program-p)
        started
        (min started (or (or-nil (file-write-date sb-ext:*core-pathname*)) 0)))))

(defun compiled-since-p (pathname)
  "True if ASDF has compiled the file PATHNAME since it was written, and so has not loaded code from before."
  (let ((fasl (or-nil (call-if-loaded "ASDF" "APPLY-OUTPUT-TRANSLATIONS" (compile-file-pathname pathname)))))
    (or-nil (<= (file-write-date pathname) (file-write-date fasl)))))
