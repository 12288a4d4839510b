;;;; Numbers values of stopped frames. A number is valid while the thread is stopped.

(in-package #:swank-client/debugger)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (unless (find-package "SWANK-OBJECTS")
    (make-package "SWANK-OBJECTS" :use '()))
  (dolist (name '("REF" "*LOOKUPS*" "*LAST*"))
    (export (intern name "SWANK-OBJECTS") "SWANK-OBJECTS")))

(declaim (ftype function swank-objects:ref))

;;; This package alone has a fixed name, because people type it. The first version in the image defines it, so it must stay small: it maps a
;;; number to a function that returns the object or signals an error.
(defvar swank-objects:*lookups* (make-hash-table :synchronized t))

(defvar swank-objects:*last* (list 0))

(unless (fboundp 'swank-objects:ref)
  (defun swank-objects:ref (number)
    "The object that a debugger listed under NUMBER."
    (let ((lookup (gethash number swank-objects:*lookups*)))
      (if lookup
          (funcall lookup)
          (error "There is no object ~a: the stop at which it was listed has ended. List the frame's variables again." number)))))

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

(defun make-lookup (number condition)
  "A function that returns object NUMBER while its stop lasts. It keeps neither the object nor CONDITION alive."
  (let ((pointer (sb-ext:make-weak-pointer condition)))
    (lambda ()
      (let* ((condition (sb-ext:weak-pointer-value pointer))
             (listing (and condition (gethash condition *listings*))))
        (cond ((and listing (stopped-at-p (listing-thread listing) condition))
               (values (gethash number (listing-objects listing))))
              (t (remhash number swank-objects:*lookups*)
                 (swank-objects:ref number)))))))

(defun object-number (key value)
  "The number for KEY in this thread's stop. It stays the same, and always leads to the latest VALUE."
  (let* ((listing (current-listing))
         (number (or (gethash key (listing-numbers listing))
                     (setf (gethash key (listing-numbers listing)) (1+ (sb-ext:atomic-incf (car swank-objects:*last*)))))))
    (setf (gethash number (listing-objects listing)) value
          (gethash number swank-objects:*lookups*) (make-lookup number *swank-debugger-condition*))
    number))
