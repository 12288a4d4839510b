;;;; The parts of lambda lists.

(in-package #:swank-client/stops)

(defun parameter-name (parameter)
  "The variable that PARAMETER of a lambda list binds."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (second name) name)))

(defun parameter-key (parameter)
  "The keyword of PARAMETER, a parameter after &KEY."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name) (first name) (intern (symbol-name name) "KEYWORD"))))

(defun parameter-names (lambda-list)
  "The variables that LAMBDA-LIST binds, without those that say whether an argument was supplied."
  (loop for item in lambda-list
        unless (member item lambda-list-keywords) collect (parameter-name item)))

(defun lambda-list-range (lambda-list)
  "The fewest and the most arguments that a function with LAMBDA-LIST takes, NIL for no limit."
  (let ((required (or (position-if (lambda (item) (member item lambda-list-keywords)) lambda-list)
                      (length lambda-list)))
        (optional (loop for item in (rest (member '&optional lambda-list))
                        until (member item lambda-list-keywords) count t)))
    (values required
            (unless (intersection '(&rest &body &key sb-int:&more) lambda-list) (+ required optional)))))
