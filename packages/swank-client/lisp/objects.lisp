;;;; Values of stopped frames, by number, for as long as their thread is stopped.

(in-package #:@module@)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (unless (find-package "SWANK-OBJECTS")
    (make-package "SWANK-OBJECTS" :use '()))
  (dolist (name '("REF" "*LOOKUPS*" "*LAST*"))
    (export (intern name "SWANK-OBJECTS") "SWANK-OBJECTS")))

(declaim (ftype function swank-objects:ref))

;;; This package alone has a fixed name, since people write it. Whatever version comes first defines it, so it stays this small:
;;; a number leads to a function that gives the object or signals an error.
(defvar swank-objects:*lookups* (make-hash-table :synchronized t))
(defvar swank-objects:*last* (list 0))

(unless (fboundp 'swank-objects:ref)
  (defun swank-objects:ref (number)
    "The object that a debugger listed under NUMBER."
    (let ((lookup (gethash number swank-objects:*lookups*)))
      (if lookup
          (funcall lookup)
          (error "There is no object ~a: the stop that it was listed at has ended. List the frame's variables again." number)))))

(defstruct listing
  "What was listed of one stop. It lives as long as the stop's condition does."
  thread
  ;; (FRAME NAME ID) -> number
  (numbers (make-hash-table :test 'equal))
  ;; number -> object
  (objects (make-hash-table :synchronized t)))

(defvar *listings* (make-hash-table :test 'eq :weakness :key :synchronized t) "By the condition of the stop.")

(defun stopped-at-p (thread condition)
  (and (sb-thread:thread-alive-p thread)
       (eq condition (sb-thread:symbol-value-in-thread 'swank::*swank-debugger-condition* thread nil))))

(defun drop-ended-listings ()
  (let ((ended (sb-ext:with-locked-hash-table (*listings*)
                 (loop for condition being the hash-keys of *listings* using (hash-value listing)
                       unless (stopped-at-p (listing-thread listing) condition) collect condition))))
    (dolist (condition ended) (remhash condition *listings*))))

(defun current-listing ()
  (let ((condition swank::*swank-debugger-condition*))
    (or (gethash condition *listings*)
        (progn (drop-ended-listings)
               (setf (gethash condition *listings*) (make-listing :thread sb-thread:*current-thread*))))))

(defun make-lookup (number condition)
  "A function that gives the object while its stop lasts. It keeps nothing of it alive."
  (let ((pointer (sb-ext:make-weak-pointer condition)))
    (lambda ()
      (let* ((condition (sb-ext:weak-pointer-value pointer))
             (listing (and condition (gethash condition *listings*))))
        (cond ((and listing (stopped-at-p (listing-thread listing) condition))
               (values (gethash number (listing-objects listing))))
              (t (remhash number swank-objects:*lookups*)
                 (swank-objects:ref number)))))))

(defun object-number (key value)
  "The number of VALUE, found under KEY in this thread's stop: the same each time, and always for the value of now."
  (let* ((listing (current-listing))
         (number (or (gethash key (listing-numbers listing))
                     (setf (gethash key (listing-numbers listing)) (1+ (sb-ext:atomic-incf (car swank-objects:*last*)))))))
    (setf (gethash number (listing-objects listing)) value
          (gethash number swank-objects:*lookups*) (make-lookup number swank::*swank-debugger-condition*))
    number))
