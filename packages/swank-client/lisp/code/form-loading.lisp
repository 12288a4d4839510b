;;;; Compiles and loads one top-level form of a file, with the positions, the package and the file variables that it has in the whole file.

(in-package #:swank-client/code)

(defparameter *context-operators* '("IN-PACKAGE" "IN-READTABLE" "DECLAIM")
  "Operators of top-level forms that set what later forms are read and compiled with.")

(defun reader-form-p (text)
  "True if TEXT, a form that is no definition of Lisp, may change the syntax of the forms after it."
  (let ((operator (operator-name (or (definition-head text 0 (length text)) "NIL"))))
    (or (search "READTABLE" operator)
        (search "-SYNTAX" operator)
        (search "MACRO-CHARACTER" operator)
        (and (member operator '("EVAL-WHEN" "SETF" "SETQ" "PROGN") :test #'string=)
             (or (search "readtable*" text :test #'char-equal) (search "macro-character" text :test #'char-equal))))))

(defun context-form-p (file form)
  "True if FORM of FILE sets what later forms are read or compiled with."
  (let ((operator (definition-head (file-text file) (top-level-form-start form) (top-level-form-end form))))
    (and operator
         (or (member (operator-name operator) *context-operators* :test #'string=)
             (and (null (head-kind operator)) (reader-form-p (form-text (file-text file) form)))))))

(defun blank-form (text form)
  "Blank everything in FORM of TEXT, a list, except its parentheses, so that the positions and numbers of other forms stay."
  (loop for position from (1+ (top-level-form-start form)) below (1- (top-level-form-end form))
        unless (member (char text position) '(#\Newline #\Return)) do (setf (char text position) #\Space)))

(defun masked-text (file wanted)
  "The text of FILE up to the form after number WANTED, in which all forms are blank except that and those before it that set its context."
  (loop with text = (copy-seq (file-text file))
        for form in (file-forms file)
        for number from 0 to (1+ wanted)
        unless (or (= number wanted)
                   (char/= #\( (char text (top-level-form-start form)))
                   (and (< number wanted) (context-form-p file form)))
          do (blank-form text form)
        initially (fill text #\Space :end (first-line-end text))
        maximize (top-level-form-end form) into end
        finally (return (subseq text 0 end))))

;;; Compiling and loading

(defun naming-readtable (truename)
  "A readtable that makes COMPILE-FILE compile its forms as those of the file TRUENAME, and then is replaced by the current one."
  (let* ((own *readtable*)
         (readtable (copy-readtable own)))
    (multiple-value-bind (read-list non-terminating) (get-macro-character #\( own)
      (when read-list
        (set-macro-character #\(
                             (lambda (stream char)
                               (setf *compile-file-truename* truename
                                     *compile-file-pathname* truename
                                     *readtable* own)
                               (funcall read-list stream char))
                             non-terminating readtable)))
    readtable))

(defun unix-time (universal-time)
  "UNIVERSAL-TIME in seconds since 1970."
  (- universal-time (encode-universal-time 0 0 0 1 1 1970 0)))

(defun write-octets (octets name)
  "Write OCTETS to the new file with the native NAME."
  (with-open-file (stream (sb-ext:parse-native-namestring name) :direction :output :if-exists :error :element-type '(unsigned-byte 8))
    (write-sequence octets stream)))

(defun write-draft (file number draft)
  "Write to the new file DRAFT the text of FILE in which all but the form NUMBER are blank, with the date of FILE."
  (let ((name (sb-ext:native-namestring draft))
        (time (unix-time (file-date file))))
    (write-octets (encoded (masked-text file number) (file-format file)) name)
    (sb-posix:utime name time time)))

(defun compile-draft (file draft fasl)
  "Compile DRAFT, which stands for FILE, to FASL."
  (let ((*readtable* (naming-readtable (file-truename file)))
        ;; notes have what the compiler prints
        (*error-output* (make-broadcast-stream)))
    (with-compilation-unit (:source-namestring (sb-ext:native-namestring (file-truename file)))
      (compile-file draft :output-file fasl :verbose nil :print nil :external-format (file-format file)))))

(defun placed-note (note file number)
  "NOTE, about the form NUMBER of FILE, with its place."
  (let ((path (noted-file note)))
    (cond ((and path (not (equal "draft" (pathname-name (pathname path))))) note)
          (t (setf (noted-file note) (file-truename file))
             (unless (or (noted-path note) (noted-position note)) (setf (noted-path note) (list number)))
             note))))

(defun call-noting-form (file number function)
  "Call FUNCTION, which compiles or loads form NUMBER of FILE. => the notes except compiler notes, and the number of those not kept"
  (multiple-value-bind (notes omitted)
      (handler-bind ((warning #'muffle-warning)
                     (sb-ext:compiler-note #'muffle-warning))
        (call-collecting-notes function))
    (values (loop for note in notes
                  unless (eq :note (noted-severity note)) collect (placed-note note file number))
            omitted)))

(defun call-with-compiled-form (file number function)
  "Compile the form NUMBER of FILE, and call FUNCTION with the notes and, unless there was an error, a function that loads it."
  (call-with-folder
   (lambda (folder)
     (let ((draft (file-in folder "draft.lisp"))
           (fasl (file-in folder "draft.fasl")))
       (write-draft file number draft)
       (let ((notes (with-initial-handlers ; the evaluation's would report the draft
                      (call-noting-form file number (lambda () (compile-draft file draft fasl))))))
         (funcall function notes
                  (and (probe-file fasl)
                       (notany (lambda (note) (member (noted-severity note) '(:error :read-error))) notes)
                       (lambda () (call-own #'load-compiled-as (list fasl (file-truename file)))))))))))
