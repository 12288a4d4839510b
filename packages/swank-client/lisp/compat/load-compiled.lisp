;;; A function that loads FILE, a compiled module, if that is the file of the client that CALL-WITH-OWN-FILE looks for.
(cl:lambda (file header call-with-own-file)
  (cl:lambda ()
    (cl:funcall call-with-own-file file header (cl:lambda (octets) (cl:load octets)))))
