;;; install-package.el --- Install a package file, and print what it loads  -*- lexical-binding: t -*-

;; For `emacs --batch -l`, with the file as argument and a new home folder.

(require 'package)
(setq package-archives nil)
(package-initialize)
(package-install-file (pop command-line-args-left))
(require 'swank-mcp)
(swank-mcp-mode 1)
(princ (locate-library "swank-mcp"))

;;; install-package.el ends here
