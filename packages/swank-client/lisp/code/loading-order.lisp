;;;; The order in which the changed files of a program are loaded: that of their systems, with what these depend on before them.

(in-package #:swank-client/code)

(defun planned-files (system)
  "The native names of the files of SYSTEM and of those that it depends on, in the order in which ASDF loads them."
  (loop for component in (or-nil (call-if-loaded "ASDF" "REQUIRED-COMPONENTS" system :other-systems t))
        for pathname = (or-nil (call-if-loaded "ASDF" "COMPONENT-PATHNAME" component))
        for truename = (and pathname (pathname-name pathname) (named-file pathname))
        when truename collect (sb-ext:native-namestring truename)))

(defun first-loads ()
  "The native names of the files that this session's code has loaded, in the order in which each was first loaded."
  (loop for (kind name) in (reverse (ledger-loads (session-ledger (current-session))))
        when (eq kind :file) collect (sb-ext:native-namestring name)))

(defun in-loading-order (files)
  "FILES in the order in which they are to be loaded."
  (if (rest files)
      (let* ((systems (with-file-systems ()
                        (remove-duplicates (loop for file in files
                                                 for system = (system-of-file (file-truename file))
                                                 when system collect system)
                                           :test #'equal)))
             (order (append (mapcan #'planned-files systems) (first-loads))))
        (stable-sort (copy-list files) #'<
                     :key (lambda (file)
                            (or (position (sb-ext:native-namestring (file-truename file)) order :test #'string=)
                                (length order)))))
      files))
