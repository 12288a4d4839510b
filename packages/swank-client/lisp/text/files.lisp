;;;; Files: their names for people, their text, and lines in it.

(in-package #:swank-client/text)

;;; Names of files, for people.

(defun directory-of-image ()
  "The folder to which the image's relative file names refer. The process's own folder may have been deleted."
  (merge-pathnames *default-pathname-defaults* (current-folder)))

(defun file-pathname (file)
  "FILE, a pathname or native namestring, as a pathname."
  (if (stringp file) (native-pathname file) file))

(defun absolute-file-name (file)
  "The native namestring of FILE, a pathname or native namestring, with its folder."
  (native-name (merge-pathnames (file-pathname file) (directory-of-image))))

(defun short-file-name (file)
  "FILE, a pathname or native namestring, relative to the image's directory, or else its last folder and name."
  (let* ((file (file-pathname file))
         (relative (pathname (enough-namestring file (directory-of-image))))
         (folders (rest (pathname-directory file))))
    (native-name
     (if (and (eq :absolute (first (pathname-directory relative))) (rest folders))
         (make-pathname :host (pathname-host file) :name (pathname-name file) :type (pathname-type file)
                        :directory (list :relative (first (last folders))))
         relative))))

;;; Their text

(defconstant +source-file-limit+ 4000000 "Files of this many bytes or more are not read.")

(defun text-in (file format)
  "The text of FILE in the external FORMAT; NIL if it is too large or is not in that format."
  (handler-case
      (with-open-file (stream file :external-format format)
        (when (< (file-length stream) +source-file-limit+)
          (let ((text (make-string (file-length stream))))
            (subseq text 0 (read-sequence text stream)))))
    (error () nil)))

(defun small-file-p (file)
  "True if FILE, a name, is a regular file with fewer bytes than +SOURCE-FILE-LIMIT+."
  (let ((name (native-name file)))
    (and (not (special-file-p name))
         (with-open-file (stream file :element-type '(unsigned-byte 8) :if-does-not-exist nil)
           (and stream (< (file-length stream) +source-file-limit+))))))

(defun first-octets (file count)
  "The first COUNT bytes of FILE, or all."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (let ((octets (make-array count :element-type '(unsigned-byte 8))))
      (subseq octets 0 (read-sequence octets stream)))))

(defun wide-format (octets)
  "The external format of a text that begins with OCTETS, if its characters have two or four bytes: it begins with a byte order mark, or most of
its characters are ASCII; or else NIL."
  (flet ((begins-with-p (&rest mark)
           (eql (length mark) (or (mismatch mark octets) (length mark))))
         (zeros (step offset)
           (loop for index from offset below (length octets) by step count (zerop (aref octets index)))))
    (let* ((units (floor (length octets) 2))
           (words (floor (length octets) 4)))
      (cond ((begins-with-p #xff #xfe 0 0) :utf-32le)
            ((begins-with-p 0 0 #xfe #xff) :utf-32be)
            ((begins-with-p #xff #xfe) :utf-16le)
            ((begins-with-p #xfe #xff) :utf-16be)
            ((or (< units 2) (zerop (zeros 1 0))) nil)
            ((and (plusp words) (= words (zeros 4 2) (zeros 4 3)) (zerop (zeros 4 0))) :utf-32le)
            ((and (plusp words) (= words (zeros 4 0) (zeros 4 1)) (zerop (zeros 4 3))) :utf-32be)
            ((and (zerop (zeros 2 0)) (> (zeros 2 1) (/ units 2))) :utf-16le)
            ((and (zerop (zeros 2 1)) (> (zeros 2 0) (/ units 2))) :utf-16be)))))

(defun source-text (file)
  "The text of FILE, or NIL if that is too large, or a pipe or device. A byte order mark, or the first line as in Emacs, can name the coding;
otherwise it is UTF-8, or else Latin-1.
=> text, external format"
  ;; Swank reads the first line, which can be the whole file
  (when (or-nil (small-file-p file))
    (let ((named (or (wide-format (or (nil-on (or file-error stream-error) (first-octets file 4096)) #()))
                     (named-format file))))
      (loop for format in (if named (list named :latin-1) '(:utf-8 :latin-1))
            for text = (text-in file format)
            when text return (values text format)))))

(defun binary-text-p (text format)
  "True if TEXT, read in FORMAT from a file, is probably no text: it has null characters, or control characters though it is read as Latin-1 for
want of another format."
  (find-if (lambda (char)
             (or (zerop (char-code char))
                 (and (eq format :latin-1)
                      (< (char-code char) 32)
                      (not (member (char-code char) '(8 9 10 11 12 13 27))))))
           text))

(defun named-file (name)
  "The truename of the file or folder that NAME means, a native name relative to the image's directory or a pathname; NIL if there is none."
  (or-nil (probe-file (merge-pathnames (if (stringp name) (native-pathname name) (translate-logical-pathname name))
                                       (directory-of-image)))))

(defun shown-file (file)
  "The native name of FILE, relative to the image's directory if it is below that."
  (let* ((short (enough-namestring file (directory-of-image)))
         (below (not (eq :absolute (first (pathname-directory (pathname short)))))))
    (native-name (if below (pathname short) file))))

;;; Lines

(defun line-start (text position)
  "The position in TEXT at which the line of POSITION begins."
  (1+ (or (position #\Newline text :end position :from-end t) -1)))

(defun line-breaks-before (text position)
  "The number of line breaks before POSITION in TEXT. COUNT takes ten times as long, unless it knows the type."
  (if (typep text '(simple-array character (*)))
      (loop for index below position count (char= #\Newline (aref text index)))
      (count #\Newline text :end position)))

(defun position-of (text position)
  "=> the line and the column of POSITION in TEXT, both from 1, in characters"
  (values (1+ (line-breaks-before text position))
          (1+ (- position (line-start text position)))))

(defun definition-line (text start)
  "The line of TEXT that begins at START, without white space at its end."
  (string-right-trim '(#\Space #\Tab #\Return) (subseq text start (position #\Newline text :start start))))
