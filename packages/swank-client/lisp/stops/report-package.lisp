;;;; The package from which a report prints symbols: the one in which the client works, or the one that most of the shown functions belong to.

(in-package #:swank-client/stops)

(defconstant +many-frames+ 3 "A report is printed from another package if at least this many of its frames, and half of them, belong to that.")

(defconstant +counted-frames+ 20 "Frames that are counted: those that a report shows.")

(defun working-package ()
  "The package in which the client of this thread's code works; for code of no client, the current one."
  (let ((session (code-session)))
    (if (and session (not (and *evaluation* (not (evaluation-updates-package *evaluation*)))))
        (session-package-now session)
        *package*)))

(defun named-elsewhere (frame home)
  "The package of FRAME's function if code in HOME needs its name, else NIL."
  (let* ((symbol (name-symbol (called-name frame)))
         (package (and symbol (symbol-package symbol))))
    (and package
         (not (sb-ext:package-locked-p package))
         (not (eq symbol (accessible-symbol (symbol-name symbol) home)))
         package)))

(defun report-package (frames kinds)
  "The package from which to print a report of FRAMES, of KINDS, and true if it is another one than that in which the client works."
  (let* ((home (working-package))
         (shown (loop for frame in frames
                      for kind in kinds
                      when (eq kind :user) collect frame into users
                      until (= +counted-frames+ (length users))
                      finally (return users)))
         (packages (remove nil (mapcar (lambda (frame) (ignore-errors (named-elsewhere frame home))) shown)))
         ;; the result of REMOVE-DUPLICATES may share conses with its argument
         (most (first (sort (copy-list (remove-duplicates packages)) #'> :key (lambda (package) (count package packages)))))
         (count (count most packages)))
    (if (and most (>= count +many-frames+) (>= (* 2 count) (length shown)))
        (values most t)
        (values home nil))))

(defmacro with-report-package ((name frames kinds) &body body)
  "Run BODY, which prints a report of FRAMES, of KINDS, from its package. NAME is that package's name if the report must say so, else NIL."
  (let ((package (gensym "PACKAGE")) (other (gensym "OTHER")))
    `(multiple-value-bind (,package ,other) (report-package ,frames ,kinds)
       (let ((*package* ,package)
             (,name (and ,other (package-name ,package))))
         ,@body))))
