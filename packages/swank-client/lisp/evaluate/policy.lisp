;;;; The compiler's policy for evaluated code, and for what SBCL compiles of its own accord while such code runs.

(in-package #:swank-client/evaluate)

(defvar *image-policy* nil "While evaluated code is compiled with the debug policy, the restrictions of policy that hold otherwise: (MIN MAX).")

(defun call-with-debug-policy (function)
  "Call FUNCTION so that code it evaluates is compiled with frames, variables and steps. Nothing else is affected."
  (let ((*image-policy* (or *image-policy* (list *policy-min* *policy-max*))))
    (progv (list* '*policy-min* '*policy-max* (when (eq sb-ext:*evaluator-mode* :interpret) '(sb-ext:*evaluator-mode*)))
           (list *policy-min* *policy-max* :compile)
      (sb-ext:restrict-compiler-policy 'debug 3)
      ;; at 3, each of these would override debug 3
      (dolist (quality '(speed space compilation-speed))
        (sb-ext:restrict-compiler-policy quality 0 2))
      (let ((*for-stepping* t)) (funcall function)))))

(defun compile-with-image-policy (compile &rest arguments)
  "Encapsulates the functions by which SBCL compiles the dispatch of a generic function when that is called: all threads will use the result.
With steps, the compiler would also print forms, which fails while the dispatch of PRINT-OBJECT is compiled: \"vicious metacircle\"."
  (if *image-policy*
      (progv '(*policy-min* *policy-max*) *image-policy* (apply compile arguments))
      (apply compile arguments)))
