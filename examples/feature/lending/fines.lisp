(in-package #:lending)

(defun fine (days)
  "Return what a member owes who gives a book back DAYS too late, in cents."
  (cond ((<= days 0) 0)
        ((<= days 7) (* 20 days))
        (t (min 2000 (* 50 days)))))
