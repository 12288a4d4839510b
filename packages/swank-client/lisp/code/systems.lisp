;;;; Which system a definition comes from. ASDF need not be loaded.

(in-package #:swank-client/code)

(defvar *file-systems* nil "For this request, ((SYSTEM . PATHNAME) ...) of the files of systems, by their names without folders.")

(defun known-file-systems ()
  "The value of *FILE-SYSTEMS* for the systems that ASDF knows. The files are not looked up, which takes longer than all else."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (name (reverse (system-names)) table)
      (dolist (file (or-nil (system-files name)))
        (push (cons name file) (gethash (file-namestring file) table))))))

(defun system-of-file (truename)
  "The name of the first system that has the file TRUENAME, or NIL."
  (let ((namesakes (gethash (file-namestring truename) *file-systems*)))
    (car (or (find truename namesakes :key #'cdr :test #'equal)
             ;; a folder may be a link
             (find truename namesakes :key (lambda (entry) (named-file (cdr entry))) :test #'equal)))))

(defun compiler-free-p ()
  "True if no other thread holds the compiler's lock, or none does a moment later: compiling a form takes some milliseconds."
  (loop repeat 100
        thereis (not (world-lock-taken-p))
        do (sleep 0.01)))

(defmacro with-file-systems ((&optional (knownp (gensym "KNOWN"))) &body body)
  "Run BODY, which asks for the systems of files. KNOWNP is false if no system is found because another thread holds the compiler's lock,
without which ASDF's methods may wait."
  `(let* ((,knownp (compiler-free-p))
          (*file-systems* (if ,knownp (known-file-systems) (make-hash-table :test 'equal))))
     (declare (ignorable ,knownp))
     ,@body))

(defun system-of (definition)
  "The name of the system that DEFINITION comes from, or NIL."
  (let* ((path (and (null (evaluation-of definition)) (record-path definition)))
         (truename (and path (or-nil (named-file (pathname path))))))
    (and truename (system-of-file truename))))

(defun foreign-classes (definition)
  "((NAME SYSTEM) ...) of the classes on which the method of DEFINITION specializes that come from another system than it."
  (let ((system (system-of definition)))
    (loop for specializer in (sb-mop:method-specializers (definition-method definition))
          for class-system = (and (typep specializer 'class) (or-nil (system-of (class-definition specializer))))
          when (and class-system (not (equal class-system system)))
            collect (list (name-text (class-name specializer)) class-system))))
