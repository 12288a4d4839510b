;;; Calls FUNCTION with the octets of FILE that follow its first line, if that is HEADER. => the value of FUNCTION, or NIL
;;; HEADER is a secret of the client's user. So a file that begins with it is the client's, and not one with the same name that somebody
;;; has written on this machine or in this container. A file of another user is not opened, and neither is a pipe, which would block.
(cl:lambda (file header function)
  (cl:multiple-value-bind (found device inode mode links owner) (sb-unix:unix-lstat file)
    (cl:declare (cl:ignore device inode links))
    (cl:when (cl:and found
                     (cl:= owner (sb-unix:unix-getuid))
                     ;; a plain file, which neither its group nor others can write
                     (cl:= (cl:logand mode #o170022) #o100000))
      (cl:with-open-file (octets (sb-ext:parse-native-namestring file) :element-type '(cl:unsigned-byte 8))
        (cl:when (cl:every (cl:lambda (char) (cl:eql (cl:char-code char) (cl:read-byte octets cl:nil))) header)
          (cl:funcall function octets))))))
