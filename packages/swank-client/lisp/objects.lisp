;;;; Values of stopped frames, by number, for as long as their thread is stopped.

(in-package #:@module@)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (unless (find-package "SWANK-OBJECTS")
    (make-package "SWANK-OBJECTS" :use '()))
  (dolist (name '("REF" "*LOOKUPS*" "*LAST*"))
    (export (intern name "SWANK-OBJECTS") "SWANK-OBJECTS")))

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

(defstruct place
  "A variable of a frame of a stop."
  number
  thread
  condition)

(defvar *places* (make-hash-table :test 'equal :synchronized t)
  "(THREAD-ID LEVEL FRAME NAME ID) -> place, so that a variable has one number while its thread is stopped.")

(defun place-live-p (place)
  "True while the thread is at the stop at which the place was listed."
  (and (sb-thread:thread-alive-p (place-thread place))
       (eq (place-condition place)
           (sb-thread:symbol-value-in-thread 'swank::*swank-debugger-condition* (place-thread place) nil))))

(defun drop-dead-places ()
  (sb-ext:with-locked-hash-table (*places*)
    (loop for key being the hash-keys of *places* using (hash-value place)
          unless (place-live-p place)
            do (remhash (place-number place) swank-objects:*lookups*)
               (remhash key *places*))))

(defun make-lookup (place value)
  (lambda ()
    (unless (place-live-p place)
      (drop-dead-places)
      (swank-objects:ref (place-number place)))
    value))

(defun object-number (key value)
  "The number of VALUE, found under KEY in this thread's stop."
  (let ((known (gethash key *places*)))
    (if (and known (place-live-p known))
        (place-number known)
        (let ((place (make-place :number (sb-ext:atomic-incf (car swank-objects:*last*))
                                 :thread sb-thread:*current-thread*
                                 :condition swank::*swank-debugger-condition*)))
          (incf (place-number place))
          (setf (gethash key *places*) place
                (gethash (place-number place) swank-objects:*lookups*) (make-lookup place value))
          (place-number place)))))
