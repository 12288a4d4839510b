;;;; Definitions remember the text of the form that made them, and whose form it was.

(in-package #:@runtime@)

(defstruct origin
  "The form that a definition came from. It travels in the definition, as part of its source plist."
  ledger)

;;; SBCL writes the source plist into fasls
(defmethod make-load-form ((origin origin) &optional environment)
  (declare (ignore environment))
  nil)

(defstruct form-source
  code
  start
  end
  (plist '() :type list))

(defvar *form-source* nil "Of the form that is being evaluated.")

(defmacro with-form-source ((code start end) &body body)
  `(let ((*form-source* (make-form-source :code ,code :start ,start :end ,end))
         (sb-c::*source-plist* sb-c::*source-plist*))
     ,@body))

(defun blank-p (char)
  (member char '(#\Space #\Newline #\Tab #\Return #\Page)))

(defun source-plist (source evaluation)
  "What Swank expects of code that is compiled from an editor's buffer, and the origin."
  (or (form-source-plist source)
      (let* ((code (form-source-code source))
             (start (position-if-not #'blank-p code :start (form-source-start source) :end (form-source-end source)))
             (end (position-if-not #'blank-p code :start start :end (form-source-end source) :from-end t)))
        (setf (form-source-plist source)
              (list :emacs-buffer (format nil "evaluation ~d" (evaluation-id evaluation))
                    :emacs-string (subseq code start (1+ end))
                    :emacs-position (1+ start)
                    'origin (make-origin :ledger (session-ledger (evaluation-session evaluation))))))))

(defun drop-source-plist ()
  "What is loaded or compiled from a file says so by itself."
  (let ((plist (and *form-source* (form-source-plist *form-source*))))
    (when (and plist (tailp plist sb-c::*source-plist*))
      (setf sb-c::*source-plist* (ldiff sb-c::*source-plist* plist)))))

(defun add-source-plist (evaluation)
  (let ((plist (source-plist *form-source* evaluation)))
    (unless (tailp plist sb-c::*source-plist*)
      (setf sb-c::*source-plist* (append sb-c::*source-plist* plist)))))
