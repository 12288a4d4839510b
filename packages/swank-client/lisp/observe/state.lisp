;;;; The size of the image, for a glance at it again and again.

(in-package #:swank-client/observe)

(defun image-state ()
  "A plist with the bytes in use in the heap, garbage included, those that it can have, and the numbers of threads and of other clients. It
interrupts no thread and walks nothing."
  (list :used (heap-used)
        :size (heap-size)
        :threads (length (sb-thread:list-all-threads))
        :clients (1- (length *connections*))))
