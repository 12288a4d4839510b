;;; A function that compiles and loads the files 0.lisp to COUNT-1.lisp of a module, which the client wrote to FOLDER. If they are not here,
;;; or cannot be compiled, it calls LOAD-TEXTS. The compiler's lock is free after each file.
;;; EXPAND-UNDOCUMENTED is the text of a function. The documentation, the variables of frames and the callers of functions, which nobody asks for
;;; in the user's image, would make a quarter of a file.
(cl:lambda (folder count header expand-undocumented call-with-own-file load-texts)
  (cl:flet ((file (number type)
              (cl:format cl:nil "~a/~d.~a" folder number type)))
    (cl:lambda ()
      (cl:unless (cl:handler-case
                     (cl:when (cl:funcall call-with-own-file (file 0 "lisp") header (cl:constantly cl:t))
                       (cl:let ((cl:*macroexpand-hook* (cl:compile cl:nil expand-undocumented)))
                         ;; one unit, because functions are used before they are defined
                         (cl:with-compilation-unit (:policy '(cl:optimize (cl:debug 0) (sb-c::store-xref-data 0)))
                           (cl:dotimes (number count cl:t)
                             (cl:load (cl:compile-file (sb-ext:parse-native-namestring (file number "lisp"))
                                                       :output-file (sb-ext:parse-native-namestring (file number "fasl"))
                                                       :external-format :utf-8
                                                       ;; a function then calls those of its file directly, and less is loaded
                                                       :block-compile cl:t
                                                       ;; SBCL before 2.0.2 has no block compilation
                                                       :allow-other-keys cl:t))))))
                   (cl:error () cl:nil))
        (cl:funcall load-texts)))))
