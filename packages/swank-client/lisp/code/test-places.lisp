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
  "=> the first of FILES with a form with the name TEST that no operator of Lisp defines, and the (START END) of that form; or NIL"
  (loop with definition = (make-definition :kind :test :name test)
        for name in files
        for file = (file-now name)
        for span = (and file (search (symbol-name test) (file-text file) :test #'char-equal)
                        (definition-span definition file nil))
        when span return (values file span)))

(defun test-definitions (symbol)
  "The definition of the test or suite SYMBOL, as a list; or NIL."
  (and (or (member symbol (fiveam-tests)) (member symbol (rt-entries) :key #'rt-name))
       (list (make-definition :kind :test :name symbol))))

(defun test-pathname (definition)
  "The file in which the test that is DEFINITION seems to be, or NIL."
  (let ((file (test-form (definition-name definition) (test-files nil))))
    (and file (file-truename file))))
