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

(defun token-end (text start &optional (token-char-p #'token-char-p))
  "The end of the token that begins at START of TEXT. TOKEN-CHAR-P is true of characters that can be part of a token without being escaped."
  (loop with quoted = nil
        with position = start
        while (< position (length text))
        do (let ((char (char text position)))
             (case char
               (#\\ (incf position))
               (#\| (setf quoted (not quoted)))
               (t (unless (or quoted (funcall token-char-p char)) (return position))))
             (incf position))
        finally (return (length text))))

(defun dispatched-start (text position)
  "The position in TEXT after the character #, the digits and the character at POSITION that choose a reader function."
  (let ((sub (position-if-not #'digit-char-p text :start (1+ position))))
    (cond ((null sub) (length text))
          ((token-char-p (char text sub)) (1+ sub))
          (t sub))))

(defun map-tokens (function text token-char-p)
  "Call FUNCTION with the start and the end of each token of TEXT, except uninterned symbols. TOKEN-CHAR-P is as in TOKEN-END."
  (loop with position = 0
        while (< position (length text))
        do (let ((char (char text position))
                 (skipped (skipped-end text position)))
             (setf position
                   (cond (skipped)
                         ((eql position (search "#:" text :start2 position :end2 (min (length text) (+ position 2))))
                          (token-end text (+ position 2) token-char-p))
                         ((char= char #\#) (dispatched-start text position))
                         ((funcall token-char-p char)
                          (let ((end (token-end text position token-char-p)))
                            (funcall function position end)
                            end))
                         (t (1+ position)))))))

(defun package-marker (text start end)
  "=> the position of the first colon in the token between START and END of TEXT that is not escaped, and the number of colons there; or NIL"
  (loop with quoted = nil
        with position = start
        while (< position end)
        do (case (char text position)
             (#\\ (incf position))
             (#\| (setf quoted (not quoted)))
             (#\: (unless quoted
                    (return (values position
                                    (- (or (position #\: text :start position :end end :test #'char/=) end) position))))))
           (incf position)))

(defun token-names-p (text start end name)
  "True if the token between START and END of TEXT is NAME, with or without a package."
  (and (<= (length name) (- end start))
       (search name text :start2 start :end2 end :test #'char-equal)
       (multiple-value-bind (parsed prefix written) (parsed-name (subseq text start end))
         (declare (ignore prefix))
         (one-of-names-p (cons parsed written) name))))

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
