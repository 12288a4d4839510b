;;; Loads the runtime module of MARKER, unless it is loaded. => true if it is loaded now; otherwise the property :PROBLEM of MARKER is the text of an
;;; error, or NIL if the client's files are not here.
;;; The module is TEXTS, or the files NAME-0.lisp, NAME-1.lisp and so on in FOLDER, which the first image compiles into one file there. ID is a secret of
;;; the client's user, which the file id in FOLDER holds: that folder is then the client's, and not one of the same name on another machine or in this
;;; container. The compiled file is renamed when it is complete; until then, names end in DRAFT.
;;; Another client that needs the module waits until it is loaded. The lock is not the compiler's, which is free after each file, so that the user's
;;; compilations never wait for a whole module.
;;; The form is read in a package that uses no other, so every symbol names its package. UNDER-DEFAULT-SETTINGS is the function in
;;; default-settings.lisp.
(cl:lambda (marker texts folder id name draft under-default-settings)
  (cl:labels
      ((native (path)
         (sb-ext:parse-native-namestring path))
       (own-p (path type)
         ;; A file of another user is not opened, and neither is a pipe, which would block. An SBCL without these functions loads texts.
         (cl:let ((lstat (cl:find-symbol "UNIX-LSTAT" "SB-UNIX"))
                  (getuid (cl:find-symbol "UNIX-GETUID" "SB-UNIX")))
           (cl:multiple-value-bind (found device inode mode links owner) (cl:if (cl:and lstat getuid) (cl:funcall lstat path))
             (cl:declare (cl:ignore device inode))
             (cl:and found
                     (cl:= owner (cl:funcall getuid))
                     ;; the type, and that neither the group nor others can write it
                     (cl:= type (cl:logand mode #o170022))
                     (cl:or (cl:= links 1) (cl:= type #o040000))))))
       (own-file-p (path)
         (own-p path #o100000))
       (clients-folder-p ()
         (cl:let ((file (cl:format cl:nil "~a/id" folder)))
           (cl:and (own-p folder #o040000)
                   (own-file-p file)
                   (cl:with-open-file (stream (native file)) (cl:equal id (cl:read-line stream cl:nil))))))
       (slots-of (name package)
         (cl:flet ((internal (name cl:&rest arguments)
                     (cl:apply (cl:find-symbol name "SB-KERNEL") arguments)))
           (cl:let ((structure (internal "FIND-DEFSTRUCT-DESCRIPTION" (cl:find-symbol name package) cl:nil)))
             (cl:and structure
                     (cl:mapcar (cl:lambda (slot) (cl:list (cl:symbol-name (internal "DSD-NAME" slot)) (internal "DSD-INDEX" slot)))
                                (internal "DD-SLOTS" structure))))))
       ;; Those by which SBCL refuses compiled files.
       (features ()
         (cl:let ((affecting (cl:find-symbol "*FEATURES-POTENTIALLY-AFFECTING-FASL-FORMAT*" "SB-FASL")))
           (cl:if (cl:and affecting (cl:boundp affecting))
                  (cl:remove-if-not (cl:lambda (feature) (cl:member feature cl:*features*)) (cl:symbol-value affecting)))))
       ;; what the compiler copies into code: SBCL, the expansion of Swank's macros, and the slots of its structures
       (lisp ()
         (cl:sxhash
          (cl:prin1-to-string
           (cl:list (cl:lisp-implementation-version)
                    (cl:ignore-errors (cl:file-write-date sb-ext:*runtime-pathname*))
                    (features)
                    swank::*swank-wire-protocol-version*
                    (cl:macroexpand-1 '(swank::with-connection (cl:nil) cl:t))
                    (cl:mapcar (cl:lambda (name) (slots-of name "SWANK"))
                               '("CONNECTION" "SINGLETHREADED-CONNECTION" "MULTITHREADED-CONNECTION" "ISTATE"))
                    (slots-of "MAILBOX" "SWANK/SBCL")))))
       ;; Takes the documentation out of definitions. Restarts are compiled so that they tell how many values they take. A symbol macro is a symbol.
       (undocumented ()
         (cl:compile
          cl:nil
          '(cl:lambda (expand form environment)
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
              (cl:t (cl:funcall expand form environment))))))
       ;; The documentation, the variables of frames and the callers of functions, which nobody asks for in the user's image, would make a quarter
       ;; of a file.
       (compiled (text fasl)
         (cl:let ((references (cl:find-symbol "STORE-XREF-DATA" "SB-C")))
           (cl:with-compilation-unit (:policy (cl:list* 'cl:optimize '(cl:debug 0) (cl:if references (cl:list (cl:list references 0))))
                                      ;; a file that is not there, because the texts are no part of the user's program
                                      :source-namestring (cl:subseq text 0 (cl:- (cl:length text) (cl:length ".lisp"))))
             (cl:compile-file (native text)
                              :output-file (native fasl)
                              :external-format :utf-8
                              ;; a function then calls those of its file directly, and less is loaded
                              :block-compile cl:t
                              ;; SBCL before 2.0.2 has no block compilation
                              :allow-other-keys cl:t))))
       (append-file (file stream)
         (cl:with-open-file (octets file :element-type '(cl:unsigned-byte 8))
           (cl:let ((all (cl:make-array (cl:file-length octets) :element-type '(cl:unsigned-byte 8))))
             (cl:read-sequence all octets)
             (cl:write-sequence all stream))))
       ;; SBCL loads compiled files that were joined like the single ones
       (compile-files (fasl)
         (cl:let ((joined (cl:format cl:nil "~a~a" fasl draft))
                  (cl:*macroexpand-hook* (undocumented)))
           (cl:with-open-file (stream (native joined) :direction :output :element-type '(cl:unsigned-byte 8))
             (cl:loop :for number :from 0
                      :for text := (cl:format cl:nil "~a/~a-~d.lisp" folder name number)
                      :while (own-file-p text)
                      :do (cl:let ((file (compiled text (cl:format cl:nil "~a/~a-~d.fasl~a" folder name number draft))))
                            (cl:load file)
                            (append-file file stream)
                            (cl:delete-file file))))
           (cl:unless (cl:get marker :ready) (cl:error "A file is missing in ~a." folder))
           (sb-posix:chmod joined #o600)
           (sb-posix:rename joined fasl)))
       (load-compiled (fasl)
         (cl:and (own-file-p fasl)
                 (cl:handler-case (cl:with-open-file (octets (native fasl) :element-type '(cl:unsigned-byte 8)) (cl:load octets))
                   (cl:error () cl:nil))
                 (cl:get marker :ready)))
       (load-module ()
         ;; one unit, because functions are used before they are defined
         (cl:with-compilation-unit ()
           (cl:cond (texts (cl:dolist (text texts) (cl:load (cl:make-string-input-stream text))))
                    ((clients-folder-p)
                     (cl:let ((fasl (cl:format cl:nil "~a/~a-~36r.fasl" folder name (lisp))))
                       (cl:unless (load-compiled fasl) (compile-files fasl))))))))
    ;; the user may have deleted the package of this thread, in which macros then fail, and even errors cannot be printed
    (cl:let ((cl:*package* (cl:symbol-package 'cl:car)))
      (cl:handler-case
          (sb-thread:with-mutex ((sb-thread:with-recursive-lock
                                     ((cl:let ((lock (cl:find-symbol "**WORLD-LOCK**" "SB-KERNEL")))
                                        (cl:if lock (cl:symbol-value lock) (sb-thread:make-mutex))))
                                   (cl:or (cl:get marker :lock)
                                          (cl:setf (cl:get marker :lock)
                                                   (sb-thread:make-mutex :name "swank-client module")))))
            (cl:unless (cl:get marker :ready)
              (cl:setf (cl:get marker :problem) cl:nil)
              (cl:let ((cl:*break-on-signals* cl:nil)
                       (cl:*standard-output* (cl:make-broadcast-stream))
                       (cl:*error-output* (cl:make-broadcast-stream))
                       (cl:*trace-output* (cl:make-broadcast-stream))
                       (cl:*load-verbose* cl:nil)
                       (cl:*load-print* cl:nil)
                       (cl:*compile-print* cl:nil)
                       (cl:*compile-verbose* cl:nil))
                (cl:funcall under-default-settings #'load-module)))
            (cl:get marker :ready))
        (cl:error (condition)
          (cl:setf (cl:get marker :problem) (cl:princ-to-string condition))
          cl:nil)))))
