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

(defvar *stock* (sb-thread:make-mutex :name "stock"))

(defvar *book* (sb-thread:make-mutex :name "book"))

(defun sell ()
  (list :sold (sb-thread:with-mutex (*stock*)
                (sleep 0.2)
                (sb-thread:with-mutex (*book*) (length *orders*)))))

(defun report ()
  (list :orders (sb-thread:with-mutex (*book*)
                  (sleep 0.3)
                  (sb-thread:with-mutex (*stock*) (length *orders*)))))

(defun start-clerks ()
  "Start two threads that wait for each other."
  (dolist (work '(sell report)) (let ((work work)) (sb-thread:make-thread (lambda () (list (funcall work))) :name "clerk"))))
