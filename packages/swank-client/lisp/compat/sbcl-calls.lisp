;;;; Calls that SBCL has compiled as jumps.

(defpackage #:swank-client/sbcl-calls
  (:documentation "Calls that SBCL has compiled as jumps.")
  (:use #:common-lisp)
  (:export #:direct-self-calls-p))

(in-package #:swank-client/sbcl-calls)

(defconstant +largest-code+ 20000 "Bytes of code beyond which a function is not disassembled.")

(defun plain-function-p (function)
  "True if FUNCTION is one that a DEFUN made, and is not too large."
  (and (functionp function)
       (not (typep function 'generic-function))
       (< (sb-kernel:%code-text-size (sb-kernel:fun-code-header (sb-kernel:%fun-fun function))) +largest-code+)))

(defun direct-self-calls-p (function)
  "True if FUNCTION calls itself by its address, as far as its machine code on x86-64 shows it."
  (and (plain-function-p function)
       (ignore-errors
        (let* ((text (with-output-to-string (out) (disassemble function :stream out)))
               (label "Origin: #x")
               (start (+ (search label text) (length label)))
               (first-line (1+ (position #\Newline text :start start)))
               ;; the entry of calls by address is 3 bytes before that of the others, and later SBCLs label it
               (entry (- (parse-integer text :start start :radix 16 :junk-allowed t) 3))
               (call (if (search ": L0: " text :start2 first-line :end2 (position #\Newline text :start first-line))
                         "CALL L0"
                         (format nil "CALL #x~x" entry))))
          (loop for line-start = 0 then (1+ line-end)
                for line-end = (position #\Newline text :start line-start)
                while line-end
                thereis (search call text :start2 line-start :end2 line-end))))))
