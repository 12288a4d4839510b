;;;; Finds the symbol that a text names, as the reader does, but without interning and without the reader's errors.

(in-package #:swank-client/names)

(define-condition odd-character (parse-error)
  ((char :initarg :char :reader odd-char)
   (meant :initarg :meant :reader meant-instead)
   ;; its index in the text
   (position :initarg :position :reader odd-position)
   ;; (LINE COLUMN), or NIL if something else names the place
   (place :initarg :place :initform nil :reader odd-place))
  (:report (lambda (condition stream)
             (format stream "U+~4,'0x ~:[~;~:*~a ~]~@[at line ~{~d, column ~d~} ~]becomes part of a name. ~:[Leave it out~;~:*Write ~a instead~], ~
                             or write the name with bars."
                     (char-code (odd-char condition))
                     (substitute #\Space #\_ (char-name (odd-char condition)))
                     (odd-place condition)
                     (meant-instead condition))))
  (:documentation "Signalled for code or a name with a character that is invisible, or looks like one of Lisp's syntax."))

(defconstant +suggestions+ 8 "Most packages or symbols suggested.")

;;; Names to symbols

;;; Other threads may delete packages at any time, so functions on packages can fail.

(defun package-known-in (home name)
  "The package that NAME means in the package HOME; local nicknames of HOME come first."
  (or-nil
   (let* ((*package* home)
          (package (find-package name)))
     (and package (package-name package) package))))

(defun live-package (name)
  "The package that NAME means in the session's package, local nicknames included."
  (package-known-in (session-package-now (current-session)) name))

(defun live-packages ()
  "All packages that are not deleted."
  (remove-if-not #'package-name (or-nil (list-all-packages))))

(defun home-name (symbol)
  "The name of the package that SYMBOL belongs to; NIL if it was deleted."
  (let ((package (symbol-package symbol)))
    (and package (package-name package))))

(defun qualified-name (symbol)
  "PACKAGE::NAME, with bars where they are needed."
  (let ((package-name (home-name symbol)))
    (with-name-syntax ((find-package "KEYWORD"))
      (flet ((printed (name) (subseq (prin1-to-string (make-symbol name)) 2)))
        (format nil "~:[#:~;~:*~a::~]~a" (and package-name (printed package-name)) (printed (symbol-name symbol)))))))

(defun readable-name (symbol)
  "SYMBOL as code in another package writes it."
  (with-name-syntax ((find-package "KEYWORD"))
    (prin1-to-string symbol)))

(defun symbol-named (text home &optional (check-p t))
  "The symbol that TEXT, as a client writes it under the current readtable or that of the symbol's package, means in the package HOME: a symbol
with its prefix or none, perhaps quoted, or in (setf ...). Of several, the first that names a definition, else the first. An unknown name with an
odd character is an error if CHECK-P.
=> the symbol, its status, its package | NIL, NIL, the package or NIL, the name, its prefix or NIL, the name as written"
  (let ((missed nil) (found nil))
    (flet ((look (case &optional known)
             (multiple-value-bind (name prefix written) (parsed-name text case)
               (let ((package (cond (known)
                                    (prefix (or (find-designated-package prefix home) (live-package prefix)))
                                    (t home))))
                 (multiple-value-bind (symbol status) (and package (or-nil (accessible-symbol name package)))
                   (when status
                     (when (or-nil (means-something-p symbol)) (return-from symbol-named (values symbol status package)))
                     (unless found (setf found (list symbol status package))))
                   (unless missed (setf missed (list nil nil package name prefix written)))
                   package)))))
      (dolist (case (name-cases))
        (let* ((package (look case))
               (own (and package (readtable-of-package package))))
          (when own (look (readtable-case own) package)))))
    (when (and check-p (not found)) (check-characters text))
    (values-list (or found missed))))

(defun may-name-p (text symbol)
  "True if TEXT, as a client writes it, can mean SYMBOL. Packages are not compared."
  (let* ((package (symbol-package symbol))
         (readtable (and package (readtable-of-package package))))
    (some (lambda (case) (string= (symbol-name symbol) (parsed-name text case)))
          (append (name-cases) (and readtable (list (readtable-case readtable)))))))

;;; Characters that Lisp takes for parts of names, and people for something else or for nothing

(defun meant-by (char)
  "The text that people mean by CHAR: \"\" if they do not see it, or NIL for other characters."
  (let ((code (char-code char)))
    (cond ((< code #xA0) nil)
          ((or (= code #xA0) (<= #x2000 code #x200A) (member code '(#x1680 #x202F #x205F #x3000))) "a space")
          ((member code '(#x2028 #x2029)) "a line break")
          ((or (member code '(#xAD #x61C #x180E #xFEFF)) (<= #x200B code #x200F) (<= #x202A code #x202E) (<= #x2060 code #x2064)
               (<= #x2066 code #x206F))
           "")
          ((or (<= #x201C code #x201F) (member code '(#xFF02 #xAB #xBB))) "\"")
          ((or (<= #x2018 code #x201B) (member code '(#xFF07 #xB4))) "'")
          ((= code #xFF08) "(")
          ((= code #xFF09) ")")
          ((= code #xFF1A) ":")
          ((= code #xFF1B) ";")
          ((= code #xFF03) "#"))))

(defun place-in (text position)
  "(LINE COLUMN) of POSITION in TEXT."
  (let ((start (position #\Newline text :end position :from-end t)))
    (list (1+ (count #\Newline text :end position)) (- position (or start -1)))))

(defun outside-position (text found-p)
  "The first position in TEXT, outside of strings, comments, bars and characters, of which FOUND-P is true; or NIL."
  (loop with position = 0
        with end = (length text)
        while (< position end)
        do (let ((char (char text position)))
             (flet ((skip-to (char from)
                      (setf position (loop for at from from below end
                                           do (cond ((char= #\\ (char text at)) (incf at))
                                                    ((char= char (char text at)) (return (1+ at))))
                                           finally (return end))))
                    (here-p (mark) (eql position (search mark text :start2 position :end2 (min end (+ position (length mark)))))))
               (cond ((char= char #\\) (incf position 2))
                     ((char= char #\") (skip-to #\" (1+ position)))
                     ((char= char #\|) (skip-to #\| (1+ position)))
                     ((char= char #\;) (setf position (or (position #\Newline text :start position) end)))
                     ((here-p "#\\") (incf position 3))
                     ((here-p "#|") (setf position (block-comment-end text position)))
                     ((funcall found-p position) (return position))
                     (t (incf position)))))))

(defun token-around (text position)
  "The name around POSITION of TEXT."
  (flet ((delimiter-p (char) (or (blank-p char) (find char "()\"'`,;"))))
    (subseq text
            (let ((start (position-if #'delimiter-p text :end position :from-end t))) (if start (1+ start) 0))
            (position-if #'delimiter-p text :start position))))

(defun odd-character-in (text)
  "A condition that describes the first character in TEXT, code, that is invisible or looks like syntax and would become part of a name that
the current package does not have; or NIL."
  (flet ((odd-p (position)
           (let ((char (char text position)))
             (and (meant-by char)
                  (not (get-macro-character char *readtable*))
                  (not (nth-value 1 (symbol-named (token-around text position) *package* nil)))))))
    (when (some #'meant-by text)
      (let ((position (outside-position text #'odd-p)))
        (and position (odd-character-at text position))))))

(defun odd-character-at (text position)
  "A condition that describes the odd character at POSITION of TEXT."
  (let* ((char (char text position)) (meant (meant-by char)))
    (make-condition 'odd-character :char char :position position :place (place-in text position)
                                   :meant (and (plusp (length meant)) meant))))

(defun odd-character-of-name (symbol code)
  "A condition that describes an odd character in the text that CODE, a function, returns, if it is part of the name of SYMBOL there; or NIL.
The reader normalizes names: a no-break space becomes a space."
  (when (some (lambda (char) (or (meant-by char) (find char " ()\"':;#"))) (symbol-name symbol))
    (let* ((text (or (funcall code) ""))
           (position (outside-position text (lambda (position)
                                              (and (meant-by (char text position))
                                                   (may-name-p (token-around text position) symbol))))))
      (and position (odd-character-at text position)))))

(defun odd-character-text (text)
  "What is wrong with the odd character in TEXT, a name that means nothing; or NIL if it has none."
  (let ((problem (recording-faults (odd-character-in text))))
    (and problem (princ-to-string problem))))

(defun check-characters (text)
  "Signal an error if TEXT, code, has an odd character."
  (let ((problem (odd-character-in text)))
    (when problem (error problem))))

;;; Names in longer texts

(defun spelled-name (token)
  "TOKEN, the name of a symbol of a package with its own readtable, as code under the current readtable writes it; or NIL for other texts."
  (when (and (position #\: token) (not (find-if (lambda (char) (find char "|\\")) token)))
    (multiple-value-bind (symbol status package) (symbol-named token *package* nil)
      (and status (readtable-of-package package) (qualified-name symbol)))))

(defun with-name-spelled (text)
  "TEXT, code, or if that is only a name, perhaps quoted, with the name as WITH-NAMES-SPELLED writes it: alone, a name means what it means to
tools that take names."
  (let* ((name (trimmed text))
         (spelled (and (plusp (length name)) (string= name (token-around name 0)) (or-nil (spelled-name name)))))
    (if spelled (concatenate 'string (subseq text 0 (search name text)) spelled) text)))

(defun with-names-spelled (text)
  "TEXT, code, with each name of a package with its own readtable as code under the current readtable writes it."
  (flet ((other-p (position)
           (let* ((token (token-around text position)) (spelled (spelled-name token)))
             (and spelled (string/= token spelled)))))
    (loop for position = (outside-position text #'other-p)
          while position
          do (let ((token (token-around text position)))
               (setf text (concatenate 'string (subseq text 0 position) (spelled-name token)
                                       (subseq text (+ position (length token)))))))
    text))

;;; Suggestions

(defun package-of-p (prefix package)
  "True if the name of PACKAGE begins with PREFIX."
  (eql 0 (search prefix (package-name package))))

(defun implementation-package-p (package)
  "True if PACKAGE is SBCL's or Swank's."
  (or (package-of-p "SB-" package) (package-of-p "SWANK" package)))

(defun means-something-p (symbol)
  "True if SYMBOL names a definition."
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil) (compiler-info :type :kind symbol)
      (fboundp (list 'setf symbol)) (compiler-macro-function symbol)))

(defun relevance (symbol)
  "A number that is greater the more likely SYMBOL is meant."
  (+ (if (means-something-p symbol) 4 0)
     (if (implementation-package-p (symbol-package symbol)) 0 2)
     (if (eq (nth-value 1 (accessible-symbol (symbol-name symbol) (symbol-package symbol))) :external) 1 0)))

(defun same-named-symbols (name)
  "The symbols named NAME in all packages, each once."
  (loop for package in (live-packages)
        for symbol = (or-nil (and (not (runtime-package-p package)) (accessible-symbol name package)))
        when (and symbol (home-name symbol))
          unless (keywordp symbol)
            collect symbol into found
        finally (return (delete-duplicates found))))

(defun symbols-worth-naming (name)
  "Of the symbols named NAME, those that name definitions, or all if none does."
  (let ((found (or-nil (same-named-symbols name))))
    (or (remove-if-not #'means-something-p found) found)))

(defun symbols-elsewhere (name written)
  "The symbols of other packages that NAME, as WRITTEN, may mean, as text, the most relevant first."
  (or-nil
   (let ((found (append (and (string/= name written) (same-named-symbols written)) (same-named-symbols name))))
     (mapcar #'readable-name
             (stable-sort (sort (delete-duplicates found) #'string< :key #'qualified-name) #'> :key #'relevance)))))

(defun edit-distance (one other)
  "The number of characters to insert, delete or replace to turn ONE into OTHER."
  (let ((row (loop for column from 0 to (length other) collect column)))
    (loop for char across one
          for line from 1
          do (setf row (loop for (diagonal above) on row
                             for left = line then distance
                             for mate across other
                             for distance = (min (1+ left) (1+ above) (+ diagonal (if (char= char mate) 0 1)))
                             collect distance into distances
                             finally (return (cons line distances)))))
    (first (last row))))

(defun length-difference (one other)
  "The difference of the lengths of ONE and OTHER."
  (abs (- (length one) (length other))))

(defun slip-p (one other)
  "True if ONE and OTHER differ by a slip."
  (let ((limit (if (> (length one) 3) 2 1)))
    (and (<= (length-difference one other) limit)
         (<= (edit-distance one other) limit))))

(defun similar-packages (name)
  "Names of packages whose name or a nickname is similar to NAME."
  (when (> (length name) 1)
    (loop for package in (live-packages)
          for names = (or-nil (cons (package-name package) (package-nicknames package)))
          when (some (lambda (other) (or (search name other) (and (> (length other) 2) (search other name)) (slip-p name other))) names)
            collect (first names) into found
          finally (return (subseq (sort found #'string<) 0 (min +suggestions+ (length found)))))))

(defun nearer-p (one other)
  "True if ONE, (DISTANCE LENGTH-DIFFERENCE NAME), comes before OTHER."
  (loop for a in one
        for b in other
        do (cond ((equal a b))
                 ((stringp a) (return (string< a b)))
                 (t (return (< a b))))))

(defun similar-symbols (name package)
  "The names of external symbols of PACKAGE that differ from NAME by a slip, the nearest first. People rarely misspell the first letter."
  (let ((limit (if (> (length name) 3) 2 1))
        (found '()))
    (or-nil
     (do-external-symbols (symbol package)
       (let ((other (symbol-name symbol)))
         (when (and (<= (length-difference name other) limit)
                    (plusp (min (length name) (length other)))
                    (eql 0 (search name other :end1 1 :end2 1)))
           (let ((distance (edit-distance name other)))
             (when (<= distance limit)
               (push (list distance (length-difference name other) other) found)))))))
    (mapcar #'third (sort found #'nearer-p))))

(defun slip-key (one other)
  "A list by which NEARER-P sorts OTHER by how likely ONE is a slip of it: letters in another order are the likeliest."
  (flet ((letters (text) (sort (copy-seq text) #'char<)))
    (list (if (string= (letters one) (letters other)) 0 (edit-distance one other))
          (length-difference one other)
          other)))

(defconstant +meant-names+ 5 "Most names that an undefined one may mean.")

(defun names-meant (symbol definedp)
  "Names that code may mean by SYMBOL, which has no definition of the kind of which DEFINEDP is true: the same name, exported by other packages of the
program; and names without a package prefix that differ by a slip. None is of SBCL."
  (flet ((meant-p (other)
           (let ((home (symbol-package other)))
             (and home (not (eq other symbol)) (not (implementation-package-p home)) (not (runtime-package-p home)) (funcall definedp other)))))
    (let* ((name (symbol-name symbol))
           (exported (remove-if-not (lambda (other)
                                      (and (meant-p other) (eq :external (nth-value 1 (accessible-symbol name (symbol-package other))))))
                                    (same-named-symbols name)))
           (limit (if (> (length name) 5) 2 1))
           (near (and (> (length name) 2)
                      (let ((found '()))
                        (do-symbols (other *package* (delete-duplicates found))
                          (let ((text (symbol-name other)))
                            ;; people rarely misspell the first letter
                            (when (and (eql 0 (search name text :end1 1 :end2 (min 1 (length text))))
                                       (<= (length-difference name text) limit)
                                       (<= (edit-distance name text) limit)
                                       (meant-p other))
                              (push other found)))))))
           (all (delete-duplicates (append exported (sort near #'nearer-p :key (lambda (other) (slip-key name (symbol-name other)))))
                                   :from-end t)))
      (with-name-syntax (*package*)
        (mapcar #'prin1-to-string (subseq all 0 (min +meant-names+ (length all))))))))

(defun package-not-found (name &optional (text name))
  "The reply if there is no package NAME, written in TEXT."
  (list :package-not-found name (similar-packages name) (odd-character-text text)))

(defun live-or-user (package)
  "PACKAGE, or USER-PACKAGE if that is NIL or deleted."
  (if (and package (package-name package)) package (user-package)))

(defun home-package (symbol)
  "The package in which SYMBOL's description is printed: its own, or USER-PACKAGE if that was deleted."
  (live-or-user (symbol-package symbol)))
