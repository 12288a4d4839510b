;;;; Whose a thread is that stands in Swank's debugger: the connection that it is told to, in what can be known of it.

(in-package #:@module@)

(defvar *connection-numbers* (make-hash-table :test 'eq :weakness :key :synchronized t))
(defvar *last-connection* (list 0))

(defun connection-number (connection)
  "A number by which CONNECTION can be told from others, the same for as long as it is there."
  (sb-ext:with-locked-hash-table (*connection-numbers*)
    (or (gethash connection *connection-numbers*)
        (setf (gethash connection *connection-numbers*) (1+ (sb-ext:atomic-incf (car *last-connection*)))))))

(defun number-connections ()
  "Number the others, the oldest first, as far as their order in Swank's list tells."
  (mapc #'connection-number (reverse (remove swank::*emacs-connection* swank::*connections*))))

(defun runtime-sessions ()
  "The sessions of every version of the runtime, each by connection."
  (loop for package in (list-all-packages)
        for table = (and (eql 0 (search "SWANK-CLIENT/EVALUATE/" (package-name package)))
                         (find-symbol "*SESSIONS*" package))
        when (and table (boundp table)) collect (symbol-value table)))

(defun runs-runtime-p (connection)
  "True of programs that use this library, of whatever version."
  (some (lambda (sessions) (gethash connection sessions)) (runtime-sessions)))

(defun connection-kind (connection)
  (cond ((not (member connection swank::*connections*)) :gone)
        ((runs-runtime-p connection) :swank-client)
        ;; with the REPL's streams; of those who let a person type, Emacs is the usual one
        ((has-repl-p connection) :repl)
        (t :other)))

(defun owner-plist (connection)
  (list :kind (connection-kind connection) :connection (connection-number connection)))
