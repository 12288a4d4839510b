;;;; Shows the text of all definitions of a name and lines of a source file, and searches source files.

(in-package #:swank-client/questions)

(defconstant +texts-limit+ 120000 "Characters shown of all definitions of a name; further ones are only listed.")

(defconstant +definitions-limit+ 500 "Definitions of one name that are listed.")

(defvar *room* 0 "Characters that the texts of further definitions may have.")

(defun bounded (text)
  "TEXT, cut after +TEXT-LIMIT+ characters; NIL if the answer has no room for it."
  (when (and text (plusp *room*))
    (decf *room* (length text))
    (subseq text 0 (min +definition-text-limit+ (length text)))))

(defun text-entry (definition state &rest facts)
  "The plist that describes DEFINITION. STATE says what its text is."
  (list* :kind (definition-kind definition) :name (definition-text definition) :state state facts))

(defun place-facts (file position)
  "The facts about POSITION in FILE."
  (multiple-value-bind (line column) (position-of (file-text file) position)
    (list :file (shown-file (file-truename file)) :line line :column column)))

;;; Definitions in files

(defun own-code-source (definition)
  "SBCL's record about the code of DEFINITION, if it is a function, macro or method, or NIL."
  (or-nil
   (let ((name (definition-name definition)))
     (case (definition-kind definition)
       (:function (function-code-source (fdefinition name)))
       (:macro (function-code-source (macro-function name)))
       (:method (method-code-source (definition-method definition)))))))

(defun code-source-of (definition pathname)
  "SBCL's record about the code of DEFINITION, or else about other code of its file PATHNAME; or NIL."
  (let ((own (own-code-source definition)))
    (if (and own (code-created own) (equal (code-file own) (sb-ext:native-namestring pathname)))
        own
        (loaded-source pathname))))

(defun loaded-now-p (file code)
  "True if CODE, a record about code, is from FILE as it is now; or, without a record, if FILE as it is now was loaded."
  (or (dated-as-now-p file code)
      (multiple-value-bind (loaded dates) (loaded-version file code)
        (and (eq loaded file)
             ;; records about top-level forms last until the garbage collector runs
             (or (null code) (member (code-created code) dates))))))

(defun text-state (definition code file number &optional span)
  "What the text of form NUMBER in FILE, or of the form at SPAN inside it, is: :LOADED, :SAME-FORM, :SAME-LENGTH, :CHANGED or :UNKNOWN.
CODE is the record about its code, or NIL."
  (let ((form (and number (recording-faults (compared-form definition file (or span (span (nth number (file-forms file)))) number)))))
    (cond ((eq form :different) :changed)
          ((loaded-now-p file code) :loaded)
          ((eq form :same) :same-form)
          ((null code) :unknown)
          ((or-nil (same-length-p code (form-number-of definition) file number)) :same-length)
          (t :changed))))

(defun comment-end (text end)
  "The end of the comment that follows END of TEXT on its line, or END."
  (let ((start (position-if-not (lambda (char) (member char '(#\Space #\Tab))) text :start end)))
    (if (and start (char= #\; (char text start)))
        (or (position #\Newline text :start start) (length text))
        end)))

(defun span-text (file span)
  "The text of FILE at SPAN, (START END), and the comment that follows on its last line."
  (subseq (file-text file) (first span) (comment-end (file-text file) (second span))))

(defun place-now (file span)
  "The facts about SPAN, (START END), in FILE, or about FILE alone if it is NIL."
  (if span (place-facts file (first span)) (list :file (shown-file (file-truename file)))))

(defun loaded-span (definition loaded dates code)
  "The (START END) in LOADED, a file with the text that was loaded, from which code with DATES is, of the form of DEFINITION; NIL if that may
have been loaded from another text. CODE is the record about its code, or NIL."
  (multiple-value-bind (span number) (definition-span definition loaded t)
    (when span
      (let ((form (recording-faults (compared-form definition loaded span number))))
        (and (not (eq form :different))
             (or (null code)
                 (member (code-created code) dates)
                 (eq form :same)
                 (or-nil (same-length-p code (form-number-of definition) loaded number)))
             span)))))

(defun span-of-text (file text)
  "(START END) of the first top-level form of FILE that is TEXT, or NIL."
  (loop for form in (file-forms file)
        for (start end) = (span form)
        when (string= text (file-text file) :start2 start :end2 end) return (list start end)))

(defun entry-as-loaded (definition file code)
  "Describe DEFINITION, whose source is FILE, which has changed since it was loaded; or NIL if its text is not known as it was loaded."
  (multiple-value-bind (loaded dates) (loaded-version file code)
    (let ((span (and loaded (not (eq loaded file)) (loaded-span definition loaded dates code))))
      (when span
        (let* ((now (or (definition-span definition file nil)
                        ;; a method that DEFCLASS or DEFGENERIC has made has no form with its own name
                        (span-of-text file (subseq (file-text loaded) (first span) (second span)))))
               (same (and now (string= (file-text loaded) (file-text file)
                                       :start1 (first span) :end1 (second span) :start2 (first now) :end2 (second now)))))
          (apply #'text-entry definition (if same :same-form :as-loaded)
                 :text (bounded (if same (span-text file now) (span-text loaded span)))
                 (place-now file now)))))))

(defun entry-of-file (definition file code)
  "Describe DEFINITION, whose source is FILE, by what SBCL has recorded."
  (let ((as-loaded (or (eq file (loaded-version file code))
                       (dated-as-now-p file code))))
    (multiple-value-bind (span number) (definition-span definition file as-loaded)
      (let* ((state (if span (text-state definition code file number span) :gone))
             (recorded (and (member state '(:changed :gone)) (lambda-text definition))))
        (apply #'text-entry definition (if recorded :recorded state)
               :text (bounded (or recorded (and span (span-text file span))))
               (place-now file span))))))

(defun entry-in-file (definition file pathname)
  "Describe DEFINITION, whose source is PATHNAME, FILE now."
  (let ((code (code-source-of definition pathname)))
    (or (entry-as-loaded definition file code)
        (entry-of-file definition file code))))

(defun entry-without-file (definition pathname)
  "Describe DEFINITION, whose source PATHNAME cannot be read."
  (let ((recorded (lambda-text definition)))
    (text-entry definition (if recorded :recorded :unreadable)
           :text (bounded recorded)
           :file (if (typep pathname 'logical-pathname) (namestring pathname) (sb-ext:native-namestring pathname)))))

;;; Definitions from evaluated text

(defun evaluated-entry (definition plist)
  "Describe DEFINITION, whose text PLIST records."
  (multiple-value-bind (file start text) (recording-faults (evaluated-place definition))
    (if file
        (apply #'text-entry definition :loaded :text (bounded text) (place-facts file start))
        (flet ((text-of (key)
                 (let ((value (getf plist key))) (and (stringp value) value))))
          (text-entry definition :evaluated
                 :text (bounded (form-of-plist plist (form-number-of definition)))
                 :origin (text-of :emacs-buffer)
                 :file (text-of :emacs-filename))))))

;;; All definitions

(defun definition-entry (definition)
  "The plist that describes DEFINITION: its :KIND, :NAME and :STATE, and if they are known its :TEXT, :FILE, :LINE, :COLUMN and :ORIGIN."
  (let* ((source (definition-record definition))
         (plist (and source (sb-introspect:definition-source-plist source)))
         (pathname (physical-pathname (cond (source (sb-introspect:definition-source-pathname source))
                                            ((eq :test (definition-kind definition)) (test-pathname definition)))))
         (file (and pathname (file-now pathname))))
    (cond ((stringp (getf plist :emacs-string)) (evaluated-entry definition plist))
          (file (entry-in-file definition file pathname))
          (pathname (entry-without-file definition pathname))
          (t (let ((recorded (lambda-text definition)))
               (text-entry definition (if recorded :recorded :unrecorded) :text (bounded recorded)))))))

(defun sound-entry (definition)
  "DEFINITION-ENTRY of DEFINITION, or an entry without a place if that fails."
  (or (recording-faults (definition-entry definition)) (text-entry definition :unrecorded)))

(defun entries (definitions)
  "The entries of DEFINITIONS, in their order, and the number of those left out."
  (let ((*room* +texts-limit+))
    (with-files ()
      (with-printing-time
        (list (loop for definition in definitions
                    repeat +definitions-limit+
                    collect (sound-entry definition))
              (max 0 (- (length definitions) +definitions-limit+)))))))

(defun wanted-methods (definitions elements)
  "Those of DEFINITIONS that ELEMENTS, the texts of (METHOD NAME QUALIFIER... (SPECIALIZER...)), name."
  (multiple-value-bind (qualifiers specializers) (method-parts (cddr elements))
    (remove-if-not (lambda (definition)
                     (let ((method (definition-method definition)))
                       (and method
                            (qualifiers-match-p qualifiers method)
                            (or (null specializers) (specializers-match-p (element-texts specializers) method)))))
                   definitions)))

(defun reply-with (status name definitions families-p)
  "(STATUS NAME (ENTRY ...) LEFT-OUT (FAMILY ...)) for DEFINITIONS; of many methods, one of each family if FAMILIES-P."
  (multiple-value-bind (shown families) (if families-p (with-families definitions) definitions)
    (destructuring-bind (entries left) (entries shown)
      (list status name entries left families))))

(defun show-definitions (text elements families-p)
  "SHOW-SOURCE for the name TEXT. ELEMENTS are those of (METHOD ...), or NIL."
  (call-with-named text
                   (lambda (symbol status package)
                     (declare (ignore status package))
                     (let* ((setf-p (and (eql 0 (search "(setf" (trimmed text) :test #'char-equal)) t))
                            (all (or (all-definitions symbol setf-p)
                                     (and (not setf-p) (test-definitions symbol))))
                            (wanted (if elements (wanted-methods all elements) all))
                            (missed (and elements (null wanted))))
                       (when missed (check-characters (format nil "(~{~a~^ ~})" elements)))
                       (reply-with (if missed :no-such-method :found)
                                   (name-text (if setf-p (list 'setf symbol) symbol))
                                   (if missed (remove :method all :key #'definition-kind :test-not #'eq) wanted)
                                   (and families-p (not missed) (null elements)))))))

(defun show-source (text package-text &optional families-p)
  "The definitions of the name TEXT: NAME, (setf NAME) or (method NAME QUALIFIER... (SPECIALIZER...)); those of tests if there are no others.
Of a NAME with many methods, only one of each family if FAMILIES-P.
=> (:found NAME (ENTRY ...) LEFT-OUT (FAMILY ...)) | (:no-such-method NAME (ENTRY ...) LEFT-OUT ()) with all methods
 | the replies of CALL-WITH-NAMED. FAMILY is FAMILY-ENTRY's."
  (with-code-session (package-text)
    (if (method-text-p text)
        (let ((elements (element-texts (trimmed text))))
          (show-definitions (or (second elements) "") elements families-p))
        (show-definitions text nil families-p))))

;;; Shows lines of a source file.

(defconstant +lines-limit+ 1000 "Lines shown of a file.")

(defun line-starts (text)
  "The lines of TEXT, as the list of their first positions. The last line break ends a line and begins none."
  (loop for start = 0 then (1+ end)
        for end = (and (< start (length text)) (position #\Newline text :start start))
        when (< start (length text)) collect start
        while end))

(defun head-line (file position)
  "(LINE TEXT) of the line with which the top-level form at POSITION of FILE begins, or NIL."
  (let ((number (form-number (file-forms file) position)))
    (when number
      (let ((start (top-level-form-start (nth number (file-forms file)))))
        (list (position-of (file-text file) start) (definition-line (file-text file) start))))))

(defun changed-p (file)
  "True if FILE has another text than the one that was loaded, or another date if that is not known; NIL also if it was not loaded."
  (let ((source (loaded-source (file-truename file))))
    (and source
         (not (dated-as-now-p file source))
         (not (eq file (loaded-version file source))))))

(defun shown-lines (file line context)
  "The reply of SHOW-FILE for FILE."
  (let* ((text (file-text file))
         (starts (line-starts text))
         (count (length starts))
         (line (min line (max count 1)))
         (first (max 1 (- line context)))
         (last (min count (+ line context) (+ first +lines-limit+ -1)))
         (start (or (nth (1- line) starts) 0)))
    (list :file (shown-file (file-truename file)) count first
          (loop for start in (nthcdr (1- first) starts)
                repeat (1+ (- last first))
                collect (definition-line text start))
          (head-line file (or (position-if-not #'blank-p text :start start) start))
          (changed-p file))))

(defun similar-file-p (asked file)
  "True if FILE may have been meant by ASKED: both are source files, the type of FILE is in that of ASKED, or ASKED is the name of
FILE without its type."
  (let ((type (pathname-type file)))
    (cond ((source-file-p asked) (source-file-p file))
          ((pathname-type asked) (and type (search type (pathname-type asked) :test #'char-equal)))
          (t (or (null type)
                 (source-file-p file)
                 (and (equalp (pathname-name asked) (pathname-name file)) (string/= "fasl" type)))))))

(defun folder-files (name)
  "Names of files in the folder of the file NAME that resemble it."
  (let* ((pathname (sb-ext:parse-native-namestring name))
         (wanted (or (pathname-name pathname) ""))
         (wild (make-pathname :name :wild :type :wild :version nil :defaults (merge-pathnames pathname (directory-of-image)))))
    (loop for file in (or-nil (directory wild))
          for other = (pathname-name file)
          when (and other (similar-file-p pathname file)
                    (or (search wanted other :test #'char-equal)
                        (slip-p (string-downcase wanted) (string-downcase other))))
            collect file)))

(defun loaded-namesakes (name)
  "Files that code was compiled from whose name is that of the file NAME."
  (let ((wanted (file-namestring (sb-ext:parse-native-namestring name))))
    (loop for file being the hash-keys of (code-sources)
          when (and (string-equal wanted (file-namestring (sb-ext:parse-native-namestring file))) (named-file file))
            collect (named-file file))))

(defun similar-files (name)
  "Names of files that NAME may mean, which is no file's."
  (let ((found (remove-duplicates (append (or-nil (loaded-namesakes name)) (or-nil (folder-files name))) :test #'equal)))
    (mapcar #'shown-file (subseq found 0 (min +suggestions+ (length found))))))

(defun plain-file (name)
  "The truename of the file NAME, or NIL. Folders have no text, and reading pipes and devices may take for ever."
  (let ((truename (named-file name)))
    (and truename
         (pathname-name truename)
         (not (special-file-p (sb-ext:native-namestring truename)))
         truename)))

(defun missing-file (name)
  "=> (:file-not-found NAME (FILE ...) REASON) about NAME, which is no plain file's. REASON is :FOLDER, :SPECIAL, or NIL if there is none"
  (let ((truename (named-file name)))
    (list :file-not-found name
          (unless truename (similar-files name))
          (and truename (if (pathname-name truename) :special :folder)))))

(defun show-file (name line context)
  "The CONTEXT lines before and after LINE of the file NAME, and the first line of the definition that LINE is in.
=> (:file FILE COUNT-OF-LINES FIRST (TEXT ...) (LINE TEXT) CHANGED) | (:file-not-found NAME (FILE ...) REASON)
 | (:file-unreadable NAME)"
  (with-code-session (nil)
    (with-files ()
      (let ((file (or-nil (file-now name)))
            (truename (plain-file name)))
        (cond (file (shown-lines file line context))
              (truename (list :file-unreadable (shown-file truename)))
              (t (missing-file name)))))))

;;; Searches the text of source files.

(defconstant +match-length+ 300 "Characters shown of a line.")

(defun line-matches (search text)
  "((START POSITION) ...) of the lines of TEXT in which SEARCH finds something: where the line begins, and where the match."
  (let ((text (coerce text '(simple-array character (*)))))
    (loop for start = 0 then (1+ end)
          while (< start (length text))
          for end = (or (position #\Newline text :start start) (length text))
          for position = (funcall search text start (if (and (> end start) (char= #\Return (char text (1- end)))) (1- end) end))
          when position collect (list start position))))

(defun commentp (text position)
  "True if a comment, and no string or character, begins at POSITION of TEXT."
  (or (char= #\; (char text position))
      (eql position (search "#|" text :start2 position :end2 (min (length text) (+ position 2))))))

(defun without-quoted (text)
  "TEXT with spaces in place of its comments and, since these are arguments of calls, null characters in place of its strings and characters; except line
breaks."
  (let ((code (copy-seq text)) (position 0))
    (loop while (< position (length text))
          do (let ((end (skipped-end text position)))
               (when end
                 (setf end (min end (length text)))
                 (loop with blank = (if (commentp text position) #\Space (code-char 0))
                       for index from position below end
                       unless (char= #\Newline (char text index)) do (setf (char code index) blank)))
               (setf position (or end
                                  ;; a name in bars may contain quotation marks
                                  (if (char= #\| (char text position)) (token-end text position) (1+ position))))))
    code))

(defun match-fact (file start position)
  "(LINE COLUMN TEXT HEAD) of a match at POSITION of FILE, in the line that begins at START. HEAD is that of its definition, as HEAD-LINE returns it."
  (multiple-value-bind (line column) (position-of (file-text file) position)
    (let ((text (definition-line (file-text file) start)))
      (list line column
            (subseq text 0 (min +match-length+ (length text)))
            (head-line file position)))))

(defun folder-counts (files)
  "((FOLDER COUNT) ...) of FILES, in their order."
  (let ((counts '()))
    (dolist (file files (nreverse counts))
      (let* ((folder (make-pathname :name nil :type nil :version nil :defaults file))
             (known (assoc folder counts :test #'equal)))
        (if known (incf (second known)) (push (list folder 1) counts))))))

(defun shown-folder (folder)
  "The name of FOLDER, relative to the image's directory if it is below that."
  (let ((name (shown-file folder)))
    (if (string= name "") "./" name)))

(defconstant +search-seconds+ 20 "Seconds that one search may take.")

(defconstant +searched-bytes-limit+ 200000000 "Characters that one search looks at.")

(defun search-files (search files start limit cut unreadable outside code)
  "The reply of SEARCH-SOURCE for FILES. CUT says why there can be more of them, UNREADABLE folders could not be
read, and OUTSIDE describes the links that led elsewhere. CODE: strings and comments are left out."
  (let ((count 0) (matching 0) (unread 0) (looked '()) (shown '()) (characters 0)
        (end (or (nthcdr +searched-files-limit+ files) '())))
    (when end (setf cut :files))
    (loop for (name) on files
          for rest on files
          until (eq rest end)
          do (let* ((file (let ((*files* (make-hash-table :test 'equal))) (file-now name)))
                    (matches (and file (catch 'late-search (list (line-matches search (if code (without-quoted (file-text file)) (file-text file))))))))
               (when (or (and file (null matches)) (not (search-time-left-p)))
                 (return (setf cut :time)))
               (push name looked)
               (when file (incf characters (length (file-text file))))
               (unless file (incf unread))
               (when (first matches)
                 (incf matching)
                 (let ((wanted (loop for (line-start position) in (first matches)
                                     for index from count
                                     when (and (<= start index) (< index (+ start limit)))
                                       collect (match-fact file line-start position))))
                   (when wanted (push (list (shown-file (file-truename file)) wanted) shown))
                   (incf count (length (first matches)))))
               (when (and (> characters +searched-bytes-limit+) (rest rest))
                 (return (setf cut :characters)))))
    (list :found (nreverse shown) count matching (length looked) unread
          (loop for (folder number) in (folder-counts (nreverse looked)) collect (list (shown-folder folder) number))
          cut (or unreadable 0) (or outside '(0 ())))))

(defun excluded-folder (name)
  "The truename of the folder NAME, or NIL if there is none."
  (let ((truename (and name (named-folder name))))
    (and truename (null (pathname-name truename)) truename)))

(defun files-outside (files folder)
  "FILES, pathnames, without those below FOLDER, a truename."
  (let ((root (namestring folder)))
    (remove-if (lambda (file) (eql 0 (search root (namestring file)))) files)))

(defun search-source (pattern regexp-p system folder start limit &optional code excluded)
  "The lines that contain PATTERN, in either case, or match it if REGEXP-P, in the source files of SYSTEM, of FOLDER, or of what is loaded, outside of
strings and comments if CODE, and not below the folder EXCLUDED; from match START, at most LIMIT. CUT says why there can be more matches, in files that were not looked at: :TIME, :FILES, :CHARACTERS or NIL.
=> (:found ((FILE ((LINE COLUMN TEXT (HEAD-LINE HEAD)) ...)) ...) COUNT MATCHING-FILES FILES UNREAD-FILES ((FOLDER COUNT) ...) CUT
UNREADABLE-FOLDERS (LINKS-OUTSIDE (TARGET ...))) | (:bad-pattern REASON) | (:system-not-found NAME (SYSTEM ...)) | (:folder-not-found NAME)"
  (with-code-session (nil)
    (with-files ()
      (with-searcher (search pattern regexp-p)
        (within-search-time (+search-seconds+)
          (multiple-value-bind (files reply cut unreadable outside) (searched-files system folder)
            (let ((without (excluded-folder excluded)))
              (cond (reply)
                    ((and excluded (null without)) (list :folder-not-found excluded))
                    (t (search-files search (if without (files-outside files without) files)
                                     start limit cut unreadable outside code))))))))))
