;;;; Searches the text of source files.

(in-package #:swank-client/code)

(defconstant +match-length+ 300 "Characters shown of a line.")

(defun line-matches (search text)
  "((START POSITION) ...) of the lines of TEXT in which SEARCH finds something: where the line begins, and where the match."
  (let ((text (coerce text '(simple-array character (*)))))
    (loop for start = 0 then (1+ end)
          while (< start (length text))
          for end = (or (position #\Newline text :start start) (length text))
          for position = (funcall search text start (if (and (> end start) (char= #\Return (char text (1- end)))) (1- end) end))
          when position collect (list start position))))

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

(defun search-files (search files start limit cut unreadable)
  "The reply of SEARCH-SOURCE for FILES. CUT says why there can be more of them, and UNREADABLE folders could not be read."
  (let ((count 0) (matching 0) (unread 0) (looked '()) (shown '()) (characters 0)
        (end (or (nthcdr +searched-files-limit+ files) '())))
    (when end (setf cut :files))
    (loop for (name) on files
          for rest on files
          until (eq rest end)
          do (let* ((file (let ((*files* (make-hash-table :test 'equal))) (file-now name)))
                    (matches (and file (catch 'late-search (list (line-matches search (file-text file)))))))
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
          cut (or unreadable 0))))

(defun search-source (pattern regexp-p system folder start limit)
  "The lines that contain PATTERN, in either case, or match it if REGEXP-P, in the source files of SYSTEM, of FOLDER, or of what is loaded;
from match START, at most LIMIT. CUT says why there can be more matches, in files that were not looked at: :TIME, :FILES, :CHARACTERS or NIL.
=> (:found ((FILE ((LINE COLUMN TEXT (HEAD-LINE HEAD)) ...)) ...) COUNT MATCHING-FILES FILES UNREAD-FILES ((FOLDER COUNT) ...) CUT
UNREADABLE-FOLDERS) | (:bad-pattern REASON) | (:system-not-found NAME (SYSTEM ...)) | (:folder-not-found NAME)"
  (with-code-session (nil)
    (with-files ()
      (with-searcher (search pattern regexp-p)
        (within-search-time (+search-seconds+)
          (multiple-value-bind (files reply cut unreadable) (searched-files system folder)
            (or reply
                (search-files search files start limit cut unreadable))))))))
