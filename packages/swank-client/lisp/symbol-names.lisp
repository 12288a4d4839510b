;;;; Finding the symbol that a piece of text means, as the reader would, but without interning anything and without its errors.

(in-package #:@module@)

(defconstant +suggestions+ 8)

;;; Names to symbols

;;; Other threads may delete packages at any time, and what asks for a package then fails now and then.

(defun package-known-in (home name)
  "The package that NAME is in HOME, whose own nicknames go first."
  (or-nil
   (let* ((*package* home)
          (package (find-package name)))
     (and package (package-name package) package))))

(defun live-package (name)
  "The package NAME as code of the session would find it, local nicknames included."
  (package-known-in (session-package-now (current-session)) name))

(defun live-packages ()
  (remove-if-not #'package-name (or-nil (list-all-packages))))

(defun home-name (symbol)
  "The name of the package that SYMBOL belongs to; NIL if it was deleted."
  (let ((package (symbol-package symbol)))
    (and package (package-name package))))

(defun qualified-name (symbol)
  "PACKAGE::NAME, with bars where they are needed."
  (with-standard-io-syntax
    (let ((package-name (home-name symbol))
          (*print-readably* nil))
      (flet ((printed (name) (subseq (prin1-to-string (make-symbol name)) 2)))
        (format nil "~:[#:~;~:*~a::~]~a" (and package-name (printed package-name)) (printed (symbol-name symbol)))))))

(defun readable-name (symbol)
  "As code in another package writes it."
  (with-standard-io-syntax
    (let ((*package* (find-package "KEYWORD")) (*print-readably* nil))
      (prin1-to-string symbol))))

;;; Suggestions

(defun package-of-p (prefix package)
  (eql 0 (search prefix (package-name package))))

(defun implementation-package-p (package)
  (or (package-of-p "SB-" package) (package-of-p "SWANK" package)))

(defun means-something-p (symbol)
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil) (sb-int:info :type :kind symbol)))

(defun likelihood (symbol)
  (+ (if (means-something-p symbol) 4 0)
     (if (implementation-package-p (symbol-package symbol)) 0 2)
     (if (eq (nth-value 1 (find-symbol (symbol-name symbol) (symbol-package symbol))) :external) 1 0)))

(defun namesakes (name)
  "The symbols called NAME of all packages; each once."
  (loop for package in (live-packages)
        for symbol = (or-nil (and (not (package-of-p "SWANK-CLIENT/" package)) (find-symbol name package)))
        when (and symbol (home-name symbol))
          unless (keywordp symbol)
            collect symbol into found
        finally (return (delete-duplicates found))))

(defun elsewhere (name written)
  (or-nil
   (let ((found (append (and (string/= name written) (namesakes written)) (namesakes name))))
     (mapcar #'readable-name
             (stable-sort (sort (delete-duplicates found) #'string< :key #'qualified-name) #'> :key #'likelihood)))))

(defun similar-packages (name)
  (when (> (length name) 1)
    (loop for package in (live-packages)
          for names = (or-nil (cons (package-name package) (package-nicknames package)))
          when (some (lambda (other) (or (search name other) (and (> (length other) 2) (search other name)))) names)
            collect (first names) into found
          finally (return (subseq (sort found #'string<) 0 (min +suggestions+ (length found)))))))
