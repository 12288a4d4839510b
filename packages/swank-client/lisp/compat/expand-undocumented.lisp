;;; A value of *MACROEXPAND-HOOK* that takes the documentation out of definitions.
(cl:lambda (expand form environment)
  (cl:funcall expand
              (cl:case (cl:if (cl:consp form) (cl:first form))
                ((cl:defun cl:defmacro)
                 (cl:destructuring-bind (operator name lambda-list cl:&rest body) form
                   (cl:if (cl:and (cl:stringp (cl:first body)) (cl:rest body))
                          (cl:list* operator name lambda-list (cl:rest body))
                          form)))
                ((cl:defvar cl:defparameter cl:defconstant) (cl:ldiff form (cl:nthcdr 3 form)))
                (cl:t form))
              environment))
