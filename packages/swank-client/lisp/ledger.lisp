;;;; What a session's own forms define: noted when a defining macro expands, whoever wrote that macro, and believed when the definition
;;;; that is there afterwards says that it came from that form.
;;;; No binding outlasts the evaluation, and a form that defines nothing leaves nothing behind.

(in-package #:@runtime@)

(defstruct ledger
  (lock (sb-thread:make-mutex :name "swank-client ledger"))
  ;; of this session's forms
  (origins (make-hash-table :test 'eq :weakness :key :synchronized t))
  ;; latest first, all of them
  (entries '() :type list)
  ;; what may have been defined since the last look; what was not there then
  (candidates '())
  (unproven '() :type list)
  ;; truenames of files, names of systems
  (loads '()))

(defstruct entry
  kind
  name
  origin
  ;; true if it took the place of something, and if that was not this session's
  (redefined nil)
  (foreign nil))

(defmethod print-object ((ledger ledger) stream)
  (print-unreadable-object (ledger stream :type t :identity t)))

(defconstant +unproven-limit+ 100)

;;; Noting

(defun make-origin (evaluation)
  (let ((origin (format nil "evaluation ~d" (evaluation-id evaluation))))
    (setf (gethash origin (ledger-origins (session-ledger (evaluation-session evaluation)))) t)
    origin))

(defun note-candidate (ledger kind name before)
  (sb-ext:atomic-push (list kind name before) (ledger-candidates ledger)))

(defun note-definition (evaluation form)
  (multiple-value-bind (kind name) (defined-thing form)
    (when (name-p kind name)
      (let ((ledger (session-ledger (evaluation-session evaluation))))
        (add-source-plist evaluation)
        (cond ((not (eq kind :method)) (note-candidate ledger kind name (current-definition kind name)))
              (t (unless (fboundp name) (note-candidate ledger :generic-function name nil))
                 (note-candidate ledger kind name (methods-of name))))))))

(defun note-load (evaluation name)
  (let ((ledger (session-ledger (evaluation-session evaluation))))
    (unless (or (eq name (first (ledger-loads ledger)))
                (member name (ledger-loads ledger) :test #'equal))
      (sb-ext:atomic-push name (ledger-loads ledger)))))

(defun note-macro-form (evaluation form)
  "Called for every macro form that EVALUATION expands; most define nothing."
  (cond ((or *load-truename* *compile-file-truename*)
         (drop-source-plist)
         (when *load-truename* (note-load evaluation *load-truename*)))
        ((and *form-source* (consp form) (defining-kind (first form)))
         ;; what is wrong with the form, its own expander tells best
         (ignore-errors (note-definition evaluation form)))))

(defun loaded-file (name)
  (let ((path (merge-pathnames name)))
    (or (probe-file path) (probe-file (merge-pathnames path "x.lisp")) (probe-file (merge-pathnames path "x.fasl")))))

(defun loading-operator-p (operator)
  (and (symbolp operator)
       (member operator '("REQUIRE" "LOAD-SYSTEM" "QUICKLOAD") :test #'string=)))

(defun note-loading-form (evaluation form)
  "Called after FORM was evaluated. Compiled files expand no macros, so only the form tells that they were loaded."
  (typecase form
    ((cons (eql load) (cons (or string pathname)))
     (note-load evaluation (loaded-file (second form))))
    ((cons (satisfies loading-operator-p) (cons (or string keyword (cons (eql quote)))))
     (let ((name (second form)))
       (note-load evaluation (string-downcase (if (consp name) (second name) name)))))))

(defun make-noting-hook (evaluation next)
  (lambda (expander form environment)
    ;; the expander is called last of all, so that no frame of ours stays on the stack
    (declare (optimize (debug 1)))
    (when (eq *evaluation* evaluation) (note-macro-form evaluation form))
    (if (eq next 'funcall)
        (funcall (the function expander) form environment)
        (funcall next expander form environment))))

(defun call-noting-definitions (evaluation function)
  "Call FUNCTION with a *MACROEXPAND-HOOK* that notes what is defined. One that the code itself sets stays set."
  (let* ((hook (make-noting-hook evaluation *macroexpand-hook*))
         (left hook))
    (unwind-protect
         (let ((*macroexpand-hook* hook))
           (unwind-protect (funcall function)
             (setf left *macroexpand-hook*)))
      (unless (eq left hook) (setf *macroexpand-hook* left)))))

;;; Looking what came of it

(defun own-origin-p (ledger origin)
  (values (gethash origin (ledger-origins ledger))))

(defun find-entry (ledger kind name)
  (find-if (lambda (entry) (and (member (entry-kind entry) (source-kinds kind)) (equal (entry-name entry) name)))
           (ledger-entries ledger)))

(defun enter (ledger kind name origin before)
  "BEFORE is the current definition of the time before the form was evaluated."
  (let ((known (find-entry ledger kind name))
        (foreign (and before (not (own-origin-p ledger (second before))))))
    (cond ((null known)
           (push (make-entry :kind kind :name name :origin origin :redefined (and before t) :foreign foreign)
                 (ledger-entries ledger)))
          ((not (eq origin (second before)))
           (setf (entry-kind known) kind
                 (entry-origin known) origin
                 (entry-redefined known) (and (or before (entry-redefined known)) t)
                 (entry-foreign known) (and before (or foreign (entry-foreign known))))))))

(defun believe-methods (ledger name before)
  "Enter the methods of NAME that are ours and were not there BEFORE. True if there are any."
  (loop for method in (reverse (methods-of name))
        for origin = (and (not (member method before))
                          (source-origin (sb-introspect:find-definition-source method)))
        for method-name = (and (own-origin-p ledger origin) (method-name name method))
        for replaced = (and method-name (find method-name before :test #'equal
                                                                 :key (lambda (method) (method-name name method))))
        when method-name
          do (enter ledger :method method-name origin
                    (and replaced (list :method (source-origin (sb-introspect:find-definition-source replaced)))))
          and count t into found
        finally (return (plusp found))))

(defun believe (ledger candidate)
  "Enter what CANDIDATE announced. False if it is not there."
  (destructuring-bind (kind name before) candidate
    (if (eq kind :method)
        (believe-methods ledger name before)
        (destructuring-bind (&optional now origin) (current-definition kind name)
          (when (own-origin-p ledger origin)
            (enter ledger now name origin before)
            t)))))

(defun take-candidates (ledger)
  "Oldest first."
  (loop for taken = (ledger-candidates ledger)
        until (eq taken (sb-ext:compare-and-swap (ledger-candidates ledger) taken '()))
        finally (return (reverse taken))))

(defun believable-p (ledger candidate)
  (ignore-errors (believe ledger candidate)))

(defun settle (ledger)
  "Enter what was defined since the last time."
  (when (ledger-candidates ledger)
    (sb-thread:with-mutex ((ledger-lock ledger))
      (dolist (candidate (take-candidates ledger))
        (unless (believable-p ledger candidate)
          ;; a definition inside a function comes when the function is called
          (pushnew candidate (ledger-unproven ledger) :test #'equal :key #'butlast)))
      (let ((rest (nthcdr (1- +unproven-limit+) (ledger-unproven ledger))))
        (when rest (setf (rest rest) '()))))))
