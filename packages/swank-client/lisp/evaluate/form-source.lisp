;;;; Records with each definition the text of its form, and the evaluation that it came from. The source plist holds both, as it does in Swank
;;;; for code compiled from an editor's buffer. The buffer name, a new string for each form, is the form's origin, compared with EQ.
;;;; (It must be a string, because SBCL writes source plists into compiled files.)

(in-package #:swank-client/evaluate)

(defun make-origin (evaluation)
  "A new origin for a form of EVALUATION."
  (let ((origin (format nil "evaluation ~d" (evaluation-id evaluation))))
    (setf (gethash origin (ledger-origins (session-ledger (evaluation-session evaluation)))) t)
    origin))

(defstruct (form-source (:type vector) (:copier nil))
  "The text of a form, from START to END in CODE. PLIST is its source plist, created on demand."
  code
  start
  end
  (plist '() :type list))

(defvar *form-source* nil "The source of the form that is being evaluated.")

(defmacro with-form-source ((code start end) &body body)
  "Run BODY, which evaluates the form between START and END in CODE."
  `(let ((*form-source* (make-form-source :code ,code :start ,start :end ,end))
         (*source-plist* *source-plist*))
     ,@body))

(defmacro without-form-source (&body body)
  "Run BODY, in which definitions are not recorded as those of the form that is being evaluated."
  `(let ((*form-source* nil))
     ,@body))

(defun source-plist (source evaluation)
  "The source plist for definitions that the form of SOURCE makes in EVALUATION."
  (or (form-source-plist source)
      (let* ((code (form-source-code source))
             (start (position-if-not #'blank-p code :start (form-source-start source) :end (form-source-end source)))
             (end (position-if-not #'blank-p code :start start :end (form-source-end source) :from-end t)))
        (ensure-texts-shown)
        (let ((origin (make-origin evaluation)))
          (setf (form-source-plist source)
                (list :emacs-buffer origin
                      :emacs-string (subseq code start (1+ end))
                      :emacs-position (1+ start)
                      :package (package-name *package*)
                      :evaluation origin
                      :for-stepping *for-stepping*))))))

(defun drop-source-plist ()
  "Remove the form's source plist while a file is loaded or compiled: definitions from files name the file."
  (let ((plist (and *form-source* (form-source-plist *form-source*))))
    (when (and plist (tailp plist *source-plist*))
      (setf *source-plist* (ldiff *source-plist* plist)))))

(defun add-source-plist (evaluation)
  "Add the current form's source plist to definitions that are compiled from now on in EVALUATION."
  (let ((plist (source-plist *form-source* evaluation)))
    (unless (tailp plist *source-plist*)
      (setf *source-plist* (append *source-plist* plist)))))
