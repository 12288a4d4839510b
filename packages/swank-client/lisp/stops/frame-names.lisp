;;;; Names of the functions that frames run.

(in-package #:swank-client/stops)

(defun frame-name (frame)
  "The name of the function that FRAME runs."
  (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))

(defun name-symbol (name)
  "The symbol whose package owns the function NAME; for a local function, that of the function around it."
  (typecase name
    (symbol name)
    (cons (loop for part in (or (rest (member :in name)) (rest name))
                when (and part (symbolp part) (not (keywordp part)) (not (member part lambda-list-keywords))) return part
                when (consp part) do (let ((found (name-symbol (cons nil part)))) (when found (return found)))))))
