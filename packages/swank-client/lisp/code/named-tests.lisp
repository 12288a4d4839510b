;;;; Which tests a name means: those of a system, a test or suite, or those of a package.

(in-package #:swank-client/code)

(defun frameworks-named (id)
  "The framework ID, as a list, or all if ID is NIL."
  (if id (remove id *frameworks* :key #'framework-id :test-not #'string=) *frameworks*))

(defun tests-named (name tests)
  "Those TESTS, ((NAME PACKAGE . TEST) ...), that NAME means: the one in the current package if its package is not given, else all."
  (multiple-value-bind (wanted package-name) (parsed-name name)
    (let* ((package (and package-name (or (find-designated-package package-name *package*) (live-package package-name))))
           (found (remove-if-not (lambda (test)
                                   (and (string-equal wanted (string (first test)))
                                        (or (null package-name) (and package (eq package (second test))))))
                                 tests))
           (here (or (find (accessible-symbol wanted *package*) found :key #'first)
                     (find *package* found :key #'second))))
      (if here (list here) found))))

(defun tests-text (tests)
  "The names of TESTS, ((NAME PACKAGE . TEST) ...), as text."
  (format nil "~{~a~^, ~}" (mapcar (lambda (test) (test-name-text (first test))) tests)))

(defun named-runner (name frameworks)
  "=> a function that runs the tests and suites NAME of the first of FRAMEWORKS that has some, and a text that names them; or NIL"
  (loop for framework in frameworks
        for tests = (tests-named name (framework-tests-now framework))
        when tests
          return (let ((runner (framework-runner framework)))
                   (values (lambda () (funcall runner (mapcar #'cddr tests))) (tests-text tests)))))

(defun package-runner (name frameworks)
  "=> a function that runs the tests in the package NAME of the first of FRAMEWORKS that has some, and a text that names it; or NIL"
  (let ((package (find-designated-package name)))
    (when package
      (loop for framework in frameworks
            for runner = (or-nil (funcall (framework-package-runner framework) package))
            when runner return (values runner (format nil "Package ~a" (package-name package)))))))

(defun known-system (name)
  "The system NAME, if it is written without a package and ASDF finds it, or NIL."
  (and (plain-system-name-p name)
       (or-nil (call-without-downloads (lambda () (find-system (string-downcase name)))))))

(defun similar-tests (name)
  "Names of tests and systems that are similar to NAME."
  (let* ((wanted (parsed-name name))
         (all (loop for framework in *frameworks* append (framework-tests-now framework)))
         (similar (remove-if-not (lambda (test)
                                   (let ((plain (string-upcase (first test))))
                                     (or (search wanted plain) (slip-p wanted plain))))
                                 all))
         (texts (remove-duplicates (mapcar (lambda (test) (test-name-text (first test))) similar) :test #'string= :from-end t))
         (found (append texts (similar-systems (string-downcase name)))))
    (subseq found 0 (min +suggestions+ (length found)))))
