;;;; Numbers values of stopped frames. A number is valid while the thread is stopped.

(in-package #:swank-client/debugger)

(defstruct listing
  "The objects listed for one stop. It lives as long as the stop's condition."
  thread
  ;; (FRAME NAME ID) -> number
  (numbers (make-hash-table :test 'equal))
  ;; number -> object
  (objects (make-hash-table :synchronized t)))

(defvar *listings* (make-hash-table :test 'eq :weakness :key :synchronized t) "Listings by the condition of the stop.")

(defun stopped-at-p (thread condition)
  "True while THREAD is stopped at CONDITION."
  (and (sb-thread:thread-alive-p thread)
       (eq condition (sb-thread:symbol-value-in-thread '*swank-debugger-condition* thread nil))))

(defun drop-ended-listings ()
  "Remove the listings of stops that have ended."
  (let ((ended (sb-ext:with-locked-hash-table (*listings*)
                 (loop for condition being the hash-keys of *listings* using (hash-value listing)
                       unless (stopped-at-p (listing-thread listing) condition) collect condition))))
    (dolist (condition ended) (remhash condition *listings*))))

(defun current-listing ()
  "The listing of the stop that this thread is in."
  (let ((condition *swank-debugger-condition*))
    (or (gethash condition *listings*)
        (progn (drop-ended-listings)
               (setf (gethash condition *listings*) (make-listing :thread sb-thread:*current-thread*))))))

;;; A number keeps neither the object nor the condition alive
(defun lookup-at (condition)
  "A function of a number that returns its object while the stop at CONDITION lasts."
  (let ((pointer (sb-ext:make-weak-pointer condition)))
    (lambda (number)
      (let* ((condition (sb-ext:weak-pointer-value pointer))
             (listing (and condition (gethash condition *listings*))))
        (cond ((and listing (stopped-at-p (listing-thread listing) condition))
               (values (gethash number (listing-objects listing))))
              (t (drop-lookup number)
                 (swank-objects:ref number)))))))

(defun object-number (key value)
  "The number for KEY in this thread's stop. It stays the same, and always leads to the latest VALUE."
  (let* ((listing (current-listing))
         (number (or (gethash key (listing-numbers listing))
                     (setf (gethash key (listing-numbers listing)) (new-number (lookup-at *swank-debugger-condition*))))))
    (setf (gethash number (listing-objects listing)) value)
    number))
