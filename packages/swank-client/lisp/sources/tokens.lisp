;;;; Finds names in the text of code, outside of strings and comments, without reading it.

(in-package #:swank-client/sources)

(defun token-char-p (char)
  "True if CHAR can be part of a name."
  (not (or (blank-p char) (find char "()\"'`,;"))))

(defun string-end (text start)
  "The end of the string that begins at START of TEXT."
  (loop for position from (1+ start) below (length text)
        do (case (char text position)
             (#\\ (incf position))
             (#\" (return (1+ position))))
        finally (return (length text))))

(defun skipped-end (text position)
  "The end of the string, comment or character that begins at POSITION of TEXT, or NIL if none does."
  (let ((next (and (< (1+ position) (length text)) (char text (1+ position)))))
    (case (char text position)
      (#\" (string-end text position))
      (#\; (or (position #\Newline text :start position) (length text)))
      (#\# (case next
             (#\| (block-comment-end text position))
             (#\\ (min (length text) (+ position 3))))))))

(defun token-end (text start)
  "The end of the token that begins at START of TEXT."
  (or (position-if-not #'token-char-p text :start start) (length text)))

(defun token-names-p (text start end name)
  "True if the token between START and END of TEXT is NAME, with or without a package."
  (and (<= (length name) (- end start))
       (search name text :start2 start :end2 end :test #'char-equal)
       (string= name (parsed-name (subseq text start end)))))

(defun token-positions (text name)
  "The positions in TEXT of the name NAME, a symbol's."
  (let ((position 0) (found '()))
    (loop while (< position (length text))
          do (let ((end (or (skipped-end text position)
                            (and (token-char-p (char text position)) (token-end text position)))))
               (when (and end (token-names-p text position end name))
                 (push position found))
               (setf position (or end (1+ position)))))
    (nreverse found)))
