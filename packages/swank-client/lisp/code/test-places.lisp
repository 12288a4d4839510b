;;;; Where tests are defined. No framework records it.

(in-package #:swank-client/code)

(defun test-files (system)
  "The files in which the tests of SYSTEM can be, or those that are loaded if it is NIL."
  (existing-files (if system
                      (loop for name in (test-systems system)
                            append (system-files (string-downcase name)))
                      (append (loaded-files)
                              (loop for name in (or-nil (call-if-loaded "ASDF" "ALREADY-LOADED-SYSTEMS"))
                                    append (system-files name))))))

(defun test-form (test files)
  "=> the first of FILES, preferably with code of its package, with a form with the name TEST, a symbol or a text, that no operator of Lisp
defines, and the (START END) of that form; or NIL"
  (let ((definition (test-definition test))
        (package (and (symbolp test) (home-name test)))
        (elsewhere nil))
    (dolist (name files (and elsewhere (values-list elsewhere)))
      (let* ((file (file-now name))
             (span (and file (search (string test) (file-text file) :test #'char-equal)
                        (definition-span definition file nil))))
        (when span
          ;; a test of the same name can be in another package
          (when (or (null package) (member package (file-packages file) :test #'string=))
            (return (values file span)))
          (unless elsewhere (setf elsewhere (list file span))))))))

(defun test-definition (name)
  "The definition of the test or suite NAME."
  (make-definition :kind :test :name name))

(defun test-definitions (symbol)
  "The definition of the test or suite SYMBOL, as a list; or NIL."
  (and (some (lambda (framework) (find symbol (framework-tests-now framework) :key #'first)) *frameworks*)
       (list (test-definition symbol))))

(defun test-pathname (definition)
  "The file in which the test that is DEFINITION seems to be, or NIL."
  (let ((file (test-form (definition-name definition) (test-files nil))))
    (and file (file-truename file))))
