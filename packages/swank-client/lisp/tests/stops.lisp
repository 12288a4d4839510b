;;;; Tests of descriptions of stops.

(in-package #:swank-client/tests)

(define-condition out-of-stock (error) ()
  (:documentation "A condition of a user.")
  (:report "Nothing is left."))

(define-test shown-class-is-the-most-specific-useful-one
    "A condition of the user is shown by its own class, one of SBCL by the most specific standard class."
  (is (equal "SWANK-CLIENT/TESTS::OUT-OF-STOCK" (class-name-text (shown-class (make-condition 'out-of-stock)))))
  (is (equal "CONTROL-ERROR" (class-name-text (shown-class (make-condition 'sb-int:simple-control-error)))))
  (is (equal "Nothing is left." (message-text (make-condition 'out-of-stock)))))

(define-test frame-kinds-are-system-user-and-toplevel
    "Frames above the user's first frame are Lisp's, and those below the start of an evaluation, a thread or a test are not the user's."
  (let ((work (intern "WORK" "COMMON-LISP-USER"))
        (run (intern "RUN" "SB-THREAD"))
        (body (intern "BODY" "SB-UNIX")))
    (is (equal '(:system :user :user :toplevel :toplevel)
               (frame-kinds (list 'error work work 'swank-client/stops:call-user 'other)
                            (make-condition 'simple-error))))
    (is (equal '(:user :toplevel :toplevel :toplevel)
               (frame-kinds (list work run `(flet ,body :in ,run) "foreign function: call_into_lisp_")
                            (make-condition 'simple-error))))
    (is (equal '(:user :user :toplevel :toplevel :toplevel)
               (frame-kinds (list work `(labels work :in "tests.fasl") `(lambda () :in fiveam:run) 'fiveam:run
                                  'swank-client/stops:call-framework)
                            (make-condition 'simple-error))))
    (is (equal '(:user :system :user :toplevel :toplevel :toplevel :toplevel)
               (frame-kinds (list work '(lambda () :in swank-client/stops:call-own) work `(method fiveam:run (t))
                                  `(flet call-next-method :in "tests.fasl") 'fiveam:run 'swank-client/stops:call-framework)
                            (make-condition 'simple-error))))))

(define-test argument-range-comes-from-the-function
    "The number of arguments that a restart takes is found from its function."
  (restart-bind ((none (lambda () 0))
                 (some (lambda (a &optional b) (list a b)))
                 (any (lambda (&rest all) all))
                 (prompting (lambda (&optional a) a) :interactive-function (lambda () (list 1))))
    (flet ((range (name) (multiple-value-list (argument-range (find-restart name)))))
      (is (equal '(0 0) (range 'none)))
      (is (equal '(1 2) (range 'some)))
      (is (equal '(0 nil) (range 'any)))
      (is (equal '(1 1) (range 'prompting))))))

(define-test restart-texts-are-one-line-each
    "Each restart has its name and its report, even if the report cannot be printed."
  (restart-case
      (is (equal '(("PLAIN" "On two lines" 0 0) ("FAILING" "<<error printing restart>>" 0 0))
                 (restart-texts (list (find-restart 'plain) (find-restart 'failing)))))
    (plain () :report (lambda (stream) (format stream "On~%  two lines")))
    (failing () :report (lambda (stream) (declare (ignore stream)) (error "no")))))

(define-test source-forms-reads-all
    "All forms of a text are read; an incomplete form is an error."
  (is (equal '(1 (2 3)) (source-forms "1 (2 3)")))
  (signals error (source-forms "(1"))
  (is (= 3 (value-of-source "(+ 1 2)")))
  (signals error (value-of-source "1 2")))

(define-test named-arguments-follow-the-lambda-list
    "Arguments get the names in the lambda list."
  (is (equal '((a . 1) (b . 2) (rest . (:c 3)) (c . 3))
             (named-arguments '(a &optional (b 9) &rest rest &key c) '(1 2 :c 3))))
  (is (equal '((a . 1)) (named-arguments '(a &optional b) '(1)))))

(define-test first-form-text-ends-with-the-form
    "Only the first form of a text is returned, or the whole text if it cannot be read."
  (is (equal "(a b)" (first-form-text (format nil " (a b)~%(c)"))))
  (is (equal "(a" (first-form-text "(a"))))

(define-test undefined-thing-names-the-missing-definition
    "A warning has a type, and the kind and name of the missing definition."
  (let ((warnings '()))
    (handler-bind ((warning (lambda (warning) (push warning warnings) (muffle-warning warning))))
      (let ((*error-output* (make-broadcast-stream)))
        (funcall (compile nil '(lambda () (if nil (never-defined-anywhere)))))
        (compile nil '(lambda () (never-defined-anywhere)))))
    (let ((warning (find "undefined" warnings :test #'search :key #'princ-to-string)))
      (is (equal "STYLE-WARNING" (warning-type warning)))
      (is (equal '(:function never-defined-anywhere) (undefined-thing warning (princ-to-string warning)))))))

(define-test special-files-are-pipes-and-devices
    "Pipes and devices are special; files, folders and missing files are not."
  (is (special-file-p "/dev/null"))
  (is (notany #'special-file-p (list (sb-ext:native-namestring sb-ext:*runtime-pathname*) "/dev/" "/no/such/file" ""))))
