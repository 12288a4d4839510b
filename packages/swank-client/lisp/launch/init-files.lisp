;;;; Loads the user's init files over a connection, so that an error in one gives a report and does not break the image.

(in-package #:swank-client/launch)

(defconstant +most-output+ 10000 "Characters kept of what a file prints.")

(defun last-part (text)
  "The last characters of TEXT, at most +MOST-OUTPUT+."
  (let ((excess (- (length text) +most-output+)))
    (if (plusp excess)
        (format nil "[~d characters left out]~a" excess (subseq text excess))
        text)))

(defun condition-text (condition)
  "The report of CONDITION, with its type."
  (or (ignore-errors (format nil "~a [~s]" condition (type-of condition)))
      (format nil "a ~s that cannot be printed" (type-of condition))))

(defun call-catching-debugger (function)
  "Call FUNCTION. => NIL, or if it entered the debugger, the condition's text and the condition; FUNCTION is unwound then"
  (flet ((give-up (condition hook)
           (declare (ignore hook))
           (return-from call-catching-debugger (values (condition-text condition) condition))))
    (let ((sb-ext:*invoke-debugger-hook* #'give-up)
          (*debugger-hook* #'give-up))
      (funcall function)
      nil)))

(defun missing-p (path condition)
  "True if CONDITION says that PATH itself does not exist."
  (and (typep condition 'file-error)
       (equal path (ignore-errors (file-error-pathname condition)))
       (not (ignore-errors (probe-file path)))))

(defun load-init-file (file)
  "Load FILE, a native namestring. => (PATH STATUS MESSAGE OUTPUT), see LOAD-INIT-FILES
Its output also goes to stderr, where it is found if the file ends the image."
  (let* ((path (sb-ext:parse-native-namestring file))
         (kept (make-string-output-stream))
         (output (make-broadcast-stream kept sb-sys:*stderr*))
         (*standard-output* output)
         (*error-output* output)
         (*trace-output* output)
         (*package* (find-package "COMMON-LISP-USER"))
         ;; files define reader macros, which the standard readtable of Swank's requests refuses
         (*readtable* (sb-ext:symbol-global-value '*readtable*)))
    (multiple-value-bind (problem condition)
        (call-catching-debugger (lambda () (load path)))
      (fresh-line sb-sys:*stderr*)
      (finish-output sb-sys:*stderr*)
      (list file
            (cond ((null problem) :loaded)
                  ((missing-p path condition) :missing)
                  (t :failed))
            problem
            (last-part (get-output-stream-string kept))))))

(defun default-init-files (sysinit-p userinit-p)
  "The existing init files that `sbcl` would load, native namestrings: the system's if SYSINIT-P, the user's if USERINIT-P."
  (loop for (wanted function) in (list (list sysinit-p sb-ext:*sysinit-pathname-function*)
                                       (list userinit-p sb-ext:*userinit-pathname-function*))
        for path = (and wanted function (funcall function))
        when (and path (probe-file path)) collect (sb-ext:native-namestring path)))

(defun load-init-files (sysinit-p userinit-p files)
  "Load the init files that `sbcl` would load, if they exist, then FILES, native namestrings, which must exist.
=> ((PATH STATUS MESSAGE OUTPUT) ...): STATUS is :LOADED, :MISSING or :FAILED, MESSAGE gives the reason, or is NIL."
  (mapcar #'load-init-file (append (default-init-files sysinit-p userinit-p) files)))
