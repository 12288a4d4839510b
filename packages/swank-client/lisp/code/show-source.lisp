;;;; Shows the text of all definitions of a name.

(in-package #:swank-client/code)

(defconstant +texts-limit+ 120000 "Characters shown of all definitions of a name; further ones are only listed.")

(defconstant +definitions-limit+ 500 "Definitions of one name that are listed.")

(defvar *room* 0 "Characters that the texts of further definitions may have.")

(defun bounded (text)
  "TEXT, cut after +TEXT-LIMIT+ characters; NIL if the answer has no room for it."
  (when (and text (plusp *room*))
    (decf *room* (length text))
    (subseq text 0 (min +text-limit+ (length text)))))

(defun entry (definition state &rest facts)
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
  (or (and code (= (code-created code) (file-date file)))
      (multiple-value-bind (loaded date) (loaded-version file code)
        (and (eq loaded file)
             ;; records about top-level forms last until the garbage collector runs
             (or (null code) (= date (code-created code)))))))

(defun text-state (definition code file number &optional span)
  "What the text of form NUMBER in FILE, or of the form at SPAN inside it, is: :LOADED, :SAME-FORM, :SAME-LENGTH, :CHANGED or :UNKNOWN.
CODE is the record about its code, or NIL."
  (let ((form (and number (or-nil (compared-form definition file (or span (span (nth number (file-forms file)))) number)))))
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

(defun loaded-span (definition loaded date code)
  "The (START END) in LOADED, a file with the text that was loaded when it had DATE, of the form of DEFINITION; NIL if that may have been
loaded from another text. CODE is the record about its code, or NIL."
  (multiple-value-bind (span number) (definition-span definition loaded t)
    (when span
      (let ((form (or-nil (compared-form definition loaded span number))))
        (and (not (eq form :different))
             (or (null code)
                 (= date (code-created code))
                 (eq form :same)
                 (or-nil (same-length-p code (form-number-of definition) loaded number)))
             span)))))

(defun entry-as-loaded (definition file code)
  "Describe DEFINITION, whose source is FILE, which has changed since it was loaded; or NIL if its text is not known as it was loaded."
  (multiple-value-bind (loaded date) (loaded-version file code)
    (let ((span (and loaded (not (eq loaded file)) (loaded-span definition loaded date code))))
      (when span
        (let* ((now (definition-span definition file nil))
               (same (and now (string= (file-text loaded) (file-text file)
                                       :start1 (first span) :end1 (second span) :start2 (first now) :end2 (second now)))))
          (apply #'entry definition (if same :same-form :as-loaded)
                 :text (bounded (if same (span-text file now) (span-text loaded span)))
                 (place-now file now)))))))

(defun entry-of-file (definition file code)
  "Describe DEFINITION, whose source is FILE, by what SBCL has recorded."
  (let ((as-loaded (or (eq file (loaded-version file code))
                       (and code (= (code-created code) (file-date file))))))
    (multiple-value-bind (span number) (definition-span definition file as-loaded)
      (let* ((state (if span (text-state definition code file number span) :gone))
             (recorded (and (member state '(:changed :gone)) (lambda-text definition))))
        (apply #'entry definition (if recorded :recorded state)
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
    (entry definition (if recorded :recorded :unreadable)
           :text (bounded recorded)
           :file (if (typep pathname 'logical-pathname) (namestring pathname) (sb-ext:native-namestring pathname)))))

;;; Definitions from evaluated text

(defun place-in-editor (plist text offset)
  "The facts about TEXT, which is at OFFSET in the text that an editor sent from the file that PLIST names; NIL if the file has another text."
  (let* ((name (getf plist :emacs-filename))
         (file (and name (file-now name)))
         (position (+ offset (1- (getf plist :emacs-position 1))))
         (found (and file
                     (if (eql position (search text (file-text file) :start2 (min position (length (file-text file)))
                                                                     :end2 (min (+ position (length text)) (length (file-text file)))))
                         position
                         (search text (file-text file))))))
    (and found (place-facts file found))))

(defun evaluated-entry (definition plist)
  "Describe DEFINITION, whose text PLIST records."
  (multiple-value-bind (text offset) (form-of-plist plist (form-number-of definition))
    (let ((place (or-nil (place-in-editor plist text offset))))
      (apply #'entry definition (if place :loaded :evaluated)
             :text (bounded text)
             (or place (list :origin (let ((buffer (getf plist :emacs-buffer))) (and (stringp buffer) buffer))
                             :file (let ((name (getf plist :emacs-filename))) (and (stringp name) name))))))))

;;; All definitions

(defun definition-entry (definition)
  "The plist that describes DEFINITION: its :KIND, :NAME and :STATE, and if they are known its :TEXT, :FILE, :LINE, :COLUMN and :ORIGIN."
  (let* ((source (definition-record definition))
         (plist (and source (sb-introspect:definition-source-plist source)))
         (pathname (cond (source (sb-introspect:definition-source-pathname source))
                         ((eq :test (definition-kind definition)) (test-pathname definition))))
         (file (and pathname (file-now pathname))))
    (cond ((stringp (getf plist :emacs-string)) (evaluated-entry definition plist))
          (file (entry-in-file definition file pathname))
          (pathname (entry-without-file definition pathname))
          (t (let ((recorded (lambda-text definition)))
               (entry definition (if recorded :recorded :unrecorded) :text (bounded recorded)))))))

(defun sound-entry (definition)
  "DEFINITION-ENTRY of DEFINITION, or an entry without a place if that fails."
  (or (or-nil (definition-entry definition)) (entry definition :unrecorded)))

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

(defun show-definitions (text elements)
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
                       (list* (if missed :no-such-method :found)
                              (name-text (if setf-p (list 'setf symbol) symbol))
                              (entries (if missed (remove :method all :key #'definition-kind :test-not #'eq) wanted)))))))

(defun show-source (text package-text)
  "The definitions of the name TEXT: NAME, (setf NAME) or (method NAME QUALIFIER... (SPECIALIZER...)); those of tests if there are no others.
=> (:found NAME (ENTRY ...) LEFT-OUT) | (:no-such-method NAME (ENTRY ...) LEFT-OUT) with all methods | the replies of CALL-WITH-NAMED"
  (with-code-session (package-text)
    (if (method-text-p text)
        (let ((elements (element-texts (trimmed text))))
          (show-definitions (or (second elements) "") elements))
        (show-definitions text nil))))
