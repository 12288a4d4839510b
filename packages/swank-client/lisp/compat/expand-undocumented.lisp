;;; A value of *MACROEXPAND-HOOK* that takes the documentation out of definitions. Restarts are compiled so that they tell how many values they
;;; take. A symbol macro is a symbol.
(cl:lambda (expand form environment)
  (cl:case (cl:if (cl:consp form) (cl:first form))
    ((cl:defun cl:defmacro)
     (cl:destructuring-bind (operator name lambda-list cl:&rest body) form
       (cl:funcall expand
                   (cl:if (cl:and (cl:stringp (cl:first body)) (cl:rest body))
                          (cl:list* operator name lambda-list (cl:rest body))
                          form)
                   environment)))
    ((cl:defvar cl:defparameter cl:defconstant) (cl:funcall expand (cl:ldiff form (cl:nthcdr 3 form)) environment))
    ((cl:restart-case cl:restart-bind cl:with-simple-restart)
     (cl:list 'cl:locally '(cl:declare (cl:optimize (cl:debug 1))) (cl:funcall expand form environment)))
    (cl:t (cl:funcall expand form environment))))
