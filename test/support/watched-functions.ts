/** A Lisp form for the number of functions with these names that are encapsulated, including SBCL's that signal conditions or dispatch. */
export function encapsulated(names: readonly string[]): string {
  const quoted = names.map((name) => JSON.stringify(name)).join(" ");
  return `
(cl:count-if (cl:lambda (name)
               (cl:and (cl:fboundp name)
                       (cl:let ((function (sb-kernel:%coerce-name-to-fun name)))
                         (cl:if (cl:typep function 'cl:generic-function)
                             (sb-pcl::generic-function-encapsulations function)
                             (sb-impl::encapsulation-info function)))))
             (cl:append (cl:mapcar 'cl:read-from-string (cl:quote (${quoted})))
                        (cl:list 'sb-kernel::%signal 'sb-pcl::maybe-trace-method)))`;
}

/** A Lisp form that is true if the profiler is off, and its timer, too: no further sample is taken. It may be just being loaded. */
export const PROFILER_OFF = `
(cl:let ((profiling (cl:and (cl:find-package "SB-SPROF") (cl:find-symbol "*PROFILING*" "SB-SPROF"))))
  (cl:not (cl:and profiling (cl:boundp profiling) (cl:symbol-value profiling))))`;

/** A program with functions, a method and two threads that call them all the time, and that count their rounds in SHOP::*ROUNDS*. */
export const SHOP = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defvar *rounds* (make-array 2 :initial-element 0))
(defun price (x) (if (eql x 3) (error "no price for ~a" x) (* x 10)))
(defun safe-price (x) (handler-case (price x) (error () 0)))
(defun total (xs) (reduce #'+ (mapcar 'safe-price xs)))
(defun work (n) (sleep 0.001) (act n))
(defgeneric act (x))
(defmethod act ((x integer)) (total (list 1 2 3 x)))
(dotimes (i 2)
  (let ((i i))
    (sb-thread:make-thread (lambda () (loop (work i) (incf (svref *rounds* i)))) :name (format nil "server-~d" i))))
(in-package :cl-user)
nil`;

/** Names of the functions of `SHOP`. */
export const SHOP_FUNCTIONS = ["shop::price", "shop::safe-price", "shop::total", "shop::work", "shop::act"];

/** Waits until both threads of `SHOP` have gone on. */
export const SHOP_GOES_ON =
  "(let ((before (copy-seq shop::*rounds*))) (loop until (every #'< before shop::*rounds*) do (sleep 0.01)) :on)";

/** A Lisp form that is true if nothing watches the program `SHOP`: no function of it is encapsulated, and the profiler is off. */
export const NOTHING_WATCHES = `(cl:and (cl:zerop ${encapsulated(SHOP_FUNCTIONS)}) ${PROFILER_OFF})`;
