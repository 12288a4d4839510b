;;;; Tests of text/, which needs no Swank and no SBCL. They run in any image with ASDF and FiveAM: (asdf:test-system "swank-client/text").

(defpackage #:swank-client/text-tests
  (:documentation "Tests of text, in FiveAM, and how tests are defined and run.")
  (:use #:common-lisp)
  (:import-from #:fiveam #:is #:is-false #:is-true #:signals)
  (:import-from #:swank-client/any-names #:accessible-symbol)
  (:import-from #:swank-client/any-lisp #:nil-on #:or-nil #:special-file-p)
  (:import-from #:swank-client/text #:bad-pattern #:parsed-name #:parsed-package #:pattern-searcher #:position-of #:source-text
                                    #:text-searcher)
  (:import-from #:swank-client/forms #:definition-head #:element-spans #:head-names-p #:head-text #:list-spans #:top-level-form-end
                                     #:top-level-form-gap #:top-level-form-start #:top-level-forms)
  (:import-from #:swank-client/analyses #:analysis-forms #:analysis-heads #:analysis-of-file)
  (:export #:define-test #:run-all))

(in-package #:swank-client/text-tests)

(fiveam:def-suite swank-client
  :description "The Lisp side of swank-client.")

(defvar *tests* '()
  "((NAME . DOCUMENTATION) ...) of all tests, latest first.")

(defmacro define-test (name documentation &body body)
  "Define the test NAME. DOCUMENTATION says what is expected, BODY checks it."
  `(progn
     (pushnew '(,name . ,documentation) *tests* :test #'equal)
     (fiveam:test (,name :suite swank-client) ,documentation ,@body)))

(defun failure-explanation (results)
  "The reason why RESULTS are a failure, or NIL."
  (unless (fiveam:results-status results)
    (with-output-to-string (fiveam:*test-dribble*)
      (fiveam:explain! results))))

(defun run-all (&optional names)
  "Run the tests with these NAMES, or all, and print (NAME DOCUMENTATION EXPLANATION) of each on a line. EXPLANATION says why the test failed,
or is NIL. => true if all pass"
  (loop with all-passed = t
        for (name . documentation) in (remove-if-not (lambda (test) (or (null names) (member (first test) names :test #'string-equal)))
                                                     (reverse *tests*))
        for failure-explanation = (failure-explanation (let ((fiveam:*test-dribble* (make-broadcast-stream))) (fiveam:run name)))
        do (when failure-explanation (setf all-passed nil))
           (with-standard-io-syntax
             (let ((*print-readably* nil))
               (format t "~&~s~%" (list (string-downcase name) documentation failure-explanation))))
        finally (return all-passed)))

;;; Names

(define-test parsed-name-reads-as-the-reader-does
    "Case, bars, backslashes, colons and quotes are parsed as by the reader, and nothing is interned."
  (flet ((parsed (text) (multiple-value-list (parsed-name text))))
    (is (equal '("CAR" nil "car") (parsed "car")))
    (is (equal '("CAR" "CL" "car") (parsed "cl:car")))
    (is (equal '("CAR" "CL" "car") (parsed "#'cl::car")))
    (is (equal '("a B" nil "a B") (parsed "|a B|")))
    (is (equal '("X" "KEYWORD" "x") (parsed ":x")))
    (is (equal '("FOO" nil "foo") (parsed "(setf foo)")))
    (is-false (accessible-symbol "NEVER-SEEN-BEFORE" "COMMON-LISP-USER"))
    (parsed "cl-user::never-seen-before")
    (is-false (accessible-symbol "NEVER-SEEN-BEFORE" "COMMON-LISP-USER"))))

(define-test parsed-name-normalizes-as-the-reader-does
    "Characters that are not escaped have the reader's Unicode form, before their case is changed."
  (loop with package = (make-package (gensym "NORMALIZED") :use '())
        for codes in '((#xB5 109) (124 110 #xA0 109 124) (#xB5 124 109 124) (124 #xB5 124 109) (92 #xB5 109) (#xFB01 120) (97 #x301) (#x2126)
                       (#xDF 97) (120 #xFF10))
        for text = (map 'string #'code-char codes)
        for symbol = (let ((*package* package)) (read-from-string text))
        do (is (equal (symbol-name symbol) (parsed-name text)) "~s" codes)
        finally (delete-package package)))

(define-test parsed-package-takes-every-designator
    "Package designators with and without colons are accepted."
  (dolist (text '("my-app" ":my-app" "#:my-app" "MY-APP"))
    (is (equal "MY-APP" (parsed-package text)))))

;;; Forms

(defun text-between (text start end)
  "TEXT from START to END."
  (subseq text start end))

(define-test top-level-forms-begin-with-their-parenthesis
    "The start of a top-level form is its parenthesis, whatever precedes it. Nothing is interned or evaluated."
  (let ((text (format nil "; (comment)~%(a #.(error \"read\"))~%#+(or) (left out)~%  (no-such-package::b)")))
    (is (equal (list (position #\( text :start 10) (search "(no-such" text))
               (mapcar #'top-level-form-start (top-level-forms text))))))

(define-test top-level-forms-have-gaps
    "Each form knows where the reading of the form before it ended, and atoms and quoted lists are forms."
  (let* ((text (format nil "(a)~%#| (b) |# c~% '(d)~%#+(or) (e) (f)"))
         (forms (top-level-forms text)))
    (is (equal '("(a)" "c" "(d)" "(f)")
               (mapcar (lambda (form) (text-between text (top-level-form-start form) (top-level-form-end form))) forms)))
    (is (equal '(0 3) (mapcar #'top-level-form-gap (subseq forms 0 2))))))

(define-test top-level-forms-end-at-broken-text
    "The forms before one that cannot be read are found."
  (multiple-value-bind (forms completep) (top-level-forms "(a) (b")
    (is (= 1 (length forms)))
    (is-false completep))
  (is-true (nth-value 1 (top-level-forms "(a) #+#.(cl:if t '(and) '(or)) (b)"))))

(define-test lists-and-their-elements-are-found
    "The spans of all lists in a form, and of the first elements of a list, comments left out."
  (let ((text "x (defun ; (no)
 (setf a) (b #\\( \"(\") |c (|)"))
    (is (equal '("(setf a)" "(b #\\( \"(\")")
               (loop for (start end depth) in (list-spans text 2 (length text))
                     when (= depth 1) collect (text-between text start end))))
    (is (equal '("defun" "(setf a)")
               (loop for (start end) in (element-spans text 2 (length text)) collect (text-between text start end))))))

(define-test definition-head-names-a-definition
    "The operator and the name of a defining form are compared with names as the reader would."
  (flet ((names-p (text name)
           (head-names-p (nth-value 1 (definition-head text 0 (length text))) name)))
    (is-true (names-p "(defun first-thing ())" 'first-thing))
    (is-true (names-p "(defun (setf FooBar) ())" '(setf foobar)))
    (is-true (names-p "(defstruct (foobar (:conc-name nil)) a)" 'foobar))
    (is-true (names-p "(defpackage #:foobar)" "FOOBAR"))
    (is-false (names-p "(defun |foobar| ())" 'foobar))
    (is-false (names-p "(defun (setf foobar) ())" 'foobar))))

(define-test position-of-counts-from-one
    "Lines and columns are counted from 1, in characters."
  (is (equal '(2 3) (multiple-value-list (position-of (format nil "ab~%cdef") 5)))))

;;; Searches

(defun found-at (searcher text)
  "The position at which SEARCHER finds something in TEXT, or NIL."
  (let ((text (coerce text '(simple-array character (*)))))
    (funcall searcher text 0 (length text))))

(define-test pattern-searcher-finds-the-first-match
    "A regular expression is found at its first position, in either case."
  (loop for (pattern text position) in '(("a" "xxA" 2) ("^a" "xa" nil) ("a$" "ba" 1) ("a.*b" "xxaccb" 2) ("(foo|bar)+" "xfoobar" 1)
                                         ("a{2,3}" "baa" 1) ("a{2}" "ba" nil) ("a{2,}b" "caaab" 1) ("[^a-c]" "abCd" 3) ("[\\d-]" "a-" 1)
                                         ("\\bfoo\\b" "afoo foo" 5) ("\\Boo" "oo foo" 4) ("" "x" 0) ("[]a]" "]" 0) ("x\\*" "ax*" 1)
                                         ("a??b" "ab" 0) ("\\w+\\s\\S" "--a b" 2))
        do (is (eql position (found-at (pattern-searcher pattern) text)) "~a in ~a" pattern text)))

(define-test pattern-searcher-takes-linear-time
    "Nested repetitions, which other matchers try in every combination, are followed together."
  (is (null (found-at (pattern-searcher "(a*)*(a|aa)*b") (make-string 3000 :initial-element #\a))))
  (is (eql 1 (found-at (pattern-searcher "(){100}{100}{100}{100}{100}{100}x") "ax"))))

(define-test pattern-searcher-refuses-bad-patterns
    "A text that is no regular expression is refused with a reason."
  (dolist (pattern '("(a" "a)" "*a" "[a" "a{2" "a{x}" "\\q" "(?=a)" "[z-a]" "a{101}" "a\\" "((((a{90}){90}){90}))"))
    (signals bad-pattern (pattern-searcher pattern))))

(define-test text-searcher-finds-a-text
    "A text without special characters is found in either case."
  (is (eql 2 (found-at (text-searcher "Ab*") "xxaB*")))
  (is (eql 3 (found-at (text-searcher "b") "aaab")))
  (is (null (found-at (text-searcher "aab") "aa"))))

;;; Files, and what each Lisp spells its own way

(defmacro with-text-file ((file octets) &body body)
  "Run BODY with FILE, a pathname, that consists of OCTETS."
  `(call-with-text-file (lambda (,file) ,@body) ,octets))

(defun call-with-text-file (function octets)
  "Call FUNCTION with the pathname of a file that consists of OCTETS."
  (uiop:with-temporary-file (:pathname file)
    (with-open-file (stream file :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
      (write-sequence octets stream))
    (funcall function file)))

(define-test source-text-guesses-the-format
    "A text is read as UTF-8, or else as Latin-1."
  (with-text-file (file #(40 97 195 164 41))
    (is (equal (list (format nil "(a~c)" (code-char 228)) :utf-8) (multiple-value-list (source-text file)))))
  (with-text-file (file #(40 97 228 32 98 32 99 41))
    (is (equal (list (format nil "(a~c b c)" (code-char 228)) :latin-1) (multiple-value-list (source-text file))))))

(define-test analyses-are-kept-while-the-file-is-the-same
    "The forms and heads of a file are found once, and anew after it has changed."
  (with-text-file (file (map 'vector #'char-code "(defun a ()) (defvar *b*)"))
    (let ((analysis (analysis-of-file file)))
      (is (= 2 (length (analysis-forms analysis))))
      (is (equal '("a" "*b*") (map 'list #'head-text (analysis-heads analysis))))
      (with-open-file (stream file :direction :output :if-exists :append)
        (write-string " (defclass c () ())" stream))
      (is (= 3 (length (analysis-forms (analysis-of-file file))))))))

(define-test special-files-are-pipes-and-devices
    "Pipes and devices are special; files, folders and missing files are not."
  (is-true (special-file-p "/dev/null"))
  (is (notany #'special-file-p '("/dev/" "/no/such/file" ""))))

(define-test or-nil-and-nil-on-answer-nil
    "NIL-ON handles its condition only, and OR-NIL each failure."
  (is (null (nil-on type-error (car (opaque-identity 1)))))
  (signals simple-error (nil-on type-error (error "no answer")))
  (is (null (or-nil (error "failed"))))
  (is (eql 1 (or-nil 1))))

(defun opaque-identity (object)
  "OBJECT, of any type to the compiler."
  object)
