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

(defun tool-outcome-text (tool reply)
  "REPLY of TOOL, a function of the runtime that evaluated code has called, as the user reads it."
  (case (first reply)
    (:loading (destructuring-bind (system file systems compiled &rest more) (rest reply)
                (declare (ignore more))
                (format nil "~:[~a~;System ~:*~a~*~]: ~d of ~d files loaded, ~d compiled now."
                        (text-or-nil system) (text-or-nil file)
                        (reduce #'+ systems :key #'second) (reduce #'+ systems :key #'third) compiled)))
    (:loads (format nil "~d form~:p looked at." (length (second reply))))
    (:tests (destructuring-bind (target frameworks passed failed skipped &rest more) (rest reply)
              (declare (ignore frameworks more))
              (format nil "~a: ~d passed, ~d failed, ~d skipped." target passed failed skipped)))
    ((:file-not-found :not-found) (format nil "~a is not found." (second reply)))
    (t (format nil "~(~a~) of ~a" (first reply) tool))))

(defun text-or-nil (datum)
  "DATUM unless it is not a string."
  (and (stringp datum) datum))

(defun tool-result-text (tool text)
  "What TEXT, the printed values of an evaluation that called TOOL, says."
  (or (and (< (length text) 200000)
           (eql 0 (search "=> " text))
           (ignore-errors (tool-outcome-text tool (data-in (subseq text 3)))))
      "Done."))

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
