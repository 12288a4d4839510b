;;;; The results of requests as the user reads them. They are data on their way to the client.

(in-package #:swank-client/activity)

(defun values-text (plist)
  "The printed values in PLIST."
  (format nil "~:[; No values~;~:*~{=> ~a~^~%~}~]" (getf plist :values)))

(defun problem-text (plist)
  "The condition in PLIST, a snapshot."
  (format nil "[ERROR] ~a: ~a" (getf plist :type) (getf plist :message)))

(defun refusal-text (status data)
  "The refusal STATUS with its DATA."
  (format nil "~(~a~)~{: ~a~}" status (remove-if-not #'stringp data)))

(defun outcome (result)
  "=> the status and the text of RESULT, a value that a function of the runtime returned"
  (if (not (and (consp result) (keywordp (first result))))
      (values :returned "")
      (destructuring-bind (status &optional data &rest more) result
        (case status
          (:returned (values :returned (if (consp data) (values-text data) "")))
          (:values (values :returned (values-text data)))
          ;; from a thread that is stopped in another client's debugger
          (:value (outcome data))
          (:failed (values :failed (if (consp data) (problem-text data) (format nil "[ERROR] ~a: ~a" data (first more)))))
          (:error (values :failed (format nil "[ERROR] ~a: ~a" data (first more))))
          (:aborted (values :aborted "Aborted."))
          ((:no-such-package :no-such-type :stale :no-restart :wrong-count :refused :no-frame :interrupted :silent)
           (values :failed (refusal-text status (cons data more))))
          (t (values :returned ""))))))
