;;; locate-slime.el --- Prints the folder of SLIME, or nothing  -*- lexical-binding: t -*-

;; For `emacs --batch -l`: the folders of the system and of this user's packages, as an Emacs that the user starts would know them.

(require 'package)
(package-initialize)
(let ((library (locate-library "slime")))
  (when library
    (princ (file-name-directory library))))

;;; locate-slime.el ends here
