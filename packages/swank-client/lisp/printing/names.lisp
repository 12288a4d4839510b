;;;; Parses names as people write them, without the reader: reading interns symbols, and can run code.

(in-package #:swank-client/printing)

(defun blank-p (char)
  "True if CHAR is white space."
  (member char '(#\Space #\Newline #\Tab #\Return #\Page)))

(defun scan-token (text)
  "Parse TEXT as the reader does a token. => TOKEN, PLAIN, START, END
TOKEN is upcased where it is not escaped, PLAIN has the case as written, START and END delimit the first colons or are NIL."
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
  "TEXT without surrounding white space, and without quotes in front."
  (string-left-trim "#'" (string-trim '(#\Space #\Tab #\Newline #\Return #\Page) text)))

(defun unwrapped (text)
  "The symbol in a function's name as people write it: NAME, 'name, #'name, (setf name)."
  (let* ((text (trimmed text))
         (end (1- (length text))))
    (if (and (> end 6) (string-equal "(setf" text :end2 5) (blank-p (char text 5)) (char= (char text end) #\)))
        (trimmed (subseq text 6 end))
        text)))

(defun normalized (name)
  "NAME in the Unicode form in which the reader interns it."
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
