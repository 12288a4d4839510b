;;;; Definitions remember the text of the form that made them, and whose form it was: in their source plist, as Swank has it for what is
;;;; compiled from an editor's buffer. The name of the buffer, a new string for each form, is called its origin: told by EQ, it is a proof.
;;;; (Nothing but a string will do: SBCL writes source plists into compiled files.)

(in-package #:@runtime@)

(defstruct form-source
  code
  start
  end
  (plist '() :type list))

(defvar *form-source* nil "Of the form that is being evaluated.")
(defvar *for-stepping* nil "True where what is evaluated is compiled with stepping information.")

(defmacro with-form-source ((code start end) &body body)
  `(let ((*form-source* (make-form-source :code ,code :start ,start :end ,end))
         (sb-c::*source-plist* sb-c::*source-plist*))
     ,@body))

(defun blank-p (char)
  (member char '(#\Space #\Newline #\Tab #\Return #\Page)))

(defun source-plist (source evaluation)
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
                      :evaluation origin
                      :for-stepping *for-stepping*))))))

(defun drop-source-plist ()
  "What is loaded or compiled from a file says so by itself."
  (let ((plist (and *form-source* (form-source-plist *form-source*))))
    (when (and plist (tailp plist sb-c::*source-plist*))
      (setf sb-c::*source-plist* (ldiff sb-c::*source-plist* plist)))))

(defun add-source-plist (evaluation)
  (let ((plist (source-plist *form-source* evaluation)))
    (unless (tailp plist sb-c::*source-plist*)
      (setf sb-c::*source-plist* (append sb-c::*source-plist* plist)))))
