;;;; Finds names by a part of them or a regular expression.

(in-package #:swank-client/questions)

;;; What a symbol names, without its sources.

(defun variable-kind (symbol)
  "The kind of variable that SYMBOL is, or NIL."
  (case (compiler-info :variable :kind symbol)
    (:constant :constant)
    ((:special :global :alien) :variable)
    (:macro :symbol-macro)
    (t (and (boundp symbol) :variable))))

(defun type-kind (symbol)
  "The kind of class or type that SYMBOL names, or NIL."
  (let ((class (find-class symbol nil)))
    (cond (class (class-kind class))
          ((eq (compiler-info :type :kind symbol) :defined) :type))))

(defun symbol-kinds (symbol)
  "The kinds of things that SYMBOL names, operators first."
  (remove nil (list (and (fboundp symbol) (function-kind symbol))
                    (or-nil (type-kind symbol))
                    (variable-kind symbol)
                    (and (compiler-info :setf :expander symbol) :setf-expander))))

(defun kinds-of (name)
  "The kinds of things that NAME, a symbol or (SETF SYMBOL), names."
  (if (symbolp name)
      (symbol-kinds name)
      (remove nil (list (and (fboundp name) (function-kind name))
                        (and (compiler-info :setf :expander (second name)) :setf-expander)))))

(defparameter *wider-kinds*
  '((:function :generic-function :special-operator) (:class :structure :condition :built-in-class) (:variable :constant))
  "Kinds, each with those that it includes when definitions are filtered.")

(defun of-kind-p (kinds wanted)
  "True if one of KINDS is WANTED or is included in it."
  (let ((included (or (assoc wanted *wider-kinds*) (list wanted))))
    (some (lambda (kind) (member kind included)) kinds)))

(defconstant +line-limit+ 200 "Characters shown of an arglist, and of the first line of documentation.")

(defstruct match
  "A symbol whose name matches, its status in its package, and what it names."
  symbol package status kinds)

(defun searched-packages ()
  "The packages that are searched if none is named."
  (remove-if (lambda (package) (or (runtime-package-p package) (string= "KEYWORD" (package-name package)))) (live-packages)))

(defun map-own-symbols (function package all)
  "Call FUNCTION with each symbol whose home is PACKAGE, or with each symbol present in it if ALL, and the symbol's status."
  (with-package-iterator (next (list package) :internal :external)
    (loop (multiple-value-bind (more symbol status) (next)
            (unless more (return))
            (when (or all (eq package (symbol-package symbol)))
              (funcall function symbol status))))))

(defun name-matches (search packages all)
  "The matches of SEARCH, a function of a text, in PACKAGES: their own symbols, or all that are present in them if ALL."
  (let ((matches '()))
    (dolist (package packages matches)
      (or-nil
       (map-own-symbols (lambda (symbol status)
                          (let ((name (coerce (symbol-name symbol) '(simple-array character (*)))))
                            (unless (search-time-left-p) (throw 'late-search nil))
                            (when (funcall search name 0 (length name))
                              (push (make-match :symbol symbol :package package :status status :kinds (or-nil (symbol-kinds symbol)))
                                    matches))))
                        package all)))))

(defun package-rank (package)
  "A number that is smaller the sooner the names of PACKAGE are listed."
  (cond ((eq package *package*) 0)
        ((eq package (find-package "COMMON-LISP")) 1)
        ((implementation-package-p package) 3)
        (t 2)))

(defun match-key (match)
  "A list by which matches are sorted: by package, exported names first."
  (list (package-rank (match-package match))
        (or (package-name (match-package match)) "")
        (if (eq (match-status match) :external) 0 1)
        (symbol-name (match-symbol match))))

(defun sorted-matches (matches)
  "MATCHES in the order in which they are listed."
  (mapcar #'rest (sort (mapcar (lambda (match) (cons (match-key match) match)) matches)
                       (lambda (one other) (nearer-p one other))
                       :key #'first)))

(defun first-line (text)
  "The first line of TEXT, cut, or NIL."
  (and text (shortened-line (string-trim " " (subseq text 0 (position #\Newline text))))))

(defun shortened-line (text)
  "TEXT, cut after +LINE-LIMIT+ characters."
  (if (> (length text) +line-limit+) (concatenate 'string (subseq text 0 +line-limit+) "...") text))

(defun documentation-line (symbol kinds)
  "The first line of the documentation of SYMBOL, which names things of KINDS."
  (loop for kind in kinds
        for text = (documentation-text symbol (case kind
                                                ((:variable :constant :symbol-macro) 'variable)
                                                ((:class :structure :condition :built-in-class :type) 'type)
                                                (:setf-expander 'setf)
                                                (t 'function)))
        when text return (first-line text)))

(defun match-entry (match)
  "(NAME PACKAGE STATUS (KIND ...) ARGLIST DOCUMENTATION) for MATCH."
  (let ((symbol (match-symbol match)) (kinds (match-kinds match)))
    (list (readable-name symbol) (package-name (match-package match)) (match-status match) kinds
          (let ((arglist (and (fboundp symbol) (or-nil (arglist-text symbol symbol)))))
            (and arglist (shortened-line arglist)))
          (or-nil (documentation-line symbol kinds)))))

(defun package-counts (matches)
  "((PACKAGE COUNT) ...) of MATCHES, in their order."
  (let ((counts '()))
    (dolist (match matches (nreverse counts))
      (let* ((name (package-name (match-package match)))
             (known (assoc name counts :test #'equal)))
        (if known (incf (second known)) (push (list name 1) counts))))))

(defun near-symbols (pattern packages)
  "The symbols of PACKAGES that name something and whose names differ from PATTERN by a slip."
  (let ((wanted (string-upcase pattern)) (found '()))
    (flet ((note (symbol status)
             (declare (ignore status))
             (let ((name (symbol-name symbol)))
               (when (and (<= (abs (- (length name) (length wanted))) 2)
                          (plusp (length name))
                          (char= (char name 0) (char wanted 0))
                          (slip-p wanted name)
                          (symbol-kinds symbol))
                 (push symbol found)))))
      (dolist (package packages found)
        (or-nil (map-own-symbols #'note package nil))))))

(defun near-names-of (pattern packages)
  "Names in PACKAGES that differ from PATTERN by a slip, the program's first."
  (when (> (length pattern) 2)
    (let ((found (sort (near-symbols pattern packages) #'<
                       :key (lambda (symbol) (package-rank (symbol-package symbol))))))
      (mapcar #'readable-name (subseq found 0 (min +suggestions+ (length found)))))))

(defun found-names (matches kind external limit nearest)
  "The reply of APROPOS-NAMES for MATCHES. NEAREST is a function that finds similar names."
  (let* ((defined (remove-if #'null matches :key #'match-kinds))
         (wanted (remove-if-not (lambda (match)
                                  (and (or (null kind) (of-kind-p (match-kinds match) kind))
                                       (or (not external) (eq (match-status match) :external))))
                                defined))
         (sorted (sorted-matches wanted)))
    (list :found
          (with-printing-time (mapcar #'match-entry (subseq sorted 0 (min limit (length sorted)))))
          (length sorted)
          (package-counts (nthcdr limit sorted))
          (- (length matches) (length defined))
          (- (length defined) (length wanted))
          (if matches '() (funcall nearest)))))

(defconstant +apropos-seconds+ 15 "Seconds that a search of names may take.")

(defun apropos-names (pattern regexp-p package-text kind external limit)
  "The symbols whose names contain PATTERN, in either case, or match it if REGEXP-P, in the package that PACKAGE-TEXT names or in all.
=> (:found (ENTRY ...) COUNT ((PACKAGE COUNT-LEFT-OUT) ...) UNDEFINED-COUNT FILTERED-COUNT (SIMILAR ...)) | (:bad-pattern REASON)
 | (:package-not-found NAME (PACKAGE ...) ODD-CHARACTER)"
  (with-code-session (nil)
    (let* ((package (and package-text (find-designated-package package-text)))
           (packages (if package (list package) (searched-packages))))
      (if (and package-text (null package))
          (package-not-found (parsed-package package-text))
          (with-searcher (search pattern regexp-p)
            (let ((matches (within-search-time (+apropos-seconds+)
                             (catch 'late-search (list (name-matches search packages (and package t)))))))
              (if matches
                  (found-names (first matches) kind external limit
                               (lambda () (or-nil (and (not regexp-p) (near-names-of pattern packages)))))
                  (list :bad-pattern (format nil "A search with it takes more than ~d s; a shorter one takes less" +apropos-seconds+)))))))))
