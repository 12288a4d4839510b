;;;; Outlines: the files of a system with what they define, the forms of a file, the names of a package, and what a system adds to others.

(in-package #:swank-client/questions)

;;; The forms of a file

(defconstant +outline-line-limit+ 200 "Characters shown of the first line of a form, and of what a file says about itself.")

(defun cut-line (text)
  "TEXT, cut after +OUTLINE-LINE-LIMIT+ characters."
  (subseq text 0 (min +outline-line-limit+ (length text))))

(defun file-about (text)
  "The first comment in TEXT before its first form, without its semicolons, that is a sentence and no mode line; or NIL."
  (with-input-from-string (stream text)
    (loop for line = (read-line stream nil)
          for comment = (and line (string-left-trim '(#\;) (trimmed line)))
          while (and line (or (blank-line-p line) (eql #\; (find-if-not #'blank-p line))))
          when (and (find-if #'alpha-char-p comment) (not (search "-*-" comment)))
            return (cut-line (trimmed comment)))))

(defun blank-line-p (line)
  "True if LINE has white space only."
  (every #'blank-p line))

(defun form-operator (text form)
  "The operator of the top-level FORM of TEXT in lower case without its package, or NIL."
  (let ((operator (definition-head text (top-level-form-start form) (top-level-form-end form))))
    (and operator (string-downcase (operator-name operator)))))

(defun operator-counts (file)
  "((OPERATOR COUNT) ...) of the top-level forms of FILE, the most frequent first. IN-PACKAGE is left out."
  (let ((counts '()))
    (dolist (form (file-forms file) (stable-sort (nreverse counts) #'> :key #'second))
      (let* ((operator (or (form-operator (file-text file) form) ""))
             (known (assoc operator counts :test #'string=)))
        (cond ((string= operator "in-package"))
              (known (incf (second known)))
              (t (push (list operator 1) counts)))))))

(defun line-count (text)
  "The number of lines of TEXT."
  (+ (count #\Newline text) (if (and (plusp (length text)) (char/= #\Newline (char text (1- (length text))))) 1 0)))

(defun form-places (file)
  "((START . DEPTH) ...) of the top-level forms of FILE, each with the definitions of Lisp's operators inside it unless it is a definition itself."
  (loop for form in (file-forms file)
        for number from 0
        for operator = (form-operator (file-text file) form)
        collect (cons (top-level-form-start form) 0)
        unless (eql 0 (search "def" operator))
          append (loop for (start) in (analysis-inner-heads (file-analysis file) number)
                       collect (cons start 1))))

(defun outlined-forms (file places)
  "((LINE DEPTH TEXT) ...) of the forms at PLACES of FILE, in ascending order. TEXT is the first line of a form. One pass counts all lines."
  (loop with text = (file-text file)
        with line = 1
        with from = 0
        for (start . depth) in places
        do (incf line (count #\Newline text :start from :end start))
           (setf from start)
        collect (list line depth (cut-line (trimmed (first-part text start))))))

(defun first-part (text start)
  "The line of TEXT from START on, as far as it is shown."
  (definition-line (subseq text start (min (length text) (+ start +outline-line-limit+ 1))) 0))

(defun outline-file (name start limit)
  "The forms of the file NAME from number START, at most LIMIT.
=> (:file FILE LINES ABOUT-OR-NIL WHOLE-P CHANGED-P COUNT ((LINE DEPTH TEXT) ...)) | (:file-unreadable NAME) | the reply of MISSING-FILE
If WHOLE-P is false, what follows the listed forms cannot be read. CHANGED-P: FILE has changed since it was loaded."
  (with-code-session (nil)
    (with-files ()
      (let ((file (or-nil (file-now name)))
            (truename (plain-file name)))
        (cond (file
               (let ((places (form-places file)))
                 (list :file (shown-file (file-truename file)) (line-count (file-text file)) (file-about (file-text file))
                       (and (file-whole-p file) t) (and (changed-p file) t) (length places)
                       (outlined-forms file (part-of places start limit)))))
              (truename (list :file-unreadable (shown-file truename)))
              (t (missing-file name)))))))

(defun part-of (list start limit)
  "The elements of LIST from START on, at most LIMIT."
  (let ((rest (nthcdr start list))) (subseq rest 0 (min limit (length rest)))))

;;; The names of a package

(defun own-matches (package)
  "Matches of the symbols of PACKAGE that name something: its own, and others that it exports."
  (let ((matches '()))
    (map-own-symbols (lambda (symbol status)
                       (let ((kinds (and (or (eq package (symbol-package symbol)) (eq status :external)) (or-nil (symbol-kinds symbol)))))
                         (when kinds (push (make-match :symbol symbol :package package :status status :kinds kinds) matches))))
                     package t)
    matches))

(defun kind-counts (matches)
  "((KIND COUNT EXPORTED-COUNT) ...) of the first kinds of MATCHES, the most frequent first."
  (let ((counts '()))
    (dolist (match matches (stable-sort counts #'> :key #'second))
      (let* ((kind (first (match-kinds match)))
             (known (or (assoc kind counts) (first (push (list kind 0 0) counts)))))
        (incf (second known))
        (when (eq (match-status match) :external) (incf (third known)))))))

(defun package-file (package)
  "The truename of the file in which PACKAGE is defined, or NIL."
  (let* ((source (or-nil (sb-introspect:find-definition-source package)))
         (pathname (and source (or-nil (sb-introspect:definition-source-pathname source)))))
    (and pathname (or-nil (named-file pathname)))))

(defun outline-package (text arglists start limit)
  "The names of the package that TEXT names, exported ones first, from number START, at most LIMIT; with their lambda lists if ARGLISTS.
=> (:package NAME (NICKNAME ...) DOCUMENTATION FILE (USED ...) (USER ...) COUNT ((KIND COUNT EXPORTED) ...)
((NAME STATUS (KIND ...) ARGLIST) ...)) | (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)"
  (with-code-session (nil)
    (let ((package (find-designated-package text)))
      (if (null package)
          (package-not-found (parsed-package text))
          (let ((sorted (sort (own-matches package) (lambda (one other) (nearer-p (match-key one) (match-key other)))))
                (file (package-file package)))
            (list :package (package-name package) (package-nicknames package) (or-nil (first-line (documentation package t)))
                  (and file (shown-file file))
                  (mapcar #'package-name (package-use-list package))
                  (mapcar #'package-name (remove-if #'runtime-package-p (package-used-by-list package)))
                  (length sorted)
                  (kind-counts sorted)
                  (with-printing-time
                    (loop for match in (part-of sorted start limit)
                          for symbol = (match-symbol match)
                          collect (list (readable-name symbol) (match-status match) (match-kinds match)
                                        (and arglists (fboundp symbol)
                                             (let ((arglist (or-nil (arglist-text symbol symbol))))
                                               (and arglist (shortened-line arglist)))))))))))))

;;; What a system adds to others

(defstruct (addition (:copier nil))
  "A DEFINITION of one system that changes what belongs to another. WHAT: a :METHOD of another's generic function or for another's class, a
:DEFINITION of a name in another's package, or a :REDEFINITION of what another's file defines. OWNER: that system, \"Lisp\", or NIL if it is not known."
  what definition owner)

(defun own-file-p (pathname files)
  "True if the file PATHNAME is in FILES, a table by truename."
  (let ((truename (and pathname (or-nil (named-file pathname))))) (and truename (gethash truename files))))

(defun owner-of-package (package)
  "The name of the system in a file of which PACKAGE is defined, \"Lisp\" for SBCL's and Lisp's own, or NIL."
  (if (or (implementation-package-p package) (eq package (find-package "COMMON-LISP")))
      "Lisp"
      (let ((file (package-file package))) (and file (system-of-file file)))))

(defun own-package-p (package files)
  "True if PACKAGE is defined in FILES, or it is not known where. Those of Lisp are not."
  (and (program-package-p package)
       (let ((file (package-file package))) (or (null file) (gethash file files)))))

(defun function-definition (name)
  "The definition of the generic function NAME, or NIL."
  (first (kind-definitions name :generic-function)))

(defun for-own-class-p (definition files)
  "True if the method of DEFINITION is for a class with a name in a package of FILES."
  (some (lambda (specializer)
          (let ((package (and (typep specializer 'class) (symbol-package (class-name specializer)))))
            (and package (own-package-p package files))))
        (sb-mop:method-specializers (definition-method definition))))

(defun method-addition (definition files)
  "The addition that the method of DEFINITION is, or NIL. Methods of Lisp's functions for one's own classes are none."
  (let* ((name (definition-name definition))
         (package (symbol-package (if (consp name) (second name) name)))
         (function (function-definition name))
         (path (and function (definition-file-name function)))
         (classes (recording-faults (foreign-classes definition))))
    (cond ((and package (equal "Lisp" (owner-of-package package)) (for-own-class-p definition files)) nil)
          ((if path (not (own-file-p path files)) (and package (not (own-package-p package files))))
           (make-addition :what :method :definition definition
                          :owner (or (and package (owner-of-package package)) (and function (or-nil (system-of function))))))
          (classes (make-addition :what :method :definition definition :owner (second (first classes)))))))

(defun defined-in-system-p (definition system)
  "True if a file of SYSTEM has a form that defines what DEFINITION does."
  (let ((name (definition-name definition)) (kind (definition-kind definition)))
    (loop for pathname in (system-files system)
          for file = (or-nil (file-now pathname))
          thereis (and file
                       (loop for head across (analysis-heads (file-analysis file))
                             thereis (and head (eq kind (head-made-kind head)) (head-means-p head name)))))))

(defun name-addition (definition files)
  "The addition that DEFINITION, of no method, is, or NIL."
  (let* ((name (definition-name definition))
         (symbol (if (consp name) (second name) name))
         (package (and (symbolp symbol) (symbol-package symbol))))
    (when (and package (not (own-package-p package files)))
      (let ((owner (owner-of-package package)))
        (make-addition :what (if (and owner (recording-faults (defined-in-system-p definition owner))) :redefinition :definition)
                       :definition definition :owner owner)))))

(defun additions (files)
  "The additions that FILES, truenames, make."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (file files) (setf (gethash file table) t))
    (loop for definition in (definitions-of-program)
          for addition = (and (own-file-p (definition-file-name definition) table)
                              (recording-faults
                                (case (definition-kind definition)
                                  (:method (method-addition definition table))
                                  (:package nil)
                                  (t (name-addition definition table)))))
          when addition collect addition)))

(defun addition-entry (addition)
  "(WHAT OWNER KIND NAME FILE LINE) for ADDITION."
  (let* ((definition (addition-definition addition))
         (place (or-nil (described-source definition))))
    (list (addition-what addition) (addition-owner addition) (definition-kind definition) (definition-text definition)
          (and place (eq :file (first place)) (shown-file (second place)))
          (and place (eq :file (first place)) (fourth place)))))

;;; The files of a system

(defun file-entry (pathname)
  "(FILE LINES ABOUT ((OPERATOR COUNT) ...)) of the source file PATHNAME; LINES is NIL if it cannot be read."
  (let ((file (or-nil (file-now pathname))))
    (if file
        (list (shown-file (file-truename file)) (line-count (file-text file)) (file-about (file-text file)) (operator-counts file))
        (list (shown-file pathname) nil nil '()))))

(defun outline-system (name foreign start limit)
  "The system NAME, which ASDF knows, with its files in the order in which they are loaded, from number START, at most LIMIT; if FOREIGN with
what it adds to other systems, at most LIMIT.
=> (:system NAME VERSION DESCRIPTION LOADED-P DEFINITION-FILE (NEEDED ...) (BESIDE ...) COUNT ((FILE LINES ABOUT ((OPERATOR COUNT) ...)) ...)
ADDED-COUNT ((WHAT OWNER KIND NAME FILE LINE) ...)) | (:system-not-found NAME (SYSTEM ...))
BESIDE are other systems that its file defines. ADDED-COUNT is NIL unless FOREIGN."
  (with-code-session (nil)
    (with-files ()
      (let* ((lower (string-downcase name))
             (system (or-nil (registered-system lower)))
             (definition (and system (or-nil (system-definition-file system)))))
        (if (null system)
            (list :system-not-found name (similar-systems lower))
            (let* ((files (remove-if-not #'source-file-p (ordered-files system)))
                   (added (and foreign
                               (with-file-systems () (mapcar #'addition-entry (additions (existing-files files)))))))
              (multiple-value-bind (version description needed) (or-nil (described-system system))
                (list :system lower version (and description (first-line description))
                      (and (member lower (loaded-systems) :test #'string=) t)
                      (and definition (shown-file definition))
                      needed
                      (remove lower (and definition (systems-defined-in (truename definition))) :test #'string=)
                      (length files)
                      (mapcar #'file-entry (part-of files start limit))
                      (and foreign (length added))
                      (part-of added 0 limit)))))))))
