;;;; Redefinitions, kept for the client instead of reported as warnings, with the code that still uses a redefined macro or inline function.

(in-package #:swank-client/evaluate)

(defconstant +redefinitions-limit+ 2000 "Most redefinitions kept between two outcomes of an evaluation.")

(defconstant +named-limit+ 50 "Most redefinitions by one file that are named, and most users of one macro.")

(defconstant +searches-limit+ 10 "Most searches for users in one evaluation. Each takes up to 0.1 s.")

;;; Names

(defun redefined-name (condition)
  "The name of the definition that CONDITION reports as redefined."
  (if (typep condition 'redefinition-with-defmethod)
      `(method ,(redefinition-warning-name condition)
               ,@(redefinition-with-defmethod-qualifiers condition)
               ,(mapcar #'specializer-name (redefinition-with-defmethod-specializers condition)))
      (redefinition-warning-name condition)))

(defun user-name (name)
  "NAME, of a function that uses a macro, as a definition names it."
  (if (and (consp name) (member (first name) *method-function-names*))
      (cons 'method (rest name))
      name))

(defun definition-name-text (name)
  "NAME as text, as code in the current package writes it."
  (line-text-in-time name 300))

;;; Files

(defun source-of-function (function)
  "The source file of FUNCTION, as a namestring."
  (debug-source-namestring
   (debug-info-source (sb-kernel:%code-debug-info (sb-kernel:fun-code-header (sb-kernel:%fun-fun function))))))

(defun source-file (condition)
  "The source file of the new definition that CONDITION reports, as a namestring, or NIL if no file is loaded or compiled."
  (let ((file (or *load-truename* *compile-file-truename*)))
    (when file
      ;; a condition may lack either
      (or (ignore-errors (sb-c:definition-source-location-namestring (redefinition-warning-new-location condition)))
          (ignore-errors (source-of-function (function-redefinition-warning-new-function condition)))
          (sb-ext:native-namestring file)))))

;;; Users of macros and inline functions

(defun function-now (name)
  "The function that NAME, as a cross reference gives it, denotes now, or NIL."
  (ignore-errors
   (if (and (consp name) (member (first name) *method-function-names*))
       (let ((name (rest name)))
         (find name (methods-of (first name)) :test #'equal :key (lambda (method) (method-name (first name) method))))
       (or (and (symbolp name) (macro-function name)) (fdefinition name)))))

(defun compiled-inline (name)
  "The names of functions that were compiled with the inline function NAME."
  (let* ((function (fdefinition name))
         (callers (with-walk-of-code (sb-introspect:find-function-callers function))))
    (loop for (user) in (sb-introspect:who-calls name)
          unless (or (equal user name) (member (function-now user) callers)) collect user)))

(defun compiled-users (name kind)
  "((USER . FUNCTION) ...): the functions that were compiled with NAME, a :MACRO or an inline :FUNCTION."
  (loop for user in (delete-duplicates (cond ((eq kind :macro) (mapcar #'first (sb-introspect:who-macroexpands name)))
                                             ((and (eq kind :function) (inline-p name)) (compiled-inline name)))
                                       :test #'equal)
        collect (cons user (function-now user))))

(defun users-of-old (condition)
  "((USER . FUNCTION) ...): the functions that were compiled with the macro or inline function that CONDITION reports as redefined."
  (compiled-users (redefinition-warning-name condition)
                  (typecase condition
                    (redefinition-with-defmacro :macro)
                    (redefinition-with-defun :function))))

(defun note-users (evaluation condition)
  "Note the functions that use the old definition of what CONDITION reports, so that those that still do can be reported later."
  (when (< (length (evaluation-stale-users evaluation)) +searches-limit+)
    (let* ((name (redefinition-warning-name condition))
           (users (users-of-old condition))
           (known (assoc name (evaluation-stale-users evaluation) :test #'equal)))
      (cond (known (setf (cdr known) (union (cdr known) users :test #'equal)))
            (users (push (cons name users) (evaluation-stale-users evaluation)))))))

(defun stale-users (users)
  "The names of those USERS, ((NAME . FUNCTION) ...), that have not been redefined since, as text."
  (sort (loop for (name . function) in users
              when (and function (eq function (function-now name)))
                collect (definition-name-text (user-name name)))
        #'string<))

;;; Keeping them

(defun loads-compiled-macro-p (evaluation condition file)
  "True if EVALUATION loads a macro of FILE after compiling FILE. The compiler has defined it already, and reported what it redefined."
  (and (typep condition 'redefinition-with-defmacro)
       (null *compile-file-truename*)
       (member file (evaluation-compiled-files evaluation) :key #'sb-ext:native-namestring :test #'equal)))

(defun keep-redefinition (evaluation condition)
  "Keep the redefinition that CONDITION reports, for the next outcome of EVALUATION."
  (let ((file (source-file condition)))
    (unless (loads-compiled-macro-p evaluation condition file)
      (when (< (evaluation-redefinition-count evaluation) +redefinitions-limit+)
        (push (list (ignore-errors (definition-name-text (redefined-name condition))) file)
              (evaluation-redefinitions evaluation)))
      (incf (evaluation-redefinition-count evaluation))))
  (ignore-errors (note-users evaluation condition)))

(defun first-distinct (names)
  "The first +NAMED-LIMIT+ of the different NAMES."
  (let ((names (remove-duplicates (remove nil names) :test #'equal :from-end t)))
    (subseq names 0 (min +named-limit+ (length names)))))

(defun by-file (redefinitions)
  "((FILE COUNT (NAME ...)) ...) of REDEFINITIONS, as KEEP-REDEFINITION keeps them. FILE is NIL for the forms of the evaluation itself."
  (loop for file in (remove-duplicates (mapcar #'second redefinitions) :test #'equal :from-end t)
        for some = (remove file redefinitions :key #'second :test-not #'equal)
        collect (list (and file (short-file-name file)) (length some) (first-distinct (mapcar #'first some)))))

(defun taken-redefinitions (evaluation)
  "Remove the redefinitions so far. => a plist of them by file, of their number, and of users of old definitions: ((NAME COUNT (USER ...)) ...)"
  (let ((users (reverse (shiftf (evaluation-stale-users evaluation) '()))))
    (list :redefinitions (by-file (reverse (shiftf (evaluation-redefinitions evaluation) '())))
          :redefinition-count (shiftf (evaluation-redefinition-count evaluation) 0)
          :stale (loop for (name . known) in users
                       for stale = (stale-users known)
                       when stale
                         collect (list (definition-name-text name) (length stale)
                                       (subseq stale 0 (min +named-limit+ (length stale))))))))
