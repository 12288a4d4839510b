;;;; What a symbol names, without its sources.

(in-package #:swank-client/code)

(defun variable-kind (symbol)
  "The kind of variable that SYMBOL is, or NIL."
  (case (sb-int:info :variable :kind symbol)
    (:constant :constant)
    ((:special :global :alien) :variable)
    (:macro :symbol-macro)
    (t (and (boundp symbol) :variable))))

(defun type-kind (symbol)
  "The kind of class or type that SYMBOL names, or NIL."
  (let ((class (find-class symbol nil)))
    (cond (class (class-kind class))
          ((eq (sb-int:info :type :kind symbol) :defined) :type))))

(defun symbol-kinds (symbol)
  "The kinds of things that SYMBOL names, operators first."
  (remove nil (list (and (fboundp symbol) (function-kind symbol))
                    (or-nil (type-kind symbol))
                    (variable-kind symbol)
                    (and (sb-int:info :setf :expander symbol) :setf-expander))))

(defun kinds-of (name)
  "The kinds of things that NAME, a symbol or (SETF SYMBOL), names."
  (if (symbolp name)
      (symbol-kinds name)
      (remove nil (list (and (fboundp name) (function-kind name))
                        (and (sb-int:info :setf :expander (second name)) :setf-expander)))))

(defparameter *wider-kinds*
  '((:function :generic-function :special-operator) (:class :structure :condition :built-in-class) (:variable :constant))
  "Kinds, each with those that it includes when definitions are filtered.")

(defun of-kind-p (kinds wanted)
  "True if one of KINDS is WANTED or is included in it."
  (let ((included (or (assoc wanted *wider-kinds*) (list wanted))))
    (some (lambda (kind) (member kind included)) kinds)))
