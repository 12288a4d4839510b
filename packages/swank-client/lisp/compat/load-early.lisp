;;; Calls LOAD for a new connection whose threads run side by side, once its first request has been evaluated: that tells Swank which packages are
;;; not new, and Swank would look through all of them if LOAD made some before. If AFTER is true, waits also for the module of that marker, which
;;; another request loads. => the value of LOAD, or NIL
;;; Nobody knows the server yet: Slynk's threads serve no connection of Swank.
(cl:lambda (after load)
  (cl:flet ((swank (name)
              (cl:and (cl:find-package "SWANK") (cl:find-symbol name "SWANK")))
            (comes-true-p (condition)
              (cl:loop :repeat 300 :thereis (cl:funcall condition) :do (cl:sleep 1/3000))))
    (cl:let ((variable (swank "*EMACS-CONNECTION*"))
             (style (swank "CONNECTION.COMMUNICATION-STYLE"))
             (known (swank "CONNECTION.INDENTATION-CACHE-PACKAGES")))
      (cl:and variable (cl:boundp variable) (cl:symbol-value variable)
              style (cl:fboundp style)
              known (cl:fboundp known)
              (cl:eq (cl:funcall style (cl:symbol-value variable)) :spawn)
              (comes-true-p (cl:lambda () (cl:funcall known (cl:symbol-value variable))))
              (cl:or (cl:null after)
                     (cl:and (comes-true-p (cl:lambda () (cl:or (cl:get after :ready) (cl:get after :problem))))
                             (cl:get after :ready)))
              (cl:funcall load)))))
