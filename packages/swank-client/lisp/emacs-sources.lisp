;;;; Shows an Emacs that shares the image the text of what was defined by evaluating: for M-., and for v in its debugger.
;;;; Swank would name a buffer that Emacs does not have. It would also read the text to find a place in it, which interns symbols in
;;;; the user's package and prints warnings in the user's REPL.

(in-package #:@runtime@)

(defun evaluated-text (plist)
  "The text of the form whose source plist this is, or NIL if the form was not evaluated by a client of ours."
  (let ((origin (getf plist :evaluation)))
    (and origin
         ;; code that compiles an editor's text while it is evaluated has the editor's plist before ours
         (eq origin (getf plist :emacs-buffer))
         (getf plist :emacs-string))))

(defun searched-name (name)
  "What Emacs searches for in a definition of NAME; it ignores case."
  (if (consp name) (format nil "~{~a~^ ~}" name) (string name)))

(defun call-under-way (code-location)
  "The text of the form at CODE-LOCATION, which code that is compiled for stepping knows, or NIL."
  (let ((form (progn (sb-di::fill-in-code-location code-location)
                     (sb-di::compiled-code-location-step-info code-location))))
    (and (stringp form) (plusp (length form)) form)))

(defun definition-location (text name)
  (swank/backend:make-location (list :source-form text) (list :function-name (searched-name name))))

(defun call-location (text code-location)
  "Emacs goes to the place in TEXT that begins like the snippet."
  (let ((call (ignore-errors (call-under-way code-location))))
    (swank/backend:make-location (list :source-form text) '(:position 1) (and call (list :snippet call)))))

(defun show-texts ()
  "Have Swank give Emacs the texts. This stays when the client leaves, as the definitions do."
  (sb-int:encapsulate 'swank/sbcl::definition-source-for-emacs 'show-texts
                      (lambda (next source type name)
                        (let ((text (evaluated-text (sb-introspect:definition-source-plist source))))
                          (if text (definition-location text name) (funcall next source type name)))))
  (sb-int:encapsulate 'swank/sbcl::emacs-buffer-source-location 'show-texts
                      (lambda (next code-location plist)
                        (let ((text (evaluated-text plist)))
                          (if text (call-location text code-location) (funcall next code-location plist))))))

(defvar *show-texts-lock* (sb-thread:make-mutex :name "swank-client show-texts"))

(defun ensure-texts-shown ()
  (unless (sb-int:encapsulated-p 'swank/sbcl::emacs-buffer-source-location 'show-texts)
    (sb-thread:with-recursive-lock (*show-texts-lock*) (show-texts))))
