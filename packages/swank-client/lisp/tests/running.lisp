;;;; Tests of running tests, of loading systems, and of looking at the heap.

(in-package #:swank-client/tests)

(define-test tests-named-prefers-the-current-package
    "A name without a package means the test in the current package if there is one, and otherwise all tests of that name."
  (let* ((*package* (find-package "SWANK-CLIENT/TESTS"))
         (here (list* 'greeting *package* :here))
         (there (list* (intern "GREETING" "COMMON-LISP-USER") (find-package "COMMON-LISP-USER") :there))
         (text (list* "Greeting" (find-package "COMMON-LISP-USER") :text)))
    (is (equal '(:here) (mapcar #'cddr (tests-named "greeting" (list there here)))))
    (is (equal '(:there :text) (mapcar #'cddr (tests-named "greeting" (list there text)))))
    (is (equal '(:text) (mapcar #'cddr (tests-named "GREETING" (list text)))))
    (is (null (tests-named "greetings" (list here there text))))))

(define-test fiveam-comparisons-have-their-values
    "The values in FiveAM's text about a comparison are found; another text has none."
  (let ((reason (format nil "~%(F 1)~%~% evaluated to ~%~%2~%~% which is not ~%~%=~%~% to ~%~%3~%~%.~%")))
    (is (equal '("3" "2") (multiple-value-list (compared-values reason))))
    (is (null (compared-values "It failed.")))
    (is (null (compared-values "")))))

(define-test rt-reports-have-their-values
    "The values that a test returned are found in the text of sb-rt."
  (is (equal "3 1" (printed-actual (format nil "Test F failed~%Form: (F)~%Expected value: 2~%Actual values: 3 1.~%"))))
  (is (null (printed-actual ""))))

(define-test reasons-without-text-are-left-out
    "A reason is a text that says something."
  (is (equal "It failed." (reason-text (format nil "~% It failed.~%"))))
  (is (null (reason-text (format nil " ~%"))))
  (is (null (reason-text '(1 2)))))

(define-test call-collecting-encapsulates-only-in-its-thread
    "The results of tests count for the run of the thread that runs them, and the functions of frameworks are as before afterwards."
  (let ((run (make-test-run :stop nil))
        (other nil)
        (fiveam:*test-dribble* (make-broadcast-stream)))
    (call-collecting run
                     (lambda ()
                       (fiveam:run 'reasons-without-text-are-left-out)
                       (setf other (sb-thread:join-thread
                                    (sb-thread:make-thread (lambda ()
                                                             (let ((fiveam:*test-dribble* (make-broadcast-stream)))
                                                               (length (fiveam:run 'rt-reports-have-their-values)))))))))
    (fiveam:run 'rt-reports-have-their-values)
    (is (= 2 other))
    (is (= 3 (test-run-passed run)))
    (is (equal '("FiveAM") (test-run-frameworks run)))))

(define-test plain-names-of-systems
    "The name of a system can be written like a symbol."
  (is (equal '("shop" "shop" "Shop") (mapcar #'plain-name '("#:SHOP" ":Shop" "Shop"))))
  (is-true (plain-system-name-p "shop/tests"))
  (dolist (name '("" "a*" "a b" "a:b" "(a)" "a\\b"))
    (is-false (plain-system-name-p name) "~s" name)))

(define-test notes-of-a-file-are-forgotten-when-it-is-compiled-again
    "Only the notes of the last compilation of a file count."
  (let* ((file (sb-ext:native-namestring (asdf:system-relative-pathname "swank-client" "tests/running.lisp")))
         (loading (make-loading :notes (list (make-note :severity :warning :file file)
                                             (make-note :severity :warning :file "/no/such/file.lisp")))))
    (forget-notes loading (pathname file))
    (is (equal '("/no/such/file.lisp") (mapcar #'noted-file (loading-notes loading))))))

(define-test system-facts-count-files
    "Of a system, the files that are loaded are counted, and the others named."
  (let ((loading (make-loading :planned (list (cons "a" #p"/a/1.lisp") (cons "a" #p"/a/2.lisp") (cons "b" #p"/b/1.lisp"))
                               :loaded (list #p"/b/1.lisp" #p"/a/1.lisp") :complete '("b"))))
    (is (equal '("a" 1 2 nil ("/a/2.lisp")) (system-facts loading "a")))
    (is (equal '("b" 1 1 t nil) (system-facts loading "b")))))

;;; load-changes

(define-test reason-to-reload-of-forms
    "Changed structures, constants and syntax are not loaded alone, nor is a package that moves forms; other forms are."
  (flet ((reason (text &key definition (moved 0))
           (reason-to-reload (make-change :state :changed :file (file-of-text text) :number 0 :file-text text :definition definition)
                             moved)))
    (is (eq :structure (reason "(defstruct a b)" :definition t)))
    (is (eq :constant (reason "(defconstant +a+ 1)" :definition t)))
    (is (eq :reader (reason "(named-readtables:in-readtable :a)")))
    (is (eq :package (reason "(in-package :a)" :moved 1)))
    (is (null (reason "(in-package :a)")))
    (is (null (reason "(defun a ())" :definition t)))
    (is (null (reason "(foo)")))))

(define-test texts-with-packages-follow-in-package
    "Each form has the package in which it is read."
  (let ((file (file-of-text (format nil "(a)~%(in-package :b)~%(c)"))))
    (is (equal '(("(a)") ("(in-package :b)" . "B") ("(c)" . "B"))
               (texts-with-packages (file-text file) (file-forms file))))))

(define-test text-now-loaded-has-what-the-image-has
    "Loaded forms have their new text; the others have their old one, or say that it is not known, and keep their numbers."
  (let ((file (file-of-text (format nil "(defun a () 2)~%(defun b () 2)~%(defun c () 2)~%(defun d () 2)"))))
    (flet ((form-load (number outcome &rest more)
             (make-form-load :change (apply #'make-change :number number :file file more) :outcome outcome)))
      (is (string= (format nil "(defun a () 2)~%(defun b () 1)~%()~%(defun d ...)")
                   (text-now-loaded file (list (form-load 0 :loaded :state :changed :text "(defun a () 1)")
                                               (form-load 1 :failed :state :changed :text "(defun b () 1)")
                                               (form-load 2 :pending :state :new)
                                               (form-load 3 :failed :state :maybe-changed :file-text "(defun d () 2)"))))))))

;;; Tests of looking at the heap.

(defstruct heap-item "An object to count." content)

(defvar *heap-items* '() "Objects to count and to find.")

(defun heap-item-entry ()
  "(KEY COUNT BYTES) of the items in the heap."
  (find (find-class 'heap-item) (count-heap 60) :key (lambda (entry) (key-type (first entry)))))

(define-test a-tree-of-calls-keeps-what-has-the-most-samples
    "Of a tree of calls the nodes with the most samples are returned, each after its caller, and the others are counted."
  (let ((tally (make-tally)))
    (flet ((sample (&rest names) (count-path tally (mapcar #'list names))))
      (loop repeat 3 do (sample 'a 'b 'c))
      (loop repeat 2 do (sample 'a 'd))
      (sample 'a)
      (loop repeat 9 do (sample 'e))
      (is (equal '(((0 e 9 9) (0 a 6 1) (1 b 3 0) (2 c 3 3) (1 d 2 2)) 0)
                 (stack-rows (tally-root tally) #'identity)))
      (dotimes (i 600) (sample 'f i))
      (destructuring-bind (rows left) (stack-rows (tally-root tally) #'identity)
        (is (equal '(0 f 600 0) (first rows)))
        (is (= 500 (length rows)))
        (is (= 106 left))
        (is (= 5 (count-if #'symbolp (remove 'f rows :key #'second) :key #'second)))))))

(define-test count-heap-counts-instances
    "A walk counts each instance with its bytes, and finds them by the key."
  (setf *heap-items* (loop repeat 1000 collect (make-heap-item)))
  (sb-ext:gc :full t)
  (destructuring-bind (key count bytes) (heap-item-entry)
    (is (>= count 1000))
    (is (= bytes (* count (sb-ext:primitive-object-size (first *heap-items*)))))
    (let ((found (find-in-heap (list key) 100 5 60)))
      (is (= 5 (length found)))
      (is (every #'heap-item-p found))))
  (setf *heap-items* '()))

(define-test a-walk-ends-at-its-limit
    "A walk whose time is over says that it is not complete."
  (is-false (nth-value 1 (count-heap 0)))
  (is-true (nth-value 1 (count-heap 60))))

(define-test a-walk-signals-its-error-afterwards
    "An error of a walk of memory is signalled when garbage can be collected again."
  (let ((collecting nil))
    (is (equal "no memory"
               (handler-case
                   (handler-bind ((error (lambda (error)
                                           (declare (ignore error))
                                           (setf collecting (not sb-kernel:*gc-inhibit*)))))
                     (call-walking (lambda () (error "no memory"))))
                 (error (error) (princ-to-string error)))))
    (is-true collecting)))

(define-test a-walk-waits-for-no-lock
    "A walk that needs a lock which another thread holds is called again when it is free, and until then garbage can be collected."
  (let ((lock (sb-thread:make-mutex)) (walks 0))
    (sb-thread:grab-mutex lock)
    (let ((walker (sb-thread:make-thread (lambda ()
                                           (call-walking (lambda ()
                                                           (incf walks)
                                                           (sb-thread:with-mutex (lock) :walked)))))))
      (loop until (< 1 walks) do (sleep 0.01))
      (sb-ext:gc)
      (sb-thread:release-mutex lock)
      (is (eq :walked (sb-thread:join-thread walker :timeout 20 :default nil))))))

(define-test a-walk-stops-in-no-debugger
    "*BREAK-ON-SIGNALS* does not stop a walk, and exhaustion ends it as an error does."
  (let ((*break-on-signals* t))
    (is (eq :after (handler-case (call-walking (lambda () (handler-case (error "inside") (error () :after))))
                     (condition (condition) condition)))))
  (labels ((deep (n) (1+ (deep (1+ n)))))
    (is (typep (handler-case (call-walking (lambda () (deep 0)))
                 (storage-condition (condition) condition))
               'storage-condition))))

(define-test a-walk-is-tried-again
    "A walk that an error of SBCL itself ended is called again, and gives its values."
  (let ((walks 0))
    (is (equal '(2 :all)
               (multiple-value-list (call-walking (lambda ()
                                                    (when (= 1 (incf walks)) (sb-int:bug "memory is being changed"))
                                                    (values walks :all))))))))

(define-test types-are-matched-by-class
    "An object's class decides whether it is of a type that others are combined to."
  (let ((item (find-class 'heap-item)))
    (is-true (of-type-p item 'structure-object))
    (is-true (of-type-p item '(and structure-object (not hash-table))))
    (is-true (of-type-p 'simple-vector '(or vector cons)))
    (is-true (of-type-p 'closure '(and function (not generic-function))))
    (is-false (of-type-p item '(not structure-object)))
    (is-false (of-type-p nil 'structure-object))))

(define-test by-value-p-tells-what-classes-cannot
    "Types that classes and element types decide are told from those that need the objects' values."
  (dolist (type '(vector (vector double-float) (simple-array character (*)) (array t *) string (or cons hash-table) (not function) atom))
    (is-false (by-value-p type)))
  (dolist (type '(keyword boolean (simple-vector 3) (string 5) (vector t 2) (cons integer) (integer 0 5) unsigned-byte (member nil)
                  (or cons (eql *)) (and symbol (not keyword))))
    (is-true (by-value-p type))))

(define-test growth-is-the-difference-by-type
    "Types that are as before are left out, and those that are gone have negative figures."
  (let ((changes (growth-of '((a 3 30) (b 1 10) (d 5 50)) '((a 1 10) (b 1 10) (c 2 64)))))
    (is (equal '((d 5 50 0 0) (a 2 20 1 10) (c -2 -64 2 64)) changes))
    (is (equal '((d 5 50 0 0) (c -2 -64 2 64)) (shown-growth changes 2)))))

(define-test conses-of-a-list-are-one-step
    "The path to an element of a list names its index; the path to a tail, the number of conses before it."
  (setf *heap-items* (list 1 2 (list 3)))
  (flet ((last-link (target)
           (let ((search (search-roots-for target)))
             (first (last (merged-links (links-of (path-of search))))))))
    (let ((link (last-link (third *heap-items*))))
      (is (equal '(:nth 2) (list (link-kind link) (link-index link)))))
    (let ((link (last-link (cdr *heap-items*))))
      (is (equal '(:tail 1) (list (link-kind link) (link-index link))))))
  (setf *heap-items* '()))

(define-test a-search-follows-no-weak-reference
    "What only a weak pointer or a weak table refers to is not found."
  (let ((object (list 1)) (table (make-hash-table :weakness :value)))
    (setf *heap-items* (list (sb-ext:make-weak-pointer object) table)
          (gethash 1 table) object)
    (is (eq :none (nth-value 1 (search-roots-for object)))))
  (setf *heap-items* '()))
