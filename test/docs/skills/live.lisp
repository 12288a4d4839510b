;;; The program that the skill lisp-live-systems looks at: a worker that takes orders, and keeps them.

(load (merge-pathnames "shop.lisp" *load-truename*))

(in-package #:shop)

(defstruct order items)

(defvar *orders* '() "All orders, of which none is ever dropped.")

(defun serve (order)
  (push order *orders*)
  (total (order-items order)))

(sb-thread:make-thread
 (lambda ()
   (loop
     (loop repeat 500 do (serve (make-order :items (list (list :price 3 :count 2)))))
     (sleep 0.01)))
 :name "shop worker")
