;;; locate-slime.el --- Print SLIME's folder, or nothing  -*- lexical-binding: t -*-

;; For `emacs --batch -l`.  Searches the system's folders and the user's packages, like an Emacs that the user starts.

(require 'package)
(package-initialize)
(let ((library (locate-library "slime")))
  (when library
    (princ (file-name-directory library))))

;;; locate-slime.el ends here
