;;;; Tests of printing.

(in-package #:swank-client/tests)

(define-test on-one-line-replaces-line-breaks
    "Each line break and its indentation become one space."
  (is (equal "a b c" (on-one-line (format nil "a~%    b~%c"))))
  (is (equal "a" (on-one-line "a"))))

(define-test line-text-is-bounded
    "Long, circular and very deep values are cut."
  (is (> 60 (length (line-text (make-string 1000 :initial-element #\x) 20))))
  (let ((circular (list 1)))
    (setf (rest circular) circular)
    (is (> 120 (length (line-text circular 100)))))
  (let ((deep '()))
    (loop repeat 100000 do (setf deep (list deep)))
    (is (> 120 (length (line-text deep 100))))))

(define-test value-text-says-how-much-is-cut
    "The second value says how many elements or characters are shown; the text says how many bits a number has."
  (flet ((cut-text (value limit)
           (multiple-value-list (value-text value limit))))
    (is (equal '("(1 2 ...)" ((:length) 2 3)) (let ((*value-length* 2)) (cut-text '(1 2 3) 100))))
    (is (equal '("((1 2 ...))" ((:length) nil nil)) (let ((*value-length* 2)) (cut-text '((1 2 3)) 100))))
    (is (equal '("#*0101" nil) (let ((*value-length* 2)) (cut-text #*0101 100))))
    (is (equal '("\"ab\"..." ((:characters) 2 4)) (cut-text "abcd" 2)))
    (is (equal '("(:ON..." ((:characters) 4 nil)) (cut-text '(:one) 4))))
  (is (search "too long to print: 200001 bits" (value-text (ash 1 200000) 100))))

(define-condition unreportable (error) ()
  (:documentation "A condition that cannot be printed.")
  (:report (lambda (condition stream)
             (declare (ignore condition stream))
             (error "no report"))))

(define-test report-text-never-fails
    "If a report fails, the text says so."
  (is (equal "no" (report-text (make-condition 'simple-error :format-control "no"))))
  (is (search "error printing a" (report-text (make-condition 'unreportable)))))

(define-test elided-by-finds-what-the-printer-left-out
    "`...` before a parenthesis and `#` alone say that elements and levels are left out, unless they are in strings, names or characters."
  (loop for (text . reasons) in '(("(1 2 ...)" :length) ("(1 (2 ...) #)" :length :level) ("#" :level) ("#(# 1)" :level)
                                  ("(\"...) #\" |...| #\\# #'f #:g)") ("(1 . #)" :level) ("(a...)") ("#<thing>") ("(...)" :length))
        do (is (equal reasons (elided-by text)) "~a" text)))

(define-test printed-values-counts-all-values
    "The first values are printed, and all are counted."
  (is (equal '(:values ("1" ":A") :cut nil :count 2) (printed-values '(1 :a) 100)))
  (is (= 60 (getf (printed-values (make-list 60) 100) :count)))
  (is (= 50 (length (getf (printed-values (make-list 60) 100) :values)))))

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
