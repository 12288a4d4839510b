;;;; The numbered objects of each client.

(in-package #:swank-client/objects)

;;; The function by which code refers to a numbered object. All versions of the library in an image share it.

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
          (error (condition) (values nil (or-nil (princ-to-string condition))))))))

;;; The numbered objects of each client. A number does not keep its object alive, except for the latest values of the client's own code.

(defconstant +numbers-limit+ 20000 "Numbers of a client that stay valid: the latest ones.")

(defconstant +kept-objects+ 100 "Objects that are kept alive for a client: the latest ones.")

(defstruct (shelf (:type vector) (:copier nil))
  "The numbered objects of a session."
  ;; object -> number
  (numbers (make-hash-table :test 'eq :weakness :key :synchronized t))
  ;; the latest numbers, in a ring
  (ring (make-array 100 :initial-element nil :adjustable t))
  (next 0 :type fixnum)
  ;; the objects that are kept alive, (NUMBER . OBJECT), in the cdr of a list, latest first
  (kept (list :kept))
  (lock (sb-thread:make-mutex :name "swank-client objects")))

(defvar *shelves* (make-hash-table :test 'eq :weakness :key :synchronized t) "The shelf of each session.")

(defun session-shelf (session)
  "The shelf of SESSION."
  (sb-ext:with-locked-hash-table (*shelves*)
    (or (gethash session *shelves*)
        (setf (gethash session *shelves*) (make-shelf)))))

(defun simple-value-p (object)
  "True if OBJECT has no identity worth keeping: a number or character."
  (typep object '(or number character)))

(defun lookup-of (object)
  "A function of a number that returns OBJECT while it lives. It does not keep OBJECT alive unless that is a simple value."
  (if (simple-value-p object)
      (lambda (number) (declare (ignore number)) object)
      (let ((pointer (sb-ext:make-weak-pointer object)))
        (lambda (number)
          (multiple-value-bind (object live) (sb-ext:weak-pointer-value pointer)
            (if live
                object
                (error "Object ~d is gone: nothing in the image kept it, and its memory was freed." number)))))))

(defun put-number (shelf number)
  "Put NUMBER into the next place of SHELF's ring. => the number that was there, or NIL"
  (let ((ring (shelf-ring shelf))
        (next (shelf-next shelf)))
    (when (= next (length ring))
      (if (< next +numbers-limit+)
          (setf ring (adjust-array ring (min +numbers-limit+ (* 2 next)) :initial-element nil)
                (shelf-ring shelf) ring)
          (setf next 0)))
    (setf (shelf-next shelf) (1+ next))
    (shiftf (aref ring next) number)))

(defun remember-number (shelf number)
  "Put NUMBER into the ring of SHELF, and forget the oldest number there whose object is not kept alive if there are too many."
  (loop for old = (put-number shelf number)
        while (and old (assoc old (rest (shelf-kept shelf))))
        do (setf number old)
        finally (when old (drop-lookup old))))

(defun numbered (shelf object)
  "The number of OBJECT on SHELF. The lock is held."
  (or (let ((number (and (not (simple-value-p object)) (gethash object (shelf-numbers shelf)))))
        ;; the number may have been too old
        (and number (gethash number swank-objects:*lookups*) number))
      (let ((number (new-number (lookup-of object))))
        (unless (simple-value-p object) (setf (gethash object (shelf-numbers shelf)) number))
        (remember-number shelf number)
        number)))

(defun number-of (object &optional (session (current-session)))
  "The number of OBJECT for the client of SESSION. It does not keep OBJECT alive."
  (let ((shelf (session-shelf session)))
    (sb-thread:with-mutex ((shelf-lock shelf)) (numbered shelf object))))

(defun kept-number (object &optional (session (current-session)))
  "The number of OBJECT, which stays alive for the client of SESSION: until it keeps many others, releases it, resets or disconnects."
  (let ((shelf (session-shelf session)))
    (sb-thread:with-mutex ((shelf-lock shelf))
      (let* ((number (numbered shelf object))
             (others (remove number (rest (shelf-kept shelf)) :key #'first)))
        (setf (rest (shelf-kept shelf))
              (cons (cons number object) (subseq others 0 (min (1- +kept-objects+) (length others)))))
        number))))

(defun numbered-values (values &optional (session (or (code-session) (current-session))))
  "The first of VALUES as numbers under which they are kept, in the form in which PRINTED-VALUES returns texts."
  (list :values (loop for value in values repeat 20 collect (format nil "~d" (kept-number value session)))
        :cut '()
        :count (length values)))

(defun release-number (number &optional (session (current-session)))
  "Keep the object NUMBER alive no longer for the client of SESSION. => whether it was kept"
  (let ((shelf (session-shelf session)))
    (sb-thread:with-mutex ((shelf-lock shelf))
      (let ((keptp (and (assoc number (rest (shelf-kept shelf))) t)))
        (setf (rest (shelf-kept shelf)) (remove number (rest (shelf-kept shelf)) :key #'first))
        keptp))))

(defun release-all (&optional (session (current-session)))
  "Keep no object alive any longer for the client of SESSION. => the objects that were kept"
  (let ((shelf (session-shelf session)))
    (sb-thread:with-mutex ((shelf-lock shelf))
      (mapcar #'rest (shiftf (rest (shelf-kept shelf)) '())))))

(defun forget-objects (session)
  "Forget the numbers of SESSION and release its objects."
  (let ((shelf (gethash session *shelves*)))
    (when shelf
      (remhash session *shelves*)
      (sb-thread:with-mutex ((shelf-lock shelf))
        (loop for number across (shelf-ring shelf) when number do (drop-lookup number))
        (setf (rest (shelf-kept shelf)) '())))))

(pushnew 'forget-objects *departure-hooks*)
