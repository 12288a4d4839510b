;;;; Gives an Emacs that shares the image the text of evaluated definitions, for M-. and for v in its debugger.
;;;; Otherwise Swank would name a buffer that Emacs does not have. It would also read the text to find a position in it, which interns
;;;; symbols in the user's package and prints warnings in the user's REPL.

(in-package #:swank-client/evaluate)

(defun evaluated-text (plist)
  "The text of the form with the source plist PLIST, or NIL if no client of this library evaluated the form."
  (let ((origin (getf plist :evaluation)))
    (and origin
         ;; evaluated code that compiles an editor's text puts the editor's plist before ours
         (eq origin (getf plist :emacs-buffer))
         (getf plist :emacs-string))))

(defun searched-name (name)
  "The text that Emacs searches for in a definition of NAME, ignoring case."
  (if (consp name) (format nil "~{~a~^ ~}" name) (string name)))

(defun call-under-way (code-location)
  "The text of the form at CODE-LOCATION if the code was compiled for stepping, else NIL."
  (let ((form (progn (fill-in-code-location code-location)
                     (compiled-code-location-step-info code-location))))
    (and (stringp form) (plusp (length form)) form)))

(defun file-position-of (text file)
  "The position, from 0, of TEXT in FILE, or NIL."
  (with-open-file (stream (sb-ext:parse-native-namestring file) :external-format '(:utf-8 :replacement #\?))
    (let* ((whole (make-string (file-length stream)))
           (end (read-sequence whole stream)))
      (search text whole :end2 end))))

(defun saved-location (plist text &optional snippet)
  "Swank's location for TEXT, a definition with the source plist PLIST, in the file that it was saved to; or NIL."
  (loop for file in (saved-files (getf plist :evaluation))
        for position = (ignore-errors (file-position-of text file))
        when position
          return (swank/backend:make-location (list :file file) (list :position (1+ position)) (and snippet (list :snippet snippet)))))

(defun text-in-package (text plist)
  "TEXT, which has the source plist PLIST, and below it the IN-PACKAGE form by which an editor compiles it again in the right package. CL-USER is
the one that editors assume. Above TEXT, the form would move the positions in it."
  (let ((package (getf plist :package)))
    (if (and (stringp package) (string/= package "COMMON-LISP-USER"))
        (format nil "~a~2%;; The package in which this was evaluated:~%(in-package ~s)~%" text package)
        text)))

(defun definition-location (plist text name)
  "Swank's location for the definition of NAME in TEXT, whose source plist is PLIST."
  (or (saved-location plist text)
      (swank/backend:make-location (list :source-form (text-in-package text plist)) (list :function-name (searched-name name)))))

(defun call-location (plist text code-location)
  "Swank's location for CODE-LOCATION in TEXT, whose source plist is PLIST. Emacs searches for its snippet."
  (let ((call (ignore-errors (call-under-way code-location))))
    (or (saved-location plist text call)
        (swank/backend:make-location (list :source-form (text-in-package text plist)) '(:position 1) (and call (list :snippet call))))))

(defun show-texts ()
  "Make Swank give Emacs the texts. This stays after the client disconnects, as the definitions do."
  (encapsulate-function 'definition-source-for-emacs 'show-texts
                        (lambda (next source type name)
                          (let* ((plist (sb-introspect:definition-source-plist source))
                                 (text (evaluated-text plist)))
                            (if text (definition-location plist text name) (funcall next source type name)))))
  (encapsulate-function 'emacs-buffer-source-location 'show-texts
                        (lambda (next code-location plist)
                          (let ((text (evaluated-text plist)))
                            (if text (call-location plist text code-location) (funcall next code-location plist))))))

(defvar *show-texts-lock* (sb-thread:make-mutex :name "swank-client show-texts") "Held while Swank's functions are encapsulated.")

(defun ensure-texts-shown ()
  "Make Swank give Emacs the texts unless it already does."
  (unless (sb-int:encapsulated-p 'emacs-buffer-source-location 'show-texts)
    (sb-thread:with-recursive-lock (*show-texts-lock*) (show-texts))))
