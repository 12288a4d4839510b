;;;; Names as people write them: what they mean, found without reading them. Reading interns symbols, and can run code.

(in-package #:@runtime@)

(defun scan-token (text)
  "The characters that TEXT names, upcased where nothing forbids it, the same as they were written, and where its first colons are:
TOKEN, PLAIN, START, END; the last two are NIL if there are none."
  (let ((token (make-string-output-stream)) (plain (make-string-output-stream))
        (quoted nil) (escaped nil) (length 0) (start nil) (end nil))
    (flet ((add (char shown)
             (write-char shown token)
             (write-char char plain)
             (incf length)))
      (loop for char across text
            do (cond (escaped (setf escaped nil) (add char char))
                     ((char= char #\\) (setf escaped t))
                     ((char= char #\|) (setf quoted (not quoted)))
                     (quoted (add char char))
                     (t (when (and (char= char #\:) (or (null start) (eql end length)))
                          (unless start (setf start length))
                          (setf end (1+ length)))
                        (add char (char-upcase char))))))
    (values (get-output-stream-string token) (get-output-stream-string plain) start end)))

(defun trimmed (text)
  "TEXT without blanks and quotes round it."
  (string-left-trim "#'" (string-trim '(#\Space #\Tab #\Newline #\Return #\Page) text)))

(defun unwrapped (text)
  "The symbol in a function's name as people write it: NAME, 'name, #'name, (setf name)."
  (let* ((text (trimmed text))
         (end (1- (length text))))
    (if (and (> end 6) (string-equal "(setf" text :end2 5) (blank-p (char text 5)) (char= (char text end) #\)))
        (trimmed (subseq text 6 end))
        text)))

(defun normalized (name)
  "As the reader interns it."
  (if (every (lambda (char) (< (char-code char) 128)) name) name (sb-unicode:normalize-string name :nfkc)))

(defun parsed-name (text)
  "=> name, package or NIL, name in its own case"
  (multiple-value-bind (token plain start end) (scan-token (unwrapped text))
    (cond ((null start) (values (normalized token) nil plain))
          ((zerop start) (values (normalized (subseq token end)) "KEYWORD" (subseq plain end)))
          (t (values (normalized (subseq token end)) (subseq token 0 start) (subseq plain end))))))

(defun parsed-package (text)
  "The name in a package designator: MY-APP, :my-app, #:my-app."
  (values (parsed-name (string-left-trim ":" (trimmed text)))))

(defun find-written-package (text)
  "The package that TEXT means to this client, or NIL: exactly so named, or as code writes it: my-app, :my-app, \"MY-APP\".
Local nicknames of the session's package count."
  (let ((*package* (session-package-now (current-session))))
    (flet ((live (name)
             (let ((package (ignore-errors (find-package name))))
               (and package (package-name package) package))))
      (or (live text)
          (live (parsed-package text))
          (live (string-trim "\"" (trimmed text)))))))
