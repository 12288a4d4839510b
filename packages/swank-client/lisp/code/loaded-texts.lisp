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
