;;;; The function by which code refers to a numbered object. All versions of the library in an image share it.

(in-package #:swank-client/objects)

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

(defun new-number (lookup)
  "A number for the object that LOOKUP, a function of the number, returns."
  (let ((number (1+ (sb-ext:atomic-incf (car swank-objects:*last*)))))
    (setf (gethash number swank-objects:*lookups*) (lambda () (funcall lookup number)))
    number))

(defun drop-lookup (number)
  "Forget the object NUMBER."
  (remhash number swank-objects:*lookups*))

(defun object-numbered (number)
  "=> the object NUMBER and T, or NIL and a text that says why there is none"
  (let ((lookup (gethash number swank-objects:*lookups*)))
    (if (null lookup)
        (values nil nil)
        (handler-case (values (funcall lookup) t)
          (error (condition) (values nil (ignore-errors (princ-to-string condition))))))))
