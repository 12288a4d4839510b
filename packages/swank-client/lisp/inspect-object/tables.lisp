;;;; Views of hash tables, symbols and packages.

(in-package #:swank-client/inspect-object)

;;; Hash tables

(defun test-text (table)
  "The test of TABLE as text."
  (line-text (hash-table-test table) 200))

(defun found-by-equal-p (key table)
  "True if an object that is made like KEY finds its entry in TABLE."
  (typecase key
    ((or symbol fixnum character) t)
    (number (not (eq 'eq (hash-table-test table))))
    (t (member (hash-table-test table) '(equal equalp)))))

(defun entry-access (key table)
  "The access to the value of KEY in TABLE."
  (let ((literal (and (found-by-equal-p key table) (literal-text key)))
        (number (number-of key)))
    (lambda (object) (format nil "(gethash ~a ~a)" (or literal (reference-text number)) object))))

(defun table-range (table)
  "A function that returns the entries of TABLE from START to END. It takes no lock of the table, which a stopped thread may hold."
  (lambda (start end)
    (let ((index -1) (found '()))
      (with-hash-table-iterator (next table)
        (loop while (< (1+ index) end)
              do (multiple-value-bind (more key value) (next)
                   (unless more (return))
                   (when (>= (incf index) start) (push (cons key value) found)))))
      (loop for (key . value) in (nreverse found)
            collect (part (line-text-in-time key 200) value (entry-access key table)
                          :key (if (or (simple-value-p key) (symbolp key)) '() (list key)))))))

(defun table-view (table)
  "The view of TABLE, a hash table."
  (let ((weakness (sb-ext:hash-table-weakness table)))
    (make-view :kind (format nil "hash table of ~d" (hash-table-count table))
               :facts (remove nil (list (fact "test" "~a" (test-text table))
                                        (fact "count" "~d" (hash-table-count table))
                                        (fact "size" "~d" (hash-table-size table))
                                        (fact "weakness" (and weakness "~(~a~)") weakness)
                                        (fact "synchronized" (and (sb-ext:hash-table-synchronized-p table) "yes"))))
               :count (hash-table-count table)
               :range (table-range table))))

;;; Symbols

(defun symbol-view (symbol)
  "The view of SYMBOL."
  (let ((class (find-class symbol nil)))
    (flet ((of (name present value control) (and present (part name value control))))
      (parts-view (if (keywordp symbol) "keyword" "symbol")
                  (list (fact "name" "~s" (symbol-name symbol))
                        (fact "package" "~:[none~;~:*~a~]" (home-name symbol))
                        (fact "variable" (and (boundp symbol) (not (keywordp symbol)) "~:[~;constant~]bound") (constantp symbol)))
                  (remove nil (list (of "value" (and (boundp symbol) (not (keywordp symbol))) (and (boundp symbol) (symbol-value symbol)) "(symbol-value ~a)")
                                    (of "function" (fboundp symbol) (and (fboundp symbol) (fdefinition symbol)) "(fdefinition ~a)")
                                    (of "class" class class "(find-class ~a)")
                                    (of "property list" (symbol-plist symbol) (symbol-plist symbol) "(symbol-plist ~a)")
                                    (of "package" (symbol-package symbol) (symbol-package symbol) "(symbol-package ~a)")))))))

;;; Packages

(defun external-symbols (package)
  "The external symbols of PACKAGE, sorted."
  (let ((symbols '()))
    (do-external-symbols (symbol package) (push symbol symbols))
    (sort symbols #'string<)))

(defun internal-count (package)
  "The number of symbols whose home PACKAGE is, and that are not external."
  (let ((count 0))
    (do-symbols (symbol package)
      (when (and (eq package (symbol-package symbol))
                 (not (eq :external (nth-value 1 (accessible-symbol (symbol-name symbol) package)))))
        (incf count)))
    count))

(defun names-fact (label packages)
  "The fact that lists the names of PACKAGES, or NIL if there are none."
  (fact label (and packages "~{~a~^ ~}") (mapcar #'package-name packages)))

(defun package-view (package)
  "The view of PACKAGE: its external symbols."
  (if (null (package-name package))
      (parts-view "deleted package" '() '())
      (let ((symbols (external-symbols package)))
        (parts-view "package"
                    (list (fact "nicknames" (and (package-nicknames package) "~{~a~^ ~}") (package-nicknames package))
                          (names-fact "uses" (package-use-list package))
                          (names-fact "used by" (package-used-by-list package))
                          (fact "external symbols" "~d" (length symbols))
                          (fact "internal symbols" "~d" (internal-count package))
                          (fact "locked" (and (sb-ext:package-locked-p package) "yes")))
                    (loop for symbol in symbols
                          collect (part (symbol-name symbol) symbol (name-access symbol)))))))

(defun name-access (symbol)
  "The access to SYMBOL, whatever object it belongs to."
  (let ((text (or (literal-text symbol) "nil")))
    (lambda (object) (declare (ignore object)) text)))
