;;;; Tests of printing, of messages on the wire, and of what is done about failures.

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

;;; Tests of messages on the wire.

(define-test bytes-of-counts-utf-8-and-escapes
    "The size of a string is that of its escaped UTF-8; the upper bound is four bytes per character."
  (is (= 3 (bytes-of "abc" t)))
  (is (= 4 (bytes-of "\"\\" t)))
  (is (= 2 (bytes-of (string (code-char 228)) t)))
  (is (= 4 (bytes-of (string (code-char #x1F600)) t)))
  (is (= 12 (bytes-of "abc" nil))))

(defclass unprintable () ()
  (:documentation "Objects that cannot be printed."))

(defmethod print-object ((object unprintable) stream)
  (declare (ignore stream))
  (error "not printable"))

(define-test fits-p-gives-the-reason
    "Data that fits is distinguished from data that is too large or cannot be printed."
  (is (eq t (fits-p '(:ok (1 2.5 "text" :key #(1 2))))))
  (is (eq :too-large (fits-p (make-string 17000000 :initial-element #\x))))
  (is (eq :too-large (let ((circular (list 1))) (setf (rest circular) circular) circular
                       (fits-p circular))))
  (is (eq :unprintable (fits-p (list (make-instance 'unprintable))))))

(define-test shortened-keeps-both-ends
    "A long string keeps its beginning and its end."
  (let ((short (shortened (concatenate 'string "a" (make-string 30000 :initial-element #\-) "z"))))
    (is (> 21000 (length short)))
    (is (char= #\a (char short 0)))
    (is (char= #\z (char short (1- (length short)))))
    (is (search "10002 characters left out" short)))
  (is (equal '(1 "x" . :y) (shortened '(1 "x" . :y)))))

(define-test fitting-event-refuses-results
    "A reply that does not fit becomes a refusal with the reason and the same id; other events are unchanged."
  (is (equal '(:return nil (:ok 1) 7) (fitting-event '(:return nil (:ok 1) 7))))
  (is (equal '(:return nil (:refused :too-large) 7)
             (fitting-event (list :return nil (list :ok (make-string 17000000 :initial-element #\x)) 7))))
  (is (equal '(:write-string "x") (fitting-event '(:write-string "x")))))

(define-test last-newline-of-every-string
    "The last newline is found in every kind of string, within the bounds."
  (dolist (string (list (format nil "a~%b~%c") (coerce (format nil "a~%b~%c") 'simple-base-string)
                        (make-array 5 :element-type 'character :fill-pointer t :initial-contents (format nil "a~%b~%c"))))
    (is (= 3 (last-newline string 0 5)))
    (is (= 1 (last-newline string 0 3)))
    (is-false (last-newline string 4 5))))

;;; Tests of what is done about failures.

(defun failing (list)
  "Fail if the first element of LIST is no number."
  (1+ (1+ (first list))))

(define-test recording-faults-records-errors
    "An error of the library's code gives NIL, and is recorded with its message and the functions that ran; anything else is not recorded."
  (let ((*faults* '()))
    (is (= 3 (recording-faults (failing '(1)))))
    (is (null (recent-faults)))
    (is (null (recording-faults (failing '(nil)))))
    (destructuring-bind ((number time type text functions)) (recent-faults)
      (is (= 1 number))
      (is (<= (- (get-universal-time) 60) time (get-universal-time)))
      (is (string= "TYPE-ERROR" type))
      (is (string= "The value NIL is not of type NUMBER." text))
      (is (string= "failing" (first functions))))))

(define-test or-nil-and-nil-on-record-nothing
    "Failures of the user's code, and answers that are errors, are not recorded; other errors than the answer are not handled."
  (let ((*faults* '()))
    (is (null (or-nil (error 'unreportable))))
    (is (null (nil-on type-error (failing '(nil)))))
    (signals simple-error (nil-on type-error (error "no answer")))
    (is (null (recent-faults)))))

(define-test faults-are-bounded-and-call-no-printer
    "A hundred faults are kept, numbered, with short texts that need no printing method of the user, and have none of its strings."
  (let ((*faults* '()))
    (recording-faults (error 'unreportable))
    (recording-faults (error "~a ~s ~300d" (make-condition 'unreportable) "secret" 1))
    (is (string= "" (fourth (first (recent-faults)))))
    (is (search "UNREPORTABLE" (fourth (second (recent-faults)))))
    (is (null (search "secret" (fourth (second (recent-faults))))))
    (is (= 300 (length (fourth (second (recent-faults))))))
    (recording-faults (labels ((recur (n) (1+ (recur (1+ n))))) (recur 0)))
    (is (= 2 (length (recent-faults))))
    (loop repeat 120 do (recording-faults (error "again")))
    (is (equal '(23 122) (list (first (first (recent-faults))) (first (first (last (recent-faults)))))))))
