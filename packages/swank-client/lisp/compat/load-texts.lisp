;;; A function that loads TEXTS, the files of a module, in order.
(cl:lambda (texts)
  (cl:lambda ()
    ;; one unit, because functions are used before they are defined
    (cl:with-compilation-unit ()
      (cl:dolist (text texts)
        (cl:load (cl:make-string-input-stream text))))))
