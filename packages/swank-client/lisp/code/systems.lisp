;;;; Which system a definition comes from. ASDF need not be loaded.

(in-package #:swank-client/code)

(defvar *file-systems* nil "The names of systems, by the native names of their files, for this request.")

(defun known-file-systems ()
  "The names of the systems that ASDF knows, by the native names of their files."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (name (reverse (system-names)) table)
      (dolist (file (or-nil (system-files name)))
        (let ((truename (named-file file)))
          (when truename (setf (gethash (namestring truename) table) name)))))))

(defun compiler-free-p ()
  "True if no other thread holds the compiler's lock, or none does a moment later: compiling a form takes some milliseconds."
  (loop repeat 100
        thereis (not (world-lock-taken-p))
        do (sleep 0.01)))

(defmacro with-file-systems ((&optional (knownp (gensym "KNOWN"))) &body body)
  "Run BODY, which asks for the systems of files. KNOWNP is false if no system is found because another thread holds the compiler's lock,
without which ASDF's methods may wait."
  `(let* ((,knownp (compiler-free-p))
          (*file-systems* (if ,knownp (known-file-systems) (make-hash-table))))
     (declare (ignorable ,knownp))
     ,@body))

(defun system-of (definition)
  "The name of the system that DEFINITION comes from, or NIL."
  (let* ((path (and (null (evaluation-of definition)) (record-path definition)))
         (truename (and path (or-nil (named-file (pathname path))))))
    (and truename (gethash (namestring truename) *file-systems*))))

(defun foreign-classes (definition)
  "((NAME SYSTEM) ...) of the classes on which the method of DEFINITION specializes that come from another system than it."
  (let ((system (system-of definition)))
    (loop for specializer in (sb-mop:method-specializers (definition-method definition))
          for class-system = (and (typep specializer 'class) (or-nil (system-of (class-definition specializer))))
          when (and class-system (not (equal class-system system)))
            collect (list (name-text (class-name specializer)) class-system))))
