/** Commands that install SBCL. */
export const INSTALL_SBCL = `Install SBCL:
  Debian, Ubuntu:  sudo apt-get install sbcl
  Fedora:          sudo dnf install sbcl
  Arch Linux:      sudo pacman -S sbcl
  Homebrew:        brew install sbcl
or name its executable.`;

/** Commands that install Swank. */
export const INSTALL_SWANK = `Install Swank:
  Debian, Ubuntu:  sudo apt-get install cl-swank
  with Quicklisp:  sbcl --eval '(ql:quickload "swank")' --quit
  in Emacs:        M-x package-install RET slime RET, from MELPA or NonGNU ELPA
  anywhere else:   git clone https://github.com/slime/slime ~/common-lisp/slime
or name the folder of its swank-loader.lisp.`;
